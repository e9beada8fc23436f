"""`periplus repair`: everything can be rebuilt from the archive, and nothing intact is lost."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import catalog_of, run_crawl, segment_rows, sound, state_of, typed
from periplus.crawl.assignment import Budget
from periplus.model import UrlState
from periplus.store.collection import create_collection
from repair.damaged import SEEDS, archived, crawl_again, frontier, sql, urls, versions
from testweb import TestWeb


def repaired(home: Path) -> dict[str, Any]:
    outcome = typed("repair", "--json", "--home", home)
    assert outcome.code == 0, outcome.err
    assert outcome.json["left"] == []
    sound(home)
    return outcome.json


def damage_record(home: Path, url: str) -> Path:
    """Flip one bit in the archived response of a URL."""
    with catalog_of(home) as catalog:
        position = catalog.fetches_of(url)[-1].position
    assert position is not None
    path = home / "archive" / position.name
    data = bytearray(path.read_bytes())
    data[position.offset + position.length // 2] ^= 1
    path.write_bytes(data)
    return path


# -- nothing to do -------------------------------------------------------------------------------------------------


def test_a_healthy_collection_is_left_alone(home: Path) -> None:
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file() and path.suffix != ".lock"}
    for options in ([], ["--dry-run"]):
        outcome = typed("repair", *options, "--home", home)
        assert outcome.code == 0
        assert outcome.out.startswith("No damage found")
    assert {path: path.read_bytes() for path in before} == before


def test_a_rolled_back_index_is_left_alone_and_replaced_when_it_is_damaged(home: Path) -> None:
    assert typed("index", "--full", "--home", home).code == 0
    assert typed("index", "--rollback", "1", "--home", home).code == 0
    assert typed("repair", "--home", home).out.startswith("No damage found")
    assert (home / "index/CURRENT").read_text() == "gen-000001\n"
    (home / "index/gen-000001/heads.dat").write_bytes(b"")
    assert repaired(home)["actions"] == ["built the index, generation 3"]
    assert (home / "index/CURRENT").read_text() == "gen-000003\n"
    assert not (home / "index/gen-000001").exists()


def test_a_dry_run_says_what_would_be_done_and_does_nothing(home: Path) -> None:
    path = damage_record(home, "http://a.test/end")
    before = path.read_bytes()
    outcome = typed("repair", "--dry-run", "--home", home)
    assert outcome.code == 1
    assert f"archive/{path.name}" in outcome.out
    assert "replace damaged archive records by fillers" in outcome.out
    assert path.read_bytes() == before


def test_a_folder_without_a_collection_is_refused(tmp_path: Path) -> None:
    outcome = typed("repair", "--home", tmp_path)
    assert outcome.code == 1
    assert "holds no collection" in outcome.err


# -- the archive ---------------------------------------------------------------------------------------------------


def test_a_damaged_record_becomes_a_filler_and_its_page_is_fetched_again(damaged_web: TestWeb, home: Path) -> None:
    url = "http://a.test/end"
    path = damage_record(home, url)
    size, intact = path.stat().st_size, archived(home)
    report = repaired(home)
    assert report["lost_urls"] == [url]
    assert path.stat().st_size == size
    assert versions(home) == intact
    assert state_of(home, url)[0] == UrlState.QUEUED
    crawl_again(damaged_web, home)
    assert url in urls(home)


def test_no_page_is_the_duplicate_of_a_lost_one(home: Path) -> None:
    damage_record(home, "http://a.test/listed")
    repaired(home)
    assert not sql(home, "SELECT * FROM contents WHERE url_key NOT IN (SELECT url_key FROM fetches)")


def test_damaged_bytes_are_kept(home: Path) -> None:
    path = damage_record(home, "http://a.test/end")
    damaged = path.read_bytes()
    kept = repaired(home)["kept"]
    assert len(kept) == 1
    assert (home / kept[0]).read_bytes() in damaged


def test_a_bad_byte_in_a_record_that_is_in_no_segment_no_longer_blocks_the_crawl(
    damaged_web: TestWeb, home: Path
) -> None:
    """As after a kill: the last pages are acknowledged, but in no segment yet."""
    last = sql(home, "SELECT max(number) FROM segments")[0][0]
    (first,) = sql(home, "SELECT name FROM segments WHERE number = ? AND kind = 'pages'", last)
    row = next(row for row in segment_rows(home, "pages") if row["archive"])
    assert first
    sql(home, "DELETE FROM segments WHERE number = ?", last)
    sql(home, "UPDATE archives SET sealed = 0")
    damage_record(home, row["url"])
    outcome = typed("crawl", *SEEDS, "--home", home)
    assert outcome.code == 1
    assert "is damaged" in outcome.err
    repaired(home)
    crawl_again(damaged_web, home)
    sound(home)


@pytest.mark.parametrize("length", [0, 10, 5_000])
def test_a_truncated_archive_file_loses_only_what_was_cut_off(damaged_web: TestWeb, home: Path, length: int) -> None:
    path = max((home / "archive").glob("*.warc.gz"))
    path.write_bytes(path.read_bytes()[:length])
    intact = archived(home)
    repaired(home)
    assert versions(home) == intact
    crawl_again(damaged_web, home)
    sound(home)


def test_a_missing_archive_file_loses_only_its_own_pages(damaged_web: TestWeb, home: Path) -> None:
    before, pages = versions(home), urls(home)
    min((home / "archive").glob("*.warc.gz")).unlink()
    intact = archived(home)
    assert intact < before
    repaired(home)
    assert versions(home) == intact
    crawl_again(damaged_web, home)
    assert urls(home) == pages


# -- the catalog ---------------------------------------------------------------------------------------------------


def test_a_lost_catalog_is_rebuilt_from_the_archive_with_its_queues(home: Path) -> None:
    before, pages = frontier(home), versions(home)
    (home / "crawl.db").unlink()
    repaired(home)
    assert versions(home) == pages
    assert frontier(home) == before


def test_a_rebuilt_catalog_continues_the_crawl(damaged_web: TestWeb, tmp_path: Path) -> None:
    """Stopped after a few pages, then the catalog is lost: the rest is still fetched, without a new seed."""
    home = tmp_path / "home"
    run_crawl(damaged_web, home, SEEDS[1], budget=Budget(pages=5))
    (home / "crawl.db").unlink()
    repaired(home)
    run_crawl(damaged_web, home)
    assert len(versions(home)) == 30
    sound(home)


def test_a_damaged_catalog_page_loses_no_page_and_no_queued_url(home: Path) -> None:
    columns = "host_id, state, reason, depth, priority, due, admitted, via, redirects, attempts, first_seen, changed"
    queued = "host_id, 0, 'link', 3, 3.0, 0, 'link', '', 0, 0, 0, 0"
    sql(home, f"INSERT INTO urls (url, {columns}) SELECT 'http://a.test/new', {queued} FROM urls LIMIT 1")
    before, pages = frontier(home), versions(home)
    sql(home, "INSERT INTO blocked_hosts (host, since) VALUES ('ads.test', 1.0)")
    path = home / "crawl.db"
    data = bytearray(path.read_bytes())
    (root,) = sql(home, "SELECT rootpage FROM sqlite_master WHERE name = 'fetches_url'")[0]
    data[(int(str(root)) - 1) * 4096 + 1] ^= 0xFF  # the header of an index page
    path.write_bytes(data)
    report = repaired(home)
    assert "kept/crawl-damaged.db" in report["kept"]
    assert versions(home) == pages
    assert frontier(home) == before
    assert sql(home, "SELECT host FROM blocked_hosts") == [("ads.test",)]


def test_the_log_of_a_damaged_catalog_is_not_applied_to_the_new_one(home: Path) -> None:
    """A killed crawl leaves its write-ahead log beside the database."""
    pages = versions(home)
    database = sqlite3.connect(home / "crawl.db")
    database.execute("UPDATE urls SET depth = 77")
    database.commit()
    shutil.copy(home / "crawl.db-wal", home / "log")
    database.close()
    (home / "log").rename(home / "crawl.db-wal")
    (home / "crawl.db").write_bytes(b"not a database")
    repaired(home)
    assert versions(home) == pages
    assert 77 not in {depth for _, depth in frontier(home).values()}


def test_wrong_counters_are_corrected_in_place(home: Path) -> None:
    sql(home, "UPDATE counters SET value = value + 7")
    sql(home, "DELETE FROM seen")
    report = repaired(home)
    assert report["kept"] == []


def test_a_row_that_disagrees_with_its_record_is_written_again(home: Path) -> None:
    before = versions(home)
    sql(home, "UPDATE fetches SET length = length + 1, status = 204 WHERE url = 'http://a.test/end'")
    repaired(home)
    assert versions(home) == before


# -- segments, ranks and index -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pages", "links"])
def test_a_damaged_segment_is_parsed_from_the_archive_again(home: Path, kind: str) -> None:
    before = versions(home)
    links = len(segment_rows(home, "links"))
    with catalog_of(home) as catalog:
        name = catalog.segments(kind)[0].name
    (home / "segments" / name).write_bytes(b"PAR1")
    repaired(home)
    assert versions(home) == before
    assert len(segment_rows(home, "links")) == links
    assert typed("index", "--home", home).code == 0


def test_a_lost_collection_json_is_written_again(home: Path) -> None:
    (home / "collection.json").unlink()
    repaired(home)
    assert json.loads((home / "collection.json").read_bytes())["format"] == 1


@pytest.mark.parametrize(
    "name", ["ranks/CURRENT", "index/CURRENT", "ranks/gen-1/ranks.npy", "index/gen-000001/meta.json"]
)
def test_damaged_ranks_and_index_are_built_again(home: Path, name: str) -> None:
    (home / name).write_bytes(b"?")
    repaired(home)
    assert typed("search", "end", "--home", home).code == 0


def test_a_fleet_is_not_repaired_from_one_node(tmp_path: Path) -> None:
    create_collection(tmp_path)
    (tmp_path / "periplus.toml").write_text('[fleet]\ndatabase = "postgresql://127.0.0.1:1/web"\n')
    outcome = typed("repair", "--home", tmp_path)
    assert outcome.code == 2
    assert "a fleet cannot be repaired from one node" in outcome.err
    assert "restore the backup of the database and the bucket" in outcome.err
