"""A forgotten page is gone from every file, and everything else stays."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from crawl.crawling import reach, run_crawl, segment_rows, sound, state_of, typed
from forget.forgetting import HOST, HOST_PHRASE, PHRASE, SECRET, crawl_again, places_of
from testweb import TestWeb


def forget(home: Path, name: str, *options: str) -> dict[str, object]:
    outcome = typed("forget", name, "--yes", "--json", "--home", home, *options)
    assert outcome.code == 0, outcome
    return outcome.json


def rest(home: Path) -> set[tuple[str, str]]:
    """The URL and text of all pages that stay."""
    rows = segment_rows(home, "pages")
    return {(row["url"], row["text"]) for row in rows if row["url"] != SECRET and row["host"] != HOST}


def test_the_collection_has_something_to_forget(home: Path) -> None:
    places = " ".join(places_of(home, SECRET, PHRASE))
    for part in (
        "crawl.db",
        "archive/",
        "segments/pages",
        "segments/links",
        "ranks/gen-1/",
        "index/gen-000001/",
        "qrels",
        "up.log",
        "standing/queries.db",
    ):
        assert part in places


@pytest.mark.slow
def test_nothing_of_a_forgotten_page_is_left_in_any_file(home: Path) -> None:
    before = rest(home)
    report = forget(home, SECRET)
    assert places_of(home, SECRET, PHRASE) == []
    assert rest(home) == before
    sound(home)
    assert report["removed"]["pages"] == 1  # type: ignore[index]
    assert typed("verify", "--forgotten", "--home", home).code == 0
    assert typed("verify", "--forgotten", str(report["receipt"]), "--home", home).code == 0


@pytest.mark.slow
def test_nothing_of_a_forgotten_host_is_left_in_any_file(home: Path) -> None:
    before = rest(home) | {(row["url"], row["text"]) for row in segment_rows(home, "pages") if row["url"] == SECRET}
    report = forget(home, HOST)
    assert places_of(home, HOST, HOST_PHRASE) == []
    assert {(row["url"], row["text"]) for row in segment_rows(home, "pages")} == before
    sound(home)
    assert report["removed"]["hosts"] == 1  # type: ignore[index]
    assert typed("verify", "--forgotten", "--home", home).code == 0


@pytest.mark.slow
def test_links_redirects_and_recrawls_do_not_bring_a_page_back(home: Path, private_web: TestWeb) -> None:
    forget(home, SECRET)
    forget(home, HOST)
    requests = len(private_web.log.entries())
    with sqlite3.connect(home / "crawl.db") as database:
        database.execute("UPDATE urls SET due = 0")  # everything is recrawled
    crawl_again(private_web, home)
    asked = {entry.url for entry in private_web.log.entries()[requests:]}
    assert "http://a.test/" in asked
    assert SECRET not in asked
    assert not [url for url in asked if HOST in url]
    for command in ("rank", "index"):
        assert typed(command, "--home", home).code == 0
    assert places_of(home, SECRET, PHRASE, HOST) == []
    assert state_of(home, "http://a.test/alias") == (2, "forgotten")
    sound(home)


@pytest.mark.slow
def test_a_blocked_seed_is_refused_until_the_block_is_lifted(home: Path, private_web: TestWeb) -> None:
    forget(home, SECRET)
    refused = typed("crawl", SECRET, "--home", home, *reach(private_web))
    assert (refused.code, "forget --allow" in refused.complaint) == (2, True)
    assert places_of(home, SECRET) == []
    assert typed("inspect", "url", SECRET, "--json", "--home", home).json["reason"] == "forgotten"
    assert typed("forget", "--allow", SECRET, "--home", home).code == 0
    run_crawl(private_web, home, SECRET)
    assert state_of(home, SECRET) == (1, "ok")
    assert typed("forget", "--allow", SECRET, "--home", home).code == 2
    sound(home)


@pytest.mark.slow
def test_rows_that_were_deleted_before_are_not_left_in_free_pages_nor_in_the_log(home: Path) -> None:
    with closing(sqlite3.connect(home / "crawl.db")) as database:
        database.execute("PRAGMA secure_delete = OFF").fetchone()
        with database:
            row = (1, SECRET, 0, "link", "", 0)
            database.execute(
                "INSERT INTO inbox (share, url, depth, reason, via, redirects) VALUES (?, ?, ?, ?, ?, ?)", row
            )
        with database:
            database.execute("DELETE FROM inbox")
    with closing(sqlite3.connect(home / "crawl.db")) as reader:  # while it is open, nobody removes the log
        assert reader.execute("SELECT count(*) FROM urls").fetchone()[0] > 1
        forget(home, SECRET)
        assert (home / "crawl.db-wal").exists()
        assert places_of(home, SECRET) == []
    sound(home)
