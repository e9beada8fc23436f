"""Does a crawl begin at its seeds, continue where it stopped, and report its result?"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import catalog_of, run_crawl, segment_rows, settings_for, sound, state_of
from index.damage import zero_table
from periplus.crawl import run
from periplus.crawl.assignment import Budget, Ending
from periplus.crawl.run import Progress, Request, crawl
from periplus.errors import (
    BadUrl,
    CollectionLocked,
    DamagedFile,
    DatabaseUnavailable,
    NewerFormat,
    NoCollection,
    UsageError,
)
from periplus.model import UrlState
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection, open_collection
from testweb import Page, Site, TestWeb, calendar, many_hosts, mesh, session_maze

SEED = "http://a.test/"
NAME_TOO_LONG = f"http://{'a' * 64}.test/"  # no resolver has to be asked to know that there is no such name


@pytest.fixture
def web() -> Iterator[TestWeb]:
    with TestWeb([mesh("a.test", 12)]) as running:
        yield running


# -- a whole crawl ----------------------------------------------------------------------------------------------------


def test_every_page_is_fetched_exactly_once(tmp_path: Path) -> None:
    sites = many_hosts(12, 25)
    with TestWeb(sites) as web:
        result = run_crawl(web, tmp_path, "http://h0001.test/", scope__hosts=[".*"])
        assert web.log.fetched() == {url: 1 for site in sites for url in site.urls()}
    figures = result.summary
    assert (result.ending, result.failure) == (Ending.DONE, None)
    assert (figures["fetched"], figures["html"], figures["known_urls"], figures["queued"]) == (300, 300, 300, 0)
    assert (figures["errors"], figures["refused"]) == ({}, {})
    assert sound(tmp_path).checked == {"records": 300, "segments": 2, "pages": 300, "urls": 300}


def test_pages_and_links_are_in_the_segments(web: TestWeb, tmp_path: Path) -> None:
    run_crawl(web, tmp_path, SEED)
    pages, links = segment_rows(tmp_path, "pages"), segment_rows(tmp_path, "links")
    described = {f"http://a.test{path}": page for path, page in web.site("a.test").pages.items()}
    assert {row["url"]: row["title"] for row in pages} == {url: page.title for url, page in described.items()}
    by_id = {row["url_id"]: row["url"] for row in pages}
    found = Counter((by_id[row["source_id"]], row["target"], row["anchor"]) for row in links)
    expected = [(url, link) for url, page in described.items() for link in page.links]
    assert found == Counter((url, f"http://a.test{link[0]}", link[1]) for url, link in expected)


def test_the_summary_says_where_the_time_went(tmp_path: Path) -> None:
    slow = Site("a.test", {"/": Page(delay=0.2, links=["/2"]), "/2": Page()}, robots=Page(delay=0.1))
    with TestWeb([slow]) as web:
        began = time.monotonic()
        figures = run_crawl(web, tmp_path, SEED, politeness__delay=0.3).summary
        whole = time.monotonic() - began
    timing = figures["timing"]
    assert list(timing) == ["idle", "robots", "delay", "connect", "fetch", "parse", "store"]
    assert timing["robots"] >= 0.1
    assert timing["fetch"] >= 0.2
    assert timing["delay"] == pytest.approx(0.6, abs=0.01)  # before each page; before robots.txt nothing was asked
    assert 0.5 <= timing["idle"] <= figures["seconds"]  # there is no other host to fetch from meanwhile
    assert sum(timing[step] for step in ("idle", "robots", "connect", "fetch")) <= whole
    assert min(timing["parse"], timing["store"]) > 0


def test_the_same_command_again_recrawls_its_seed_and_nothing_else(web: TestWeb, tmp_path: Path) -> None:
    run_crawl(web, tmp_path, SEED)
    web.log.clear()
    again = run_crawl(web, tmp_path, SEED)
    assert web.log.paths("a.test") == ["/"]
    assert (again.failure, again.summary["fetched"], again.summary["known_urls"]) == (None, 1, 12)
    assert again.summary["run_id"] == 2
    sound(tmp_path)


def test_without_a_seed_an_earlier_crawl_goes_on(web: TestWeb, tmp_path: Path) -> None:
    run_crawl(web, tmp_path, SEED, budget=Budget(pages=5))
    result = run_crawl(web, tmp_path)
    assert (result.ending, result.summary["fetched"]) == (Ending.DONE, 7)
    assert set(web.log.fetched().values()) == {1}


def test_a_new_seed_joins_an_earlier_crawl(web: TestWeb, tmp_path: Path) -> None:
    web.add(mesh("b.test", 4))
    run_crawl(web, tmp_path, SEED)
    result = run_crawl(web, tmp_path, "http://b.test/")
    assert (result.summary["fetched"], result.summary["known_urls"]) == (4, 16)
    with catalog_of(tmp_path) as catalog:
        assert catalog.seeds() == [SEED, "http://b.test/"]


def test_progress_can_be_watched(web: TestWeb, tmp_path: Path) -> None:
    seen: list[Progress] = []
    settings = settings_for(web, politeness__delay=0.1)
    crawl(Request(tmp_path, settings, [SEED], Budget(pages=10)), seen.append)
    assert seen
    assert 0 < seen[0].summary["fetched"] < 10
    assert seen[0].summary["known_urls"] > 0


# -- traps ------------------------------------------------------------------------------------------------------------


def test_an_endless_site_ends_at_the_cap_of_its_domain(tmp_path: Path) -> None:
    with TestWeb([calendar("a.test")]) as web:
        result = run_crawl(web, tmp_path, SEED, scope__pages_per_domain=80)
        assert len(web.log.fetched()) == 80
    assert result.summary["known_urls"] == 80
    assert result.summary["refused"]["domain_cap"] > 0
    with TestWeb([calendar("a.test")]) as web:
        run_crawl(web, tmp_path, SEED, scope__pages_per_domain=80)
        assert web.log.paths("a.test") == ["/"]  # the cap is one of the collection, not of the run


def test_session_ids_do_not_make_new_pages(tmp_path: Path) -> None:
    with TestWeb([session_maze("a.test", 20)]) as web:
        run_crawl(web, tmp_path, SEED)
        assert len(web.log.fetched()) == 21


# -- seeds that lead nowhere ------------------------------------------------------------------------------------------


def test_when_every_seed_is_refused_the_rule_is_named(web: TestWeb, tmp_path: Path) -> None:
    result = run_crawl(web, tmp_path, SEED, "http://a.test/x.zip", scope__hosts=["b.test"])
    assert web.log.connections() == []
    assert result.summary["refused"] == {"scope_host": 2}
    assert f"{SEED}: refused by scope_host (a.test matches none of scope.hosts)" in str(result.failure)
    with catalog_of(tmp_path) as catalog:
        run = catalog.last_run()
    assert run is not None
    assert run["outcome"] == "failed"


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        ({"scope__paths": ["^/docs"]}, "scope_path"),
        ({"scope__hosts": ["www.a.test"]}, "scope_host"),
        ({"scope__url_length": 64}, "too_long"),
        ({"scope__path_depth": 1}, "trap_depth"),
    ],
)
def test_the_message_names_the_rule_of_the_scope(
    web: TestWeb, tmp_path: Path, flags: dict[str, Any], reason: str
) -> None:
    result = run_crawl(web, tmp_path, f"http://a.test/long/{'x' * 64}", **flags)
    assert web.log.connections() == []
    assert f"refused by {reason} (" in str(result.failure)


def test_one_good_seed_is_enough(web: TestWeb, tmp_path: Path) -> None:
    result = run_crawl(web, tmp_path, SEED, "http://127.0.0.1:9/", "http://a.test/missing")
    assert (result.failure, result.summary["fetched"]) == (None, 12)
    assert result.summary["errors"] == {"robots_connect": 1, "http_404": 1}


@pytest.mark.parametrize(
    ("seed", "reason"),
    [(NAME_TOO_LONG, "dns"), ("http://127.0.0.1:9/", "connect"), ("https://127.0.0.1:9/", "connect")],
)
def test_an_unreachable_seed_fails_at_once(tmp_path: Path, seed: str, reason: str) -> None:
    for _ in range(2):  # the second time it is tried again, at once too
        began = time.monotonic()
        result = run_crawl(None, tmp_path, seed, fetch__allow_private=True)
        assert time.monotonic() - began < 20
        assert result.summary["errors"] == {f"robots_{reason}": 1}
        assert f"{seed}: unreachable (robots.txt unreachable: {reason}" in str(result.failure)


def test_a_seed_that_failed_gets_another_chance_when_it_is_given_again(web: TestWeb, tmp_path: Path) -> None:
    page = web.site("a.test").pages["/"]
    web.site("a.test").pages["/"] = Page(status=410)
    first = run_crawl(web, tmp_path, SEED)
    assert f"{SEED}: failed with http_error (410)" in str(first.failure)
    web.site("a.test").pages["/"] = page
    second = run_crawl(web, tmp_path, SEED)
    assert (second.failure, second.summary["fetched"]) == (None, 12)
    sound(tmp_path)


def test_a_seed_that_robots_forbade_gets_another_chance_too(web: TestWeb, tmp_path: Path) -> None:
    pages = web.site("a.test").pages
    web.add(Site("a.test", pages, robots="User-agent: *\nDisallow: /"))
    assert run_crawl(web, tmp_path, SEED).failure is not None
    web.add(Site("a.test", pages, robots="User-agent: *\nAllow: /"))
    assert run_crawl(web, tmp_path, SEED).failure is not None  # the old file is good for a day
    # robots_age cannot be less than a minute, so the file is made older.
    with sqlite3.connect(tmp_path / "crawl.db") as database:
        database.execute("UPDATE robots SET fetched_at = 0")
    database.close()
    assert run_crawl(web, tmp_path, SEED).summary["fetched"] == 12


def test_a_seed_that_redirects_to_a_missing_page_is_reported(tmp_path: Path) -> None:
    with TestWeb([Site("a.test", {"/": Page(redirect="/gone")})]) as web:
        result = run_crawl(web, tmp_path, SEED)
    assert "nothing was crawled: no seed led to a page" in str(result.failure)


# -- folders that cannot be used --------------------------------------------------------------------------------------


def test_an_invalid_url_creates_no_collection(tmp_path: Path) -> None:
    with pytest.raises(BadUrl):
        run_crawl(None, tmp_path / "new", "not a url")
    assert not (tmp_path / "new").exists()


def test_without_any_seed_no_file_is_created(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no seed was given, now or before"):
        run_crawl(None, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_folder_with_other_files_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("important")
    with pytest.raises(NoCollection, match="neither empty nor a collection"):
        run_crawl(None, tmp_path, SEED)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_two_crawls_cannot_write_one_collection(web: TestWeb, tmp_path: Path) -> None:
    run_crawl(web, tmp_path, SEED, budget=Budget(pages=1))
    with open_collection(tmp_path).locked(), pytest.raises(CollectionLocked, match="process"):
        run_crawl(web, tmp_path, SEED)
    assert run_crawl(web, tmp_path, SEED).summary["fetched"] == 11


def test_a_collection_of_a_later_release_is_not_changed(web: TestWeb, tmp_path: Path) -> None:
    run_crawl(web, tmp_path, SEED, budget=Budget(pages=1))
    (tmp_path / "collection.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(NewerFormat, match="format 99"):
        run_crawl(web, tmp_path, SEED)


@pytest.mark.parametrize("seeds", [(SEED,), ()])
def test_an_archive_without_its_catalog_is_never_written_over(
    web: TestWeb, tmp_path: Path, seeds: tuple[str, ...]
) -> None:
    run_crawl(web, tmp_path, SEED)
    (warc,) = (tmp_path / "archive").iterdir()
    before = warc.read_bytes()
    for damage in ("empty", "missing"):
        (tmp_path / "crawl.db").write_bytes(b"")
        if damage == "missing":
            (tmp_path / "crawl.db").unlink()
        with pytest.raises(DamagedFile, match=r"crawl\.db"):
            run_crawl(web, tmp_path, *seeds)
        assert warc.read_bytes() == before


def test_a_damaged_catalog_is_noticed_before_anything_is_written(web: TestWeb, tmp_path: Path) -> None:
    run_crawl(web, tmp_path, SEED)
    zero_table(tmp_path / "crawl.db", "refusals")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".lock"}
    with pytest.raises(DamagedFile, match=r"crawl\.db is damaged: .*Run `periplus repair`\."):
        run_crawl(web, tmp_path, "http://a.test/new")
    assert {path: path.read_bytes() for path in before} == before


def test_the_reason_of_a_failed_page_stays_recorded(web: TestWeb, tmp_path: Path) -> None:
    run_crawl(web, tmp_path, SEED, "http://a.test/nowhere")
    assert state_of(tmp_path, "http://a.test/nowhere") == (UrlState.FAILED, "http_error")


@pytest.mark.parametrize(("outages", "patience"), [(3, 60.0), (1, 0.0)])
def test_a_node_outlasts_a_database_that_is_away_at_its_start_or_end(
    outages: int, patience: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    acts: list[int] = []

    def act() -> int:
        acts.append(len(acts))
        if len(acts) <= outages:
            raise DatabaseUnavailable("postgresql://host/db does not answer", "the server is starting up")
        return len(acts)

    monkeypatch.setattr("time.sleep", lambda _: None)
    node = Collection(tmp_path, "postgresql://host/db")
    if patience:
        assert run._persistently(node, act, patience) == outages + 1
    else:
        with pytest.raises(DatabaseUnavailable):
            run._persistently(node, act, patience)
        assert len(acts) == 1


def test_the_begin_and_the_end_of_a_run_are_repeated(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[str] = []

    def losing(name: str, *, after: bool) -> None:
        method = getattr(run._Run, name)

        def once(self: Any) -> Any:
            result = method(self) if after or name in lost else None
            if name not in lost:
                lost.append(name)
                raise DatabaseUnavailable("postgresql://host/db does not answer")
            return result

        monkeypatch.setattr(run._Run, name, once)

    names = ["_begin", "_requeue", "_known_urls", "_release_held", "_end_in_catalog"]
    for name in names:
        losing(name, after=name == "_requeue")
    monkeypatch.setattr(run, "pause_after", lambda _: 0.0)
    monkeypatch.setenv("PERIPLUS_FLEET__DATABASE", postgres)
    with TestWeb([mesh("a.test", 3)]) as web:
        request = Request(tmp_path / "node", settings_for(web), ["http://a.test/"], Budget(), rounds=2)
        assert crawl(request).ending is Ending.DONE
    assert lost[: len(names)] == names
    with closing(open_catalog(Collection(tmp_path / "node", postgres))) as catalog:
        assert len(catalog.runs(9)) == 1
