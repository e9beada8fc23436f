"""Is every page recrawled when it is due, once, and no sooner?"""

from __future__ import annotations

import json
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from crawl.changing_web import BEGIN, DAY, HOUR, Calendar
from crawl.crawling import (
    catalog_of,
    environment,
    periplus,
    reach,
    run_crawl,
    segment_rows,
    settings_for,
    sound,
    start,
    state_of,
    wait,
)
from periplus.crawl.assignment import Budget, Ending, RecrawlPolicy
from periplus.crawl.run import Request, Result, crawl
from periplus.errors import UsageError
from periplus.frontier.schedule import RecrawlClass, class_of
from periplus.index.build import build_index
from periplus.model import UrlState
from periplus.search.engine import SearchEngine
from periplus.store.collection import open_collection
from testweb import Page, Site, TestWeb, many_hosts

SEED = "http://a.test/"


@pytest.fixture
def web() -> Iterator[TestWeb]:
    pages = {"/": Page("Home", links=["/x", "/y"], etag="v1"), "/x": Page("X", etag="v1"), "/y": Page("Y", etag="v1")}
    with TestWeb([Site("a.test", pages)]) as running:
        yield running


def on_day(day: float, web: TestWeb, home: Path, *seeds: str, **more: Any) -> Result:
    """Crawl on a day of the simulated calendar."""
    recrawl, budget, workers = (
        more.pop("recrawl", RecrawlPolicy()),
        more.pop("budget", Budget()),
        more.pop("workers", 1),
    )
    sitemaps, rounds = more.pop("sitemaps", ()), more.pop("rounds", None)
    web.log.clear()
    settings = settings_for(web, **more)
    request = Request(home, settings, seeds, budget, workers, sitemaps=sitemaps, rounds=rounds, recrawl=recrawl)
    begin = BEGIN + day * DAY
    result = crawl(request, clock=Calendar(begin, begin + (budget.seconds or 1_000 * DAY)))
    sound(home)
    return result


def asked(web: TestWeb) -> list[str]:
    return sorted(url.removeprefix("http://a.test") for url in web.log.fetched())


def row_of(home: Path, url: str) -> dict[str, Any]:
    with catalog_of(home) as catalog:
        row = catalog.url(url)
    assert row is not None
    return row


def test_a_page_is_recrawled_once_its_interval_is_over(web: TestWeb, tmp_path: Path) -> None:
    on_day(0, web, tmp_path, SEED)
    on_day(0.9, web, tmp_path)
    assert asked(web) == []
    result = on_day(1.1, web, tmp_path)
    assert asked(web) == ["/", "/x", "/y"]
    assert (result.summary["revisits"], result.summary["unchanged"], result.summary["fetched"]) == (3, 3, 0)
    assert result.failure is None
    on_day(2, web, tmp_path)  # the intervals have grown
    assert asked(web) == []


def test_only_pages_in_scope_are_recrawled_and_others_stay_as_they_are(web: TestWeb, tmp_path: Path) -> None:
    on_day(0, web, tmp_path, SEED)
    on_day(2, web, tmp_path, scope__paths=["/x"])
    assert asked(web) == ["/x"]
    assert state_of(tmp_path, f"{SEED}y") == (UrlState.DONE, "ok")
    on_day(3, web, tmp_path)
    assert asked(web) == ["/", "/y"]


def test_the_links_of_a_changed_page_are_followed(web: TestWeb, tmp_path: Path) -> None:
    on_day(0, web, tmp_path, SEED)
    web.site("a.test").pages["/x"] = Page("X", links=["/new"], etag="v2")
    web.site("a.test").pages["/new"] = Page("New")
    on_day(2, web, tmp_path)
    assert asked(web) == ["/", "/new", "/x", "/y"]


def test_new_pages_come_before_revisits(web: TestWeb, tmp_path: Path) -> None:
    on_day(0, web, tmp_path, SEED)
    web.site("a.test").pages["/late"] = Page("Late", links=[f"/late{n}" for n in range(5)])
    on_day(2, web, tmp_path, f"{SEED}late", recrawl=RecrawlPolicy(new_only=True), budget=Budget(pages=1))
    on_day(2.1, web, tmp_path)
    paths = [path for path in web.log.paths("a.test") if path != "/robots.txt"]
    assert sorted(paths[:5]) == [f"/late{n}" for n in range(5)]
    assert sorted(paths[5:]) == ["/", "/x", "/y"]


def test_new_only_recrawls_nothing(web: TestWeb, tmp_path: Path) -> None:
    on_day(0, web, tmp_path, SEED)
    on_day(50, web, tmp_path, recrawl=RecrawlPolicy(new_only=True))
    assert asked(web) == []


def test_only_the_given_class_is_recrawled(web: TestWeb, tmp_path: Path) -> None:
    pinned = {"http://a[.]test/x": "hot", "http://a[.]test/y": "monthly"}
    on_day(0, web, tmp_path, SEED, recrawl__pinned=pinned)
    assert [class_of(row_of(tmp_path, SEED + path)["interval"]) for path in ("x", "", "y")] == [
        RecrawlClass.HOT,
        RecrawlClass.DAILY,
        RecrawlClass.MONTHLY,
    ]
    expected = {
        RecrawlClass.HOT: ["/x"],
        RecrawlClass.DAILY: ["/"],
        RecrawlClass.WEEKLY: [],
        RecrawlClass.MONTHLY: ["/y"],
    }
    for name, paths in expected.items():
        result = on_day(40, web, tmp_path, recrawl=RecrawlPolicy(only=name), recrawl__pinned=pinned)
        assert asked(web) == paths
        assert result.summary["revisits"] == len(paths)


def test_more_due_pages_than_fit_into_memory_are_each_fetched_once(tmp_path: Path) -> None:
    pages = {"/": Page(links=[f"/{n}" for n in range(700)], etag="1")} | {f"/{n}": Page(etag="1") for n in range(700)}
    with TestWeb([Site("a.test", pages)]) as web:
        small = {"store__buffer_urls": 64, "store__commit_pages": 32}
        on_day(0, web, tmp_path, SEED, **small)
        result = on_day(2, web, tmp_path, **small)
        assert set(web.log.fetched().values()) == {1}
        assert (len(web.log.fetched()), result.summary["unchanged"]) == (701, 701)


def test_a_crawl_stopped_during_revisits_goes_on_with_the_rest(tmp_path: Path) -> None:
    links = [f"/{n}" for n in range(60)]
    with TestWeb([Site("a.test", {"/": Page(links=links)} | {path: Page(f"Old {path}") for path in links})]) as web:
        on_day(0, web, tmp_path, SEED)
        web.site("a.test").pages.update({path: Page(f"New {path}") for path in links})
        on_day(2, web, tmp_path, budget=Budget(pages=20))
        first = web.log.fetched()
        on_day(2.01, web, tmp_path)
        second = web.log.fetched()
    assert first.total() == 20
    assert not set(first) & set(second)
    assert (first + second).total() == 61


@pytest.mark.slow
def test_several_workers_fetch_every_due_page_once(tmp_path: Path) -> None:
    with TestWeb(many_hosts(12, 10)) as web:
        on_day(0, web, tmp_path, "http://h0001.test/", scope__hosts=[".*"])
        result = on_day(2, web, tmp_path, workers=3, scope__hosts=[".*"])
        assert len(web.log.fetched()) == result.summary["revisits"] == 120
        assert set(web.log.fetched().values()) == {1}
        assert result.ending is Ending.DONE


def test_a_page_that_is_gone_is_due_at_the_longest_interval(web: TestWeb, tmp_path: Path) -> None:
    on_day(0, web, tmp_path, SEED)
    del web.site("a.test").pages["/x"]
    on_day(2, web, tmp_path)
    assert row_of(tmp_path, f"{SEED}x")["due"] == BEGIN + 32 * DAY
    on_day(31, web, tmp_path)
    assert "/x" not in asked(web)
    web.site("a.test").pages["/x"] = Page("X is back")
    on_day(33, web, tmp_path)
    assert "/x" in asked(web)
    assert state_of(tmp_path, f"{SEED}x") == (UrlState.DONE, "ok")


def test_a_host_that_does_not_answer_keeps_its_pages(web: TestWeb, tmp_path: Path) -> None:
    on_day(0, web, tmp_path, SEED)
    web.site("a.test").pages["/x"] = Page(status=500)
    on_day(2, web, tmp_path, fetch__attempts=1)
    row = row_of(tmp_path, f"{SEED}x")
    assert (row["state"], row["interval"] > DAY) == (UrlState.FAILED, True)
    web.site("a.test").pages["/x"] = Page("X", etag="v1")
    assert on_day(9, web, tmp_path).summary["errors"] == {}
    assert state_of(tmp_path, f"{SEED}x") == (UrlState.DONE, "not_modified")


def test_a_page_that_robots_txt_allows_again_is_fetched(web: TestWeb, tmp_path: Path) -> None:
    web.site("a.test").pages["/robots.txt"] = Page(body="User-agent: *\nDisallow: /x", content_type="text/plain")
    on_day(0, web, tmp_path, SEED)
    assert state_of(tmp_path, f"{SEED}x") == (UrlState.REFUSED, "robots")
    del web.site("a.test").pages["/robots.txt"]
    on_day(31, web, tmp_path)
    assert state_of(tmp_path, f"{SEED}x") == (UrlState.DONE, "ok")


def test_a_page_whose_text_is_the_same_has_not_changed(web: TestWeb, tmp_path: Path) -> None:
    """A token in a form makes every response different, and is no change of the text."""
    for day, token in enumerate(("one", "two")):
        field = f'<input type="hidden" value="{token}">'
        web.site("a.test").pages["/x"] = Page("X", "The same words.", html=field)
        on_day(2 * day, web, tmp_path, SEED)
    assert row_of(tmp_path, f"{SEED}x")["interval"] > DAY
    assert len([row for row in segment_rows(tmp_path, "pages") if row["url"] == f"{SEED}x"]) == 2
    web.site("a.test").pages["/x"] = Page("X", "Other words.")
    interval = row_of(tmp_path, f"{SEED}x")["interval"]
    on_day(12, web, tmp_path)
    assert row_of(tmp_path, f"{SEED}x")["interval"] < interval * 2


def test_an_unchanged_page_in_another_language_is_recovered(web: TestWeb, tmp_path: Path) -> None:
    text = "Das ist ein langer deutscher Text, der nichts anderes sein kann als ein deutscher Text. " * 5
    web.site("a.test").pages["/x"] = Page("Deutsch", text)
    on_day(0, web, tmp_path, SEED, parse__languages=["en"])
    on_day(2, web, tmp_path, parse__languages=["en"])
    assert state_of(tmp_path, f"{SEED}x") == (UrlState.DONE, "same_content")


# -- sitemaps ---------------------------------------------------------------------------------------------------------


def listing(lastmod: str) -> Page:
    entry = f"<url><loc>{SEED}x</loc><lastmod>{lastmod}</lastmod></url>"
    return Page(body=f"<urlset>{entry}</urlset>", content_type="application/xml")


def announce(web: TestWeb, lastmod: str) -> str:
    web.site("a.test").pages["/s.xml"] = listing(lastmod)
    return f"{SEED}s.xml"


def test_a_page_that_a_sitemap_says_has_changed_is_due_at_once(web: TestWeb, tmp_path: Path) -> None:
    sitemap = announce(web, "2026-01-01T10:00:00Z")
    on_day(0, web, tmp_path, SEED, sitemaps=[sitemap])
    on_day(0.5, web, tmp_path, sitemaps=[announce(web, "2027-01-15T12:00:00Z")])  # four hours after day 0
    assert asked(web) == ["/s.xml", "/x"]


def test_a_page_that_a_sitemap_calls_unchanged_is_recrawled_later(web: TestWeb, tmp_path: Path) -> None:
    on_day(0, web, tmp_path, SEED, sitemaps=[announce(web, "2026-01-01T10:00:00Z")])
    on_day(0.5, web, tmp_path, sitemaps=[f"{SEED}s.xml"])
    on_day(2, web, tmp_path)
    assert "/x" not in asked(web)
    assert "/y" in asked(web)
    on_day(4.1, web, tmp_path)  # but not for long: some sitemaps are wrong
    assert "/x" in asked(web)


def test_a_date_without_a_time_says_nothing_about_that_day(web: TestWeb, tmp_path: Path) -> None:
    on_day(0, web, tmp_path, SEED, sitemaps=[announce(web, "2027-01-15")])  # day 0
    on_day(0.5, web, tmp_path, sitemaps=[f"{SEED}s.xml"])
    assert asked(web) == ["/s.xml"]
    on_day(1.1, web, tmp_path)
    assert "/x" in asked(web)


def test_a_sitemap_that_is_the_same_is_not_stored_again(web: TestWeb, tmp_path: Path) -> None:
    on_day(0, web, tmp_path, SEED, sitemaps=[announce(web, "2026-01-01T10:00:00Z")])
    on_day(2, web, tmp_path)
    assert "/s.xml" in asked(web)
    with catalog_of(tmp_path) as catalog:
        decisions = [(fetch.decision.verdict, fetch.decision.reason) for fetch in catalog.fetches_of(f"{SEED}s.xml")]
    assert decisions == [("read", "sitemap"), ("read", "same_content")]
    assert row_of(tmp_path, f"{SEED}s.xml")["interval"] > DAY


# -- continuous -------------------------------------------------------------------------------------------------------


def test_a_continuous_crawl_ends_by_its_budget_and_says_so(web: TestWeb, tmp_path: Path) -> None:
    result = on_day(0, web, tmp_path, SEED, recrawl=RecrawlPolicy(continuous=True), budget=Budget(seconds=10 * DAY))
    assert result.ending is Ending.BUDGET
    assert web.log.count("a.test", "/x") == 4  # on days 0, 1, 3, 7
    assert result.summary["seconds"] == pytest.approx(10 * DAY, abs=HOUR)


def test_a_continuous_crawl_of_a_class_never_fetches_the_others(web: TestWeb, tmp_path: Path) -> None:
    pinned = {"http://a[.]test/x": "hot"}
    recrawl, budget = RecrawlPolicy(continuous=True, only=RecrawlClass.HOT), Budget(seconds=2 * DAY)
    on_day(0, web, tmp_path, SEED, recrawl=recrawl, budget=budget, recrawl__pinned=pinned)
    assert (web.log.count("a.test", "/x"), web.log.count("a.test", "/y")) == (48, 1)


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_continuous_crawl_sleeps_until_it_is_stopped(web: TestWeb, tmp_path: Path, workers: str) -> None:
    """In real time, as a user would run it."""
    options = ("--continuous", "--json", "--workers", workers, *reach(web))
    child = start("crawl", SEED, "--home", tmp_path, *options, env=environment())
    web.log.wait_for(4)
    with pytest.raises(TimeoutError):
        web.log.wait_for(5, timeout=1.0)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    outcome = wait(child)
    assert outcome.code == 130
    assert json.loads(outcome.out)["fetched"] == 3
    sound(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_idle_continuous_crawl_lets_others_index_all_its_pages(web: TestWeb, tmp_path: Path, workers: str) -> None:
    options = ("--continuous", "--workers", workers, *reach(web))
    child = start("crawl", SEED, "--home", tmp_path, *options, env=environment())
    try:
        web.log.wait_for(4)
        until = time.monotonic() + 30
        while not (made := segment_files(tmp_path)) and time.monotonic() < until:
            time.sleep(0.1)
        indexed = periplus("index", "--home", tmp_path, "--json")
        assert child.poll() is None, "it still runs"
        assert (indexed.code, indexed.json["documents"]) == (0, 3)
        time.sleep(1.5)
        assert set(segment_files(tmp_path)) <= set(made), "nothing is sealed where nothing is new"
    finally:
        child.send_signal(signal.SIGINT)
        outcome = wait(child)
    assert outcome.code == 130
    sound(tmp_path)


def segment_files(home: Path) -> list[Path]:
    """Those that a crawl sealed."""
    return [file for file in (home / "segments").glob("pages-*.parquet") if "-r" not in file.name]


@pytest.mark.parametrize(
    "wish",
    [
        {"rounds": 2, "recrawl": RecrawlPolicy(continuous=True)},
        {"recrawl": RecrawlPolicy(new_only=True, continuous=True)},
        {"recrawl": RecrawlPolicy(new_only=True, only=RecrawlClass.HOT)},
    ],
)
def test_contradictory_options_are_refused(tmp_path: Path, wish: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="cannot be combined"):
        crawl(Request(tmp_path / "home", settings_for(None), [SEED], **wish))
    assert not (tmp_path / "home").exists()


# -- what searchers see -----------------------------------------------------------------------------------------------


def titles(home: Path, words: str) -> list[str]:
    collection, settings = open_collection(home), settings_for(None)
    build_index(collection, settings.index)
    with closing(SearchEngine.open(collection, settings)) as engine:
        return [hit.title for hit in engine.search(words).hits]


def test_the_index_shows_the_newest_version_alone(web: TestWeb, tmp_path: Path) -> None:
    web.site("a.test").pages["/x"] = Page("Old", "The walrus said nothing.")
    run_crawl(web, tmp_path, SEED)
    assert titles(tmp_path, "walrus") == ["Old"]
    web.site("a.test").pages["/x"] = Page("New", "The carpenter said nothing.")
    run_crawl(web, tmp_path, f"{SEED}x")
    assert titles(tmp_path, "walrus") == []
    assert titles(tmp_path, "carpenter") == ["New"]


@pytest.mark.parametrize("page", [Page(status=404), Page(status=410), Page(redirect="/y")])
def test_a_page_that_is_gone_or_moved_leaves_the_index(web: TestWeb, tmp_path: Path, page: Page) -> None:
    web.site("a.test").pages["/x"] = Page("Walrus", "The walrus said nothing.")
    run_crawl(web, tmp_path, SEED)
    web.site("a.test").pages["/x"] = page
    run_crawl(web, tmp_path, f"{SEED}x")
    assert titles(tmp_path, "walrus") == []
    web.site("a.test").pages["/x"] = Page("Walrus", "The walrus is back.")
    run_crawl(web, tmp_path, f"{SEED}x")
    assert titles(tmp_path, "walrus") == ["Walrus"]


def test_a_page_whose_server_is_down_stays_in_the_index(web: TestWeb, tmp_path: Path) -> None:
    web.site("a.test").pages["/x"] = Page("Walrus", "The walrus said nothing.")
    run_crawl(web, tmp_path, SEED)
    web.site("a.test").pages["/x"] = Page(status=503)
    run_crawl(web, tmp_path, f"{SEED}x", fetch__attempts=1)
    assert titles(tmp_path, "walrus") == ["Walrus"]


def test_a_page_that_robots_txt_now_forbids_leaves_the_index(web: TestWeb, tmp_path: Path) -> None:
    web.site("a.test").pages["/x"] = Page("Walrus", "The walrus said nothing.")
    on_day(0, web, tmp_path, SEED)
    web.site("a.test").pages["/robots.txt"] = Page(body="User-agent: *\nDisallow: /x", content_type="text/plain")
    on_day(2, web, tmp_path)
    assert state_of(tmp_path, f"{SEED}x") == (UrlState.REFUSED, "robots")
    assert titles(tmp_path, "walrus") == []


# -- as processes, in real time ---------------------------------------------------------------------------------------


def make_due(home: Path, at: float) -> None:
    """As if the intervals of all pages were over at this time."""
    with closing(sqlite3.connect(home / "crawl.db")) as database, database:
        database.execute("UPDATE urls SET due = ? WHERE state > 0", (at,))


@pytest.mark.slow
def test_workers_of_a_continuous_crawl_wake_up_when_pages_become_due(tmp_path: Path) -> None:
    with TestWeb(many_hosts(6, 5)) as web:
        options: tuple[str | Path, ...] = ("--home", tmp_path, "--scope-host", ".*", "--json", *reach(web))
        assert periplus("crawl", "http://h0001.test/", *options).code == 0
        web.log.clear()
        make_due(tmp_path, time.time() + 4)
        child = start("crawl", "--continuous", "--workers", "2", *options)
        web.log.wait_for(30, timeout=30)
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        outcome = wait(child)
        assert (len(web.log.fetched()), set(web.log.fetched().values())) == (30, {1})
    assert (outcome.code, outcome.json["revisits"]) == (130, 30)
    sound(tmp_path)


@pytest.mark.slow
def test_a_crawl_killed_during_revisits_loses_none_and_repeats_few(tmp_path: Path) -> None:
    links = [f"/{n}" for n in range(400)]
    pages = {path: Page(path, etag="1", delay=0.005) for path in links}
    with TestWeb([Site("a.test", {"/": Page(links=links, etag="1"), **pages})]) as web:
        options: tuple[str | Path, ...] = ("--home", tmp_path, *reach(web))
        assert periplus("crawl", SEED, *options).code == 0
        web.log.clear()
        make_due(tmp_path, 1.0)
        child = start("crawl", *options, env=environment(store__commit_pages=20))
        web.log.wait_for(150, timeout=30)
        child.kill()
        child.communicate()
        assert periplus("crawl", *options).code == 0
        asked = web.log.fetched()
    assert len(asked) == 401
    assert 401 <= asked.total() <= 401 + 40  # what two commits hold
    sound(tmp_path)
