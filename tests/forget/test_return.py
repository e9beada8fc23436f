"""What was forgotten does not come back: not by an import, a repair, or restored files."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from crawl.crawling import catalog_of, run_crawl, settings_for, sound, state_of, typed
from forget.forgetting import HOST, PHRASE, SECRET, places_of
from periplus.model import Decision, Fetch, QueuedUrl, Reason, UrlState, Verdict
from periplus.repair import repair
from periplus.store.archive.warc_files import ArchiveWriter, read_response
from periplus.store.catalog.batch import Batch, Settled, Written
from periplus.store.catalog.catalog import Catalog
from testweb import Page, Site, TestWeb

pytestmark = pytest.mark.slow


def forget(home: Path, name: str) -> None:
    outcome = typed("forget", name, "--yes", "--home", home)
    assert outcome.code == 0, outcome


def is_clean(home: Path) -> bool:
    outcome = typed("verify", "--forgotten", "--home", home)
    assert not outcome.err, outcome.out
    return outcome.code == 0


def copy_of(home: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(home, tmp_path / "backup"))


def test_an_import_skips_it_whatever_the_scope(home: Path, tmp_path: Path) -> None:
    exported = tmp_path / "pages.warc.gz"
    assert typed("export", exported, "--home", home).code == 0
    forget(home, SECRET)
    forget(home, HOST)
    outcome = typed("import", exported, "--ignore-scope", "--json", "--home", home)
    assert outcome.json["skipped"]["forgotten"] >= 4
    assert is_clean(home)
    sound(home)


def test_a_lost_catalog_is_rebuilt_without_it(home: Path) -> None:
    forget(home, SECRET)
    (home / "crawl.db").unlink()
    assert repair(home, settings_for(None)).left == []
    assert places_of(home, SECRET, PHRASE) == []
    assert is_clean(home)
    sound(home)


def test_a_restored_archive_without_its_catalog_is_repaired_without_it(home: Path, tmp_path: Path) -> None:
    backup = copy_of(home, tmp_path)
    forget(home, SECRET)
    shutil.copytree(backup / "archive", home / "archive", dirs_exist_ok=True)
    (home / "crawl.db").unlink()
    assert typed("verify", "--home", home).code != 0
    assert repair(home, settings_for(None)).left == []
    assert state_of(home, "http://a.test/alias") == (2, "forgotten")
    with catalog_of(home) as catalog:
        assert catalog.url(SECRET) is None
    sound(home)


def test_restored_files_are_found_and_removed_again(home: Path, private_web: TestWeb, tmp_path: Path) -> None:
    backup = copy_of(home, tmp_path)
    forget(home, SECRET)
    for name in ("archive", "segments"):
        shutil.rmtree(home / name)
        shutil.copytree(backup / name, home / name)
    shutil.copyfile(backup / "crawl.db", home / "crawl.db")
    sound(home)
    outcome = typed("verify", "--forgotten", "--home", home)
    assert (outcome.code, "forget --again" in outcome.complaint) == (1, True)
    run_crawl(private_web, home, "http://a.test/")  # neither fetched nor indexed meanwhile
    assert typed("index", "--home", home).code == 0
    assert SECRET not in typed("search", "pamphlet", "--json", "--home", home).out
    assert typed("forget", "--again", "--yes", "--home", home).code == 0
    assert places_of(home, SECRET, PHRASE) == []
    assert is_clean(home)
    sound(home)


def test_a_damaged_block_list_is_no_empty_one(home: Path, private_web: TestWeb) -> None:
    forget(home, SECRET)
    path = home / "forgotten" / "blocked.json"
    path.write_bytes(path.read_bytes().replace(b"url", b"urx"))
    for command in (("crawl", "http://a.test/"), ("index",), ("verify", "--forgotten")):
        outcome = typed(*command, "--home", home)
        assert (outcome.code, "blocked.json is damaged" in outcome.err) == (1, True)


def test_a_body_that_others_refer_to_stays(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with TestWeb([Site("a.test", {"/": Page("A", "The shared text.", links=["/b"]), "/b": Page("B")})]) as web:
        run_crawl(web, home, "http://a.test/")
    url, other = "http://a.test/", "http://a.test/other"
    with catalog_of(home) as catalog:
        earlier = catalog.version_of(url)
        assert earlier is not None
        _add_revisit(home, catalog, earlier, other)
    report = typed("forget", url, "--yes", "--json", "--home", home).json
    assert (report["kept_bodies"], "archive_records" in report["removed"]) == (1, False)
    sound(home)
    assert is_clean(home)
    forget(home, other)
    assert typed("forget", "--again", "--yes", "--home", home).code == 0
    assert places_of(home, f'"{url}"', "The shared text") == []
    sound(home)


def _add_revisit(home: Path, catalog: Catalog, earlier: Fetch, url: str) -> None:
    """A record of another URL that refers to the body of *earlier*, as other programs write them."""
    assert earlier.position is not None
    response = replace(read_response(home / "archive", earlier.position), url=url)
    writer = ArchiveWriter.resume(home / "archive", 0, catalog.archives(0))
    archived = writer.append(response, earlier)
    writer.sync(pending := writer.cut())
    writer.close()
    assert archived.is_revisit
    decision = Decision(Verdict.FETCHED, Reason.SAME_CONTENT)
    fetch = Fetch.of(response, decision, archived.position, archived.content_id)
    item = QueuedUrl(url, "a.test", 1, 1.0, Reason.LINK, "")
    batch = Batch(admitted=[item], settled=[Settled(item, UrlState.DONE, decision, fetch)])
    catalog.commit(batch, Written(0, writer.name, pending.size), 1, {})
