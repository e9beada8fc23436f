"""WARC and ARC files are imported."""

from __future__ import annotations

import lzma
import os
import re
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from crawl.crawling import periplus
from index.damage import zero_table
from periplus.archives.exporter import Selection, export_archive
from periplus.archives.importer import Imported, import_archives
from periplus.config import Scope, Settings
from periplus.errors import DamagedFile, UsageError
from periplus.inspector.url_report import url_history
from periplus.inspector.verify import verify
from periplus.model import Reason, UrlState
from periplus.store.archive.warc_files import read_response
from periplus.store.catalog.batch import Batch, Written
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import open_collection
from search.library import Doc, shelve
from shared_data import shared
from store.warcs import DATE, HEAD, MOMENT, arc, packed, page, warc


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def _import(home: Path, *contents: bytes, settings: Settings | None = None, ignore_scope: bool = False) -> Imported:
    files = []
    for number, content in enumerate(contents):
        files.append(home.parent / f"{number}.warc")
        files[-1].write_bytes(content)
    return import_archives(home, settings or Settings(), files, ignore_scope=ignore_scope)


def test_a_page_is_found_in_the_collection_as_it_was(home: Path) -> None:
    found = _import(home, packed(page("Muziris", "http://example.org/port")))
    assert (found.files, found.pages, found.broken, found.skipped) == (1, 1, 0, {})
    collection = open_collection(home)
    with closing(open_catalog(collection)) as catalog:
        row = catalog.url("http://example.org/port")
        (fetch,) = catalog.fetches_of("http://example.org/port")
    assert row is not None
    assert (row["state"], row["admitted"], row["via"]) == (UrlState.DONE, Reason.IMPORTED_IN_SCOPE, "0.warc")
    assert (fetch.at, fetch.status, fetch.mime) == (MOMENT, 200, "text/html")
    assert fetch.position is not None
    assert b"Muziris" in read_response(collection.archive, fetch.position).body
    assert not verify(collection).problems


def test_no_page_is_imported_twice(home: Path) -> None:
    content = packed(page("one"), page("two", "http://example.org/2"))
    assert _import(home, content).pages == 2
    again = _import(home, content + packed(page("three", "http://example.org/3")))
    assert (again.pages, again.skipped) == (1, {"known": 2})
    assert not verify(open_collection(home)).problems


def test_several_versions_of_a_page_are_kept(home: Path) -> None:
    later = page("new").replace(b"2024-05-17", b"2025-05-17")
    assert _import(home, page("old") + later).pages == 2
    with closing(open_catalog(open_collection(home))) as catalog:
        assert len(catalog.fetches_of("http://example.org/")) == 2
        assert catalog.counters()["known"] == 1
    assert not verify(open_collection(home)).problems


def test_redirects_are_kept(home: Path) -> None:
    moved = warc(b"HTTP/1.1 301 Moved\r\nLocation: /new\r\n\r\n", url="http://example.org/old")
    assert _import(home, moved + page("new", "http://example.org/new")).redirects == 1
    with closing(open_catalog(open_collection(home))) as catalog:
        assert [(url, target) for url, target, _ in catalog.redirects()] == [
            ("http://example.org/old", "http://example.org/new")
        ]
    assert not verify(open_collection(home)).problems


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (warc(b"HTTP/1.1 404 No\r\n\r\n"), "http_error"),
        (warc(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG"), "wrong_type"),
        (warc(b"HTTP/1.1 200 OK\r\n\r\n\0\0\0"), "wrong_type"),
        (warc(b"x", "WARC-Truncated: length", kind="resource", url="dns:example.org"), "not_web"),
        (warc(HEAD + b"\r\n", kind="revisit"), "revisit"),
    ],
)
def test_a_page_that_a_crawl_would_reject_is_skipped_for_the_same_reason(
    home: Path, record: bytes, reason: str
) -> None:
    found = _import(home, record + page("good"))
    assert (found.pages, found.skipped) == (1, {reason: 1})


@pytest.mark.parametrize(
    "record",
    [
        page("Muziris").replace(DATE.encode(), date)
        for date in (
            b"0000-01-01T00:00:00Z",
            b"10000-01-01T00:00:00Z",
            b"0001-01-01T00:00:00+05:00",  # in UTC that is year 0
            b"9999-12-31T23:59:59-05:00",  # and that year 10000
        )
    ]
    + [arc(HEAD + b"\r\n<p>Muziris", date="00000101000000")],
)
def test_a_page_with_a_date_outside_the_calendar_is_kept_under_the_date_of_its_file(home: Path, record: bytes) -> None:
    file = home.parent / "0.warc"
    file.write_bytes(record + page("good", "http://example.org/2"))
    os.utime(file, (MOMENT + 1, MOMENT + 1))
    found = import_archives(home, Settings(), [file])
    assert (found.pages, found.redated, found.broken, found.skipped) == (2, 1, 0, {})
    with closing(open_catalog(open_collection(home))) as catalog:
        assert [fetch.at for fetch in catalog.fetches_of("http://example.org/")] == [MOMENT + 1]
    assert not verify(open_collection(home)).problems
    again = import_archives(home, Settings(), [file])
    assert (again.pages, again.redated, again.skipped) == (0, 0, {"known": 2})


def test_pages_with_a_doubled_status_line_are_imported_and_can_be_read_again(home: Path) -> None:
    record = page("Muziris").replace(b"HTTP/1.1 200", b"HTTP/1.1 HTTP/1.1 200").replace(b"Length: ", b"Length: 9+")
    doubled = re.sub(rb"9\+(\d+)", lambda found: b"%d" % (int(found[1]) + 9), record)
    found = _import(home, doubled)
    assert (found.pages, found.broken) == (1, 0)
    collection = open_collection(home)
    with closing(open_catalog(collection)) as catalog:
        (fetch,) = catalog.fetches_of("http://example.org/")
    assert fetch.position is not None
    assert read_response(collection.archive, fetch.position).status == 200


def test_a_fallback_date_is_counted_and_shown_by_inspect_and_in_the_archive(home: Path) -> None:
    moved = warc(b"HTTP/1.1 301 Moved\r\nLocation: /new\r\n\r\n", url="http://example.org/old")
    records = (page("Muziris") + moved).replace(DATE.encode(), b"2008-10-294T05:21:46-0700")
    found = _import(home, records + page("good", "http://example.org/2"))
    assert (found.pages, found.redirects, found.redated, found.broken) == (2, 1, 2, 0)
    source = "day of the year in WARC-Date"
    collection = open_collection(home)
    with closing(open_catalog(collection)) as catalog:
        history = {
            path: url_history(catalog, Settings(), f"http://example.org/{path}")["fetches"][0]
            for path in ("", "old", "2")
        }
        (fetch,) = catalog.fetches_of("http://example.org/")
    assert history[""]["at"] == 1_224_505_306  # 20 October 2008, the day 294, 12:21:46 UTC
    assert history[""]["detail"] == f"fallback date: {source}"
    assert history["old"]["detail"] == f"http://example.org/new; fallback date: {source}"
    assert history["2"]["detail"] == ""
    assert fetch.position is not None
    assert read_response(collection.archive, fetch.position).headers["x-crawler-date-source"] == source
    assert not verify(collection).problems


def test_an_exported_page_keeps_the_mark_of_its_fallback_date(home: Path) -> None:
    _import(home, page("Muziris").replace(DATE.encode(), b"soon"))
    export_archive(open_collection(home), Settings(), Selection(), home.parent / "out.warc.gz")
    again = import_archives(home.parent / "second", Settings(), [home.parent / "out.warc.gz"])
    assert (again.pages, again.redated) == (1, 1)


def test_an_unsupported_compression_is_reported(home: Path) -> None:
    found = _import(home, b"\x04\x22\x4d\x18" + bytes(100), page("good"))
    assert (found.pages, found.broken, found.trouble[0]["position"]) == (1, 1, None)
    assert found.trouble[0]["why"] == "compressed with LZ4, which import cannot read: decompress the file first"


def _admitted(home: Path, url: str) -> str | None:
    with closing(open_catalog(open_collection(home))) as catalog:
        row = catalog.url(url)
    return None if row is None else str(row["admitted"])


SCOPE = Settings(scope=Scope(hosts=["(?!b[.]).*"], paths=["^/(?!private)"]))
MIXED = b"".join(
    page(f"page {number}", url)
    for number, url in enumerate(
        ["http://a.test/", "http://b.test/", "http://a.test/private", "http://a.test/x.zip", "http://b.test/y.zip"]
    )
)


def test_only_pages_in_the_scope_are_imported_and_others_are_counted_by_reason(home: Path) -> None:
    found = _import(home, MIXED, settings=SCOPE)
    assert (found.pages, found.skipped) == (1, {"scope_host": 2, "scope_path": 1, "extension": 1})
    assert _admitted(home, "http://a.test/") == Reason.IMPORTED_IN_SCOPE
    assert _admitted(home, "http://b.test/") is None
    assert not verify(open_collection(home)).problems


def test_seeds_and_private_addresses_do_not_narrow_an_import(home: Path) -> None:
    shelve(home, [Doc("http://seed.test/", "Seed")])
    with closing(open_catalog(open_collection(home))) as catalog:
        catalog.commit(Batch(seeds=["http://seed.test/"]), Written(0, "w00-000001.warc.gz", 0), 1, {})
    assert _import(home, page("one", "http://other.test/") + page("two", "http://127.0.0.1/")).pages == 2


def test_with_ignore_scope_everything_is_imported(home: Path) -> None:
    found = _import(home, MIXED, settings=SCOPE, ignore_scope=True)
    assert (found.pages, found.skipped) == (5, {})
    assert _admitted(home, "http://a.test/") == Reason.IMPORTED_IN_SCOPE
    assert _admitted(home, "http://b.test/") == Reason.IMPORTED
    assert not verify(open_collection(home)).problems


def test_a_known_page_that_is_imported_against_the_scope_is_marked_as_such(home: Path) -> None:
    shelve(home, [Doc("http://b.test/", "crawled", at=MOMENT)])
    found = _import(home, page("crawled", "http://b.test/"), settings=SCOPE, ignore_scope=True)
    assert (found.pages, found.skipped) == (0, {"known": 1})
    assert _admitted(home, "http://b.test/") == Reason.IMPORTED
    assert not verify(open_collection(home)).problems


def test_resource_records_are_pages(home: Path) -> None:
    text = warc(b"Words of a page", kind="conversion").replace(b"application/http; msgtype=response", b"text/plain")
    assert _import(home, text).pages == 1


def test_arc_files_are_imported(home: Path) -> None:
    assert _import(home, arc(HEAD + b"\r\n<p>from an ARC")).pages == 1


def test_broken_records_are_reported_and_the_rest_is_imported(home: Path) -> None:
    found = _import(home, page("one") + b"garbage\r\n" + page("two", "http://example.org/2"), b"not an archive")
    assert (found.pages, found.broken) == (2, 2)
    assert found.trouble[0] == {
        "file": str(home.parent / "0.warc"),
        "position": len(page("one")),
        "why": "no record starts here",
    }


def test_a_missing_file_does_not_stop_the_others(home: Path) -> None:
    good = home.parent / "good.warc"
    good.write_bytes(page("good"))
    found = import_archives(home, Settings(), [home.parent / "missing.warc", good])
    assert (found.pages, found.broken) == (1, 1)
    assert found.trouble[0]["why"] == "No such file or directory"


def test_an_import_without_files_is_an_error(home: Path) -> None:
    with pytest.raises(UsageError, match="nothing to import"):
        import_archives(home, Settings(), [])
    assert not home.exists()


def test_many_pages_are_acknowledged_in_batches(home: Path) -> None:
    records = [page(f"page {number}", f"http://example.org/{number}") for number in range(600)]
    assert _import(home, packed(*records)).pages == 600
    with closing(open_catalog(open_collection(home))) as catalog:
        assert catalog.counters()["done"] == 600
    assert not verify(open_collection(home)).problems


@pytest.mark.slow
def test_samples_of_other_programs_are_imported_ranked_indexed_and_found(home: Path, tmp_path: Path) -> None:
    with lzma.open(shared("warc/samples.tar.xz")) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        archive.extractall(tmp_path / "samples", filter="data")
    files = sorted(map(str, (tmp_path / "samples").rglob("*.*")))
    assert len(files) == 42
    imported = periplus("import", *files, "--json", "--home", home)
    assert imported.code == 3
    assert imported.json["pages"] >= 45
    for command in ("rank", "index"):
        assert periplus(command, "--home", home).code == 0
    results = periplus("search", "domain names", "--json", "--home", home).json["results"]
    assert any("iana.org" in result["url"] for result in results)
    assert periplus("verify", "--home", home).code == 0


def test_a_damaged_catalog_is_noticed_before_anything_is_written(home: Path) -> None:
    _import(home, packed(page("one")))
    zero_table(home / "crawl.db", "refusals")
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file() and path.suffix != ".lock"}
    with pytest.raises(DamagedFile, match=r"crawl\.db is damaged: .*Run `periplus repair`\."):
        _import(home, packed(page("two", "http://example.org/2")))
    assert {path: path.read_bytes() for path in before} == before
