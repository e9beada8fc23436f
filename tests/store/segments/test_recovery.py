"""The next run recovers what a killed run left behind."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from crawl.crawling import catalog_of, periplus, run_crawl, segment_rows, settings_for, sound
from periplus.errors import DamagedFile
from periplus.model import Response
from periplus.parse.page import PageParser
from periplus.parse.reader import PageReader
from periplus.store.archive.warc_files import ArchiveWriter
from periplus.store.cleanup import remove_unacknowledged
from periplus.store.collection import open_collection
from periplus.store.segments.recovery import recover
from periplus.url import Canonicalizer
from testweb import Page, Site, TestWeb, mesh

SEED = "http://a.test/"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A finished crawl of pages of many kinds."""
    odd = {
        "/": Page(links=["/zipped", "/pieces", "/latin", "/text", "/moved", "/gone", "http://b.test/"], text="Hëllo"),
        "/zipped": Page("Zipped", "words " * 900, encoding="gzip", links=["/"]),
        "/pieces": Page("Pieces", chunked=True, head='<meta name="robots" content="noindex">'),
        "/latin": Page(body="<title>Caf\xe9</title>".encode("latin-1"), content_type="text/html; charset=latin-1"),
        "/text": Page(body="plain\nwords", content_type="text/plain"),
        "/moved": Page(redirect="/zipped"),
        "/gone": Page(status=410),
    }
    with TestWeb([Site("a.test", odd), mesh("b.test", 300)]) as web:
        run_crawl(web, tmp_path, SEED, "http://b.test/")
    return tmp_path


def unseal(home: Path, upto: int = 0) -> None:
    """As if the run had been killed before it sealed what lies past *upto* in the archive."""
    with sqlite3.connect(home / "crawl.db") as database:
        database.execute("DELETE FROM segments")
        database.execute("UPDATE archives SET sealed = ?", (upto,))
    database.close()
    shutil.rmtree(home / "segments")
    (home / "segments").mkdir()


def recovered(home: Path, **flags: object) -> int:
    reader = PageReader(PageParser(Canonicalizer(), links_per_page=1000))
    with catalog_of(home) as catalog:
        return recover(open_collection(home), catalog, settings_for(None, **flags).store, reader, 0)


def cleared(home: Path) -> None:
    with catalog_of(home) as catalog:
        remove_unacknowledged(open_collection(home), catalog)


def test_pages_that_no_segment_holds_are_parsed_again_from_the_archive(home: Path) -> None:
    pages, links = segment_rows(home, "pages"), segment_rows(home, "links")
    unseal(home)
    assert recovered(home) == 305
    assert segment_rows(home, "pages") == pages
    assert segment_rows(home, "links") == links
    sound(home)


def test_a_large_backlog_is_cut_into_segments_too(home: Path) -> None:
    unseal(home)
    assert recovered(home, store__segment_bytes=1024, store__segment_seconds=1e-6) == 305
    with catalog_of(home) as catalog:
        assert len(catalog.segments("pages")) == 2  # one for every 256 pages
    sound(home)


def test_what_is_in_order_is_not_touched(home: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (home / "segments").iterdir()}
    assert recovered(home) == 0
    assert {path: path.stat().st_mtime_ns for path in (home / "segments").iterdir()} == before


def test_half_written_segments_are_removed(home: Path) -> None:
    (home / "segments" / "pages-w00-000002.parquet.tmp").write_bytes(b"half")
    cleared(home)
    assert list((home / "segments").glob("*.tmp")) == []
    sound(home)


def test_unacknowledged_bytes_of_any_worker_are_cut_off(home: Path) -> None:
    archive = home / "archive"
    before = {path.name: path.read_bytes() for path in archive.iterdir()}
    with (archive / "w00-000001.warc.gz").open("ab") as file:
        file.write(b"half a record")
    for begun in ("w00-000002", "w01-000001", "w01-000002"):
        (archive / f"{begun}.warc.gz").write_bytes(b"of a run that was killed before its first commit")
    cleared(home)
    assert {path.name: path.read_bytes() for path in archive.iterdir()} == before
    sound(home)


def test_files_that_no_kill_can_leave_are_not_touched(home: Path) -> None:
    strangers = {home / "archive" / name for name in ("w00-000004.warc.gz", "w03-000003.warc.gz", "imported.warc.gz")}
    for stranger in strangers:
        stranger.write_bytes(b"pages that an older catalog does not know")
    cleared(home)
    assert all(stranger.exists() for stranger in strangers)


def test_a_segment_that_was_finished_but_never_listed_is_written_anew(home: Path) -> None:
    unseal(home)
    (home / "segments" / "pages-w00-000001.parquet").write_bytes(b"of a run that was killed before it was listed")
    assert recovered(home) == 305
    sound(home)


def test_a_damaged_page_is_named_and_nothing_is_skipped_silently(home: Path) -> None:
    unseal(home)
    with catalog_of(home) as catalog:
        (file,) = catalog.archives()
        position = [fetch.position for fetch in catalog.fetches_in(file.archive_id)][100]
    assert position is not None
    path = home / "archive" / file.name
    data = bytearray(path.read_bytes())
    data[position.offset : position.offset + position.length] = bytes(position.length)
    path.write_bytes(data)
    with pytest.raises(DamagedFile, match=f"no readable response at offset {position.offset}"):
        recovered(home)


def test_the_next_crawl_recovers_by_itself(home: Path) -> None:
    unseal(home)
    with TestWeb([mesh("b.test", 300)]) as web:
        result = run_crawl(web, home)
        assert web.log.entries() == []
    assert result.summary["fetched"] == 0
    assert len(segment_rows(home, "pages")) == 305
    sound(home)


# -- a catalog that is older than the archive -----------------------------------------------------------------------


def crawled_further(home: Path, moments: list[float]) -> dict[str, bytes]:
    """Pages that a newer catalog has acknowledged, fetched at these moments; returns the archive before and after."""
    path = home / "archive" / "w00-000001.warc.gz"
    before = path.read_bytes()
    writer = ArchiveWriter(path.parent, path.name, len(before))
    for number, moment in enumerate(moments):
        writer.append(Response(f"http://a.test/new/{number}", moment, 200, b"HTTP/1.1 200 OK\r\n", body=b"<p>new"))
    writer.sync(writer.cut())
    writer.close()
    return {"before": before, "after": path.read_bytes()}


def test_pages_that_only_a_newer_catalog_knows_are_kept(home: Path) -> None:
    bytes_ = crawled_further(home, [1e9, 1e9 + 30, 1e9 + 90])
    with catalog_of(home) as catalog:
        (kept,) = remove_unacknowledged(open_collection(home), catalog)
    assert kept.parent == home / "kept"
    assert (home / "archive" / "w00-000001.warc.gz").read_bytes() == bytes_["before"]
    assert bytes_["before"] + kept.read_bytes() == bytes_["after"]
    sound(home)
    outcome = periplus("import", kept, "--home", home, "--json")
    assert outcome.json["pages"] == 3


def test_what_one_batch_may_hold_is_cut_off(home: Path) -> None:
    bytes_ = crawled_further(home, [1e9, 1e9 + 30])
    cleared(home)
    assert (home / "archive" / "w00-000001.warc.gz").read_bytes() == bytes_["before"]
    assert not (home / "kept").exists()


def test_whole_files_that_only_a_newer_catalog_knows_are_kept(home: Path) -> None:
    source = home / "archive" / "w00-000001.warc.gz"
    crawled_further(home, [1e9, 1e9 + 90])
    whole = source.read_bytes()
    for name in ("w00-000002", "w00-000007"):
        (home / "archive" / f"{name}.warc.gz").write_bytes(whole)
    with catalog_of(home) as catalog:
        kept = remove_unacknowledged(open_collection(home), catalog)
    assert [path.name for path in kept] == [
        f"w00-000001-from-{source.stat().st_size}.warc.gz",
        "w00-000002-from-0.warc.gz",
        "w00-000007-from-0.warc.gz",
    ]
    assert kept[2].read_bytes() == whole
    assert [path.name for path in (home / "archive").iterdir()] == [source.name]
    sound(home)


def test_a_crawl_with_an_older_catalog_says_what_it_kept(home: Path) -> None:
    crawled_further(home, [1e9, 1e9 + 90])
    outcome = periplus("crawl", "--home", home, "--json")
    assert "crawl.db is older than the archive" in outcome.err
    assert f"kept{os.sep}w00-000001-from-" in outcome.err
