"""What the command says, asks and leaves alone."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Timer

import pytest

from crawl.crawling import catalog_of, run_crawl, settings_for, sound, state_of, typed
from forget.forgetting import HOST, PHRASE, SECRET, places_of
from periplus.errors import DiskFull
from periplus.forget import forget, generations
from periplus.search.reload import ReloadingEngine
from periplus.search.suggest.query_log import QueryLog
from periplus.store.collection import open_collection
from store.small_disk import fill, small_disk
from testweb import Page, Site, TestWeb


def test_a_dry_run_counts_and_changes_nothing(home: Path) -> None:
    before = {
        path: path.read_bytes() for path in home.rglob("*") if path.is_file() and not path.name.startswith("crawl")
    }
    report = typed("forget", SECRET, "--dry-run", "--json", "--home", home).json
    assert report["removed"]["pages"] == 1
    assert report["removed"]["archive_records"] >= 3  # two versions or visits, and a redirect
    assert before == {path: path.read_bytes() for path in before}
    assert state_of(home, SECRET) == (1, "same_content")
    assert "would be removed" in typed("forget", SECRET, "--dry-run", "--home", home).out
    sound(home)


def test_it_asks_first(home: Path) -> None:
    outcome = typed("forget", SECRET, "--home", home)
    assert (outcome.code, "--yes" in outcome.complaint) == (2, True)
    assert state_of(home, SECRET) == (1, "same_content")


def test_it_says_that_a_crawl_is_running(home: Path) -> None:
    with open_collection(home).locked():
        outcome = typed("forget", SECRET, "--yes", "--home", home)
    assert (outcome.code, "is in use" in outcome.complaint) == (1, True)
    assert not (home / "forgotten").exists()


def test_it_names_settings_that_still_have_the_url(home: Path) -> None:
    (home / "periplus.toml").write_text(f'[scope]\nseeds = ["{SECRET}", "http://a.test/"]\n')
    assert typed("forget", SECRET, "--dry-run", "--json", "--home", home).json["in_settings"] == [SECRET]


def test_an_unknown_url_is_blocked_without_any_work(home: Path) -> None:
    report = typed("forget", "http://a.test/nobody-knows-it", "--yes", "--json", "--home", home).json
    assert (report["removed"], report["generations"]) == ({}, {})
    assert (
        typed("inspect", "url", "http://a.test/nobody-knows-it", "--json", "--home", home).json["reason"] == "forgotten"
    )


@pytest.mark.slow
def test_receipt_and_block_list_hold_no_names(home: Path) -> None:
    report = typed("forget", HOST, "--yes", "--json", "--home", home).json
    for path in (home / "forgotten").iterdir():
        assert HOST not in path.read_text()
    receipt = json.loads(Path(report["receipt"]).read_text())
    assert (receipt["kind"], receipt["hash"], receipt["removed"]) == ("host", report["hash"], report["removed"])
    assert receipt["generations"] == {"ranks": 3, "index": 3}
    assert typed("verify", "--forgotten", report["receipt"], "--home", home).code == 0
    assert typed("forget", "--allow", HOST, "--home", home).code == 0
    outcome = typed("verify", "--forgotten", report["receipt"], "--home", home)
    assert (outcome.code, "not blocked any more" in outcome.complaint) == (1, True)
    outcome = typed("verify", "--forgotten", home / "periplus.toml", "--home", home)
    assert (outcome.code, "is no receipt" in outcome.complaint) == (2, True)


@pytest.mark.slow
def test_the_host_of_a_forgotten_seed_stays_in_the_scope(home: Path, private_web: TestWeb) -> None:
    assert typed("forget", "http://a.test/", "--yes", "--home", home).code == 0
    with catalog_of(home) as catalog:
        assert [seed for seed in catalog.seeds() if seed.startswith("http://a.test/")]
    assert typed("inspect", "url", "http://a.test/new", "--json", "--home", home).json["reason"] == "never_met"
    sound(home)


@pytest.mark.slow
def test_pages_with_the_same_content_are_named_and_stay(tmp_path: Path) -> None:
    home = tmp_path / "home"
    twin = Page("Twin", "The very same words.")
    with TestWeb([Site("a.test", {"/": Page("Home", links=["/x", "/y"]), "/x": twin, "/y": twin})]) as web:
        run_crawl(web, home, "http://a.test/")
        report = typed("forget", "http://a.test/x", "--yes", "--json", "--home", home).json
        assert report["same_content_urls"] == ["http://a.test/y"]
        assert state_of(home, "http://a.test/y") == (1, "ok")
        run_crawl(web, home, "http://a.test/")
    with catalog_of(home) as catalog:
        assert catalog.copy("http://a.test/y") is None
    sound(home)


@pytest.mark.slow
def test_the_last_page_can_go_too(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with TestWeb([Site("a.test", {"/": Page("Alone", PHRASE)})]) as web:
        run_crawl(web, home, "http://a.test/")
    for command in ("rank", "index"):
        assert typed(command, "--home", home).code == 0
    assert typed("forget", "a.test", "--yes", "--home", home).code == 0
    assert places_of(home, "a.test", PHRASE) == []
    sound(home)


@pytest.mark.slow
def test_a_running_site_switches_and_its_caches_are_cleared(home: Path) -> None:
    collection, settings = open_collection(home), settings_for(None)
    log = QueryLog(collection.query_log)
    for query in (PHRASE, "other"):
        log.add(query)
    log.close()
    with closing(ReloadingEngine(collection, settings, check_seconds=0.1)) as engine:
        assert [hit.url for hit in engine.search(PHRASE).hits if hit.url == SECRET]
        assert "cache/results.db" in " ".join(places_of(home, SECRET))
        forget(home, settings, SECRET)
        assert SECRET not in [hit.url for hit in engine.search(PHRASE).hits]
        assert engine.complete("quetzal") == []
    with closing(sqlite3.connect(collection.query_log)) as database:
        assert database.execute("SELECT query FROM queries").fetchall() == [("other",)]
    assert [place for place in places_of(home, SECRET, PHRASE) if "results.db" not in place] == []
    assert places_of(home, SECRET) == []
    sound(home)


@pytest.mark.slow
def test_a_generation_that_is_being_read_is_waited_for(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_for(None)
    with closing(ReloadingEngine(open_collection(home), settings, check_seconds=3600)) as engine:
        monkeypatch.setattr(generations, "_PATIENCE", 0.5)
        outcome = typed("forget", SECRET, "--yes", "--json", "--home", home)
        assert (outcome.code, "is still reading gen-" in outcome.complaint) == (1, True)
        monkeypatch.setattr(generations, "_PATIENCE", 60.0)
        timer = Timer(1.0, engine.reload)
        timer.start()
        assert typed("forget", SECRET, "--yes", "--home", home).code == 0
        timer.join()
    assert typed("verify", "--forgotten", "--home", home).code == 0
    sound(home)


@pytest.mark.slow
def test_a_full_disk_is_reported_and_the_same_command_continues(home: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "small", "24M") as folder:
        copy = Path(shutil.copytree(home, folder / "home"))
        ballast = fill(folder, 60_000)
        with pytest.raises(DiskFull, match=r"no space left|no disk space"):
            forget(copy, settings_for(None), SECRET)
        ballast.unlink()
        forget(copy, settings_for(None), SECRET)
        assert places_of(copy, SECRET, PHRASE) == []
        sound(copy)
