"""Does a crawl take in seeds, blocks and retries while it runs, and also when none is running?"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from control.running import RunningCrawl, crawling, until
from crawl.crawling import catalog_of, run_crawl, settings_for, sound, state_of, wait
from periplus.control.orders import add_seeds, block, drain, remove_seed, resume, retry, stop, unblock, unlearn
from periplus.control.orders import pause as give_pause
from periplus.control.state import crawl_state, seed_states, wait_until_obeyed
from periplus.crawl.assignment import Budget
from periplus.errors import BadUrl, UsageError
from periplus.model import Reason, UrlState
from periplus.store.collection import open_collection
from testweb import Page, Site, TestWeb, mesh

BOTH = pytest.mark.parametrize("workers", [1, 2])
SETTINGS = settings_for(None)


def pause(crawl: RunningCrawl) -> None:
    give_pause(crawl.collection)
    assert wait_until_obeyed(crawl.collection)


def finish(crawl: RunningCrawl) -> None:
    """End a crawl that would wait for ever."""
    drain(crawl.collection)
    assert wait(crawl.child).code == 130


def many(host: str, pages: int) -> Site:
    return Site(host, {"/": Page(links=[f"/{n}" for n in range(pages)])} | {f"/{n}": Page() for n in range(pages)})


# -- seeds ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@BOTH
def test_a_seed_that_is_added_to_an_idle_crawl_is_crawled_with_its_links(tmp_path: Path, workers: int) -> None:
    with (
        TestWeb([mesh("a.test", 3), mesh("b.test", 5), mesh("c.test", 4)]) as web,
        crawling(web, tmp_path, "http://a.test/", "--continuous", workers=workers) as crawl,
    ):
        crawl.until_fetched(3)
        crawl.until_states("idle")
        outcomes = add_seeds(crawl.collection, SETTINGS, ["http://b.test/", "http://c.test/"])
        assert [(one.url, one.refusal) for one in outcomes] == [("http://b.test/", None), ("http://c.test/", None)]
        crawl.until_fetched(12)
        crawl.until_states("idle")
        assert set(web.log.fetched().values()) == {1}
        finish(crawl)
        assert [one["state"] for one in seed_states(crawl.collection)] == ["done"] * 3
    sound(tmp_path)


@pytest.mark.slow
def test_a_sitemap_that_is_added_to_an_idle_crawl_is_read(tmp_path: Path) -> None:
    urls = "".join(f"<url><loc>http://b.test/{number}</loc></url>" for number in (1, 2))
    body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
    listing = Page(body=body, content_type="application/xml")
    listed = Site("b.test", {"/map.xml": listing, "/1": Page(), "/2": Page()})
    with (
        TestWeb([mesh("a.test", 2), listed]) as web,
        crawling(web, tmp_path, "http://a.test/", "--continuous") as crawl,
    ):
        crawl.until_states("idle")
        add_seeds(crawl.collection, SETTINGS, [], ["http://b.test/map.xml"])
        until(lambda: web.log.count("b.test", "/2"), "the pages of the sitemap")
        finish(crawl)
    sound(tmp_path)


def test_a_seed_that_is_added_between_two_crawls_is_crawled_by_the_next(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 2), mesh("b.test", 2)]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
        add_seeds(open_collection(tmp_path), SETTINGS, ["http://b.test/"])
        assert [one["state"] for one in seed_states(open_collection(tmp_path))] == ["done", "waiting"]
        assert run_crawl(web, tmp_path).summary["fetched"] == 2
    sound(tmp_path)


def test_a_seed_that_the_scope_refuses_says_which_rule(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 2)]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
    collection = open_collection(tmp_path)
    block(collection, "b.test")
    outcomes = add_seeds(collection, SETTINGS, ["http://b.test/", "http://a.test/x.zip", "http://a.test/"])
    reasons = [one.refusal.reason if one.refusal else None for one in outcomes]
    assert reasons == [Reason.BLOCKED, Reason.EXTENSION, None]
    assert [one.is_known for one in outcomes] == [False, False, True]
    with pytest.raises(BadUrl):
        add_seeds(collection, SETTINGS, ["http://c.test/", "no url"])
    assert [one["url"] for one in seed_states(collection)] == ["http://a.test/"]


def test_a_failed_seed_that_is_added_again_is_tried_again(tmp_path: Path) -> None:
    with TestWeb([Site("a.test", {"/": Page(status=404)})]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
        add_seeds(open_collection(tmp_path), SETTINGS, ["http://a.test/"])
        assert state_of(tmp_path, "http://a.test/")[0] == UrlState.QUEUED
        run_crawl(web, tmp_path)
        assert web.log.count("a.test", "/") == 2
    sound(tmp_path)


@pytest.mark.slow
@BOTH
def test_a_mistyped_seed_is_taken_back_with_its_host(tmp_path: Path, workers: int) -> None:
    with (
        TestWeb([mesh("a.test", 2), many("wrong.test", 40)]) as web,
        crawling(web, tmp_path, "http://a.test/", "--continuous", workers=workers, POLITENESS__DELAY=0.3) as crawl,
    ):
        add_seeds(crawl.collection, SETTINGS, ["http://wrong.test/"])
        until(lambda: web.log.count("wrong.test") >= 4, "pages of the wrong host")
        removed = remove_seed(crawl.collection, "http://wrong.test/")
        assert wait_until_obeyed(crawl.collection)
        assert removed.hosts == ["wrong.test"]
        assert removed.refused > 20
        crawl.until_states("idle")
        requests = len(web.log.entries("wrong.test"))
        assert requests < 40
        time.sleep(1)
        assert len(web.log.entries("wrong.test")) == requests
        add_seeds(crawl.collection, SETTINGS, ["http://wrong.test/"])
        until(lambda: web.log.count("wrong.test") == 42, "the rest, after the seed was given again")
        assert set(web.log.fetched().values()) == {1}
        finish(crawl)
    sound(tmp_path)


def test_of_two_seeds_of_a_host_only_the_removed_one_is_skipped(tmp_path: Path) -> None:
    with TestWeb([Site("a.test", {"/right": Page(), "/wrong": Page()})]) as web:
        run_crawl(web, tmp_path, "http://a.test/right", "http://a.test/wrong", budget=Budget(seconds=0))
        removed = remove_seed(open_collection(tmp_path), "http://a.test/wrong")
        assert (removed.hosts, removed.refused) == ([], 1)
        run_crawl(web, tmp_path)
        assert web.log.paths("a.test") == ["/robots.txt", "/right"]
        assert state_of(tmp_path, "http://a.test/wrong") == (UrlState.REFUSED, "seed_removed")
    with pytest.raises(UsageError, match=r"http://a.test/wrong is no seed"):
        remove_seed(open_collection(tmp_path), "http://a.test/wrong")
    sound(tmp_path)


def test_a_removed_seed_takes_the_host_along_that_it_redirected_to(tmp_path: Path) -> None:
    here = Site("a.test", {"/": Page(status=301, headers={"Location": "http://www.a.test/"})})
    with TestWeb([here, many("www.a.test", 9), mesh("b.test", 1)]) as web:
        run_crawl(web, tmp_path, "http://a.test/", "http://b.test/", budget=Budget(pages=3))
        removed = remove_seed(open_collection(tmp_path), "http://a.test/")
        assert removed.urls == ["http://a.test/", "http://www.a.test/"]
        assert removed.hosts == ["a.test", "www.a.test"]
        before = len(web.log.entries())
        run_crawl(web, tmp_path)
        assert not [entry for entry in web.log.entries()[before:] if entry.host == "www.a.test"]
    sound(tmp_path)


# -- blocked hosts ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@BOTH
def test_a_blocked_host_is_left_alone_until_it_is_unblocked(tmp_path: Path, workers: int) -> None:
    hosts = [many("a.test", 60), many("b.test", 60)]
    words = ["http://a.test/", "http://b.test/", "--continuous"]
    with TestWeb(hosts) as web, crawling(web, tmp_path, *words, workers=workers, POLITENESS__DELAY=0.1) as crawl:
        until(lambda: web.log.count("a.test") > 5 and web.log.count("b.test") > 5, "both hosts")
        assert block(crawl.collection, "b.test") > 20
        assert wait_until_obeyed(crawl.collection)
        time.sleep(0.2)  # for the request under way
        blocked = web.log.count("b.test")
        until(lambda: web.log.count("a.test") == 62, "the other host")
        crawl.until_states("idle")
        assert web.log.count("b.test") == blocked
        assert unblock(crawl.collection, "b.test") == 62 - blocked
        until(lambda: web.log.count("b.test") == 62, "the rest of the host")
        assert set(web.log.fetched().values()) == {1}
        finish(crawl)
    sound(tmp_path)


def test_links_to_a_blocked_host_are_refused_and_fetched_pages_stay(tmp_path: Path) -> None:
    with TestWeb([Site("a.test", {"/": Page(links=["http://b.test/"])}), mesh("b.test", 1)]) as web:
        run_crawl(web, tmp_path, "http://b.test/")
        block(open_collection(tmp_path), "b.test")
        run_crawl(web, tmp_path, "http://a.test/", scope__hosts=[".*"])
        with catalog_of(tmp_path) as catalog:
            assert catalog.blocked_hosts().keys() == {"b.test"}
            assert list(catalog.vanished()) == []
        assert web.log.count("b.test", "/") == 1
    assert state_of(tmp_path, "http://b.test/")[0] == UrlState.DONE
    with pytest.raises(UsageError, match=r"c.test is not blocked"):
        unblock(open_collection(tmp_path), "c.test")
    sound(tmp_path)


def test_a_block_between_two_crawls_refuses_the_queue_and_can_be_taken_back(tmp_path: Path) -> None:
    with TestWeb([many("a.test", 20)]) as web:
        run_crawl(web, tmp_path, "http://a.test/", budget=Budget(pages=5))
        collection = open_collection(tmp_path)
        assert block(collection, "https://A.test/some/page") == 16
        assert state_of(tmp_path, "http://a.test/19") == (UrlState.REFUSED, "blocked")
        assert run_crawl(web, tmp_path).summary["fetched"] == 0
        sound(tmp_path)
        assert unblock(collection, "a.test") == 16
        assert run_crawl(web, tmp_path).summary["fetched"] == 16
        assert set(web.log.fetched().values()) == {1}
    sound(tmp_path)


@pytest.mark.slow
def test_a_page_under_way_when_its_host_is_blocked_is_kept_and_counted(tmp_path: Path) -> None:
    slow = {"/": Page(links=["/slow", "/2"]), "/slow": Page(delay=1.5), "/2": Page()}
    with (
        TestWeb([Site("a.test", slow)]) as web,
        crawling(web, tmp_path, "http://a.test/", "--continuous") as crawl,
    ):
        until(lambda: web.log.count("a.test", "/slow"), "the slow page")
        time.sleep(0.3)  # for the commit that admits it
        block(crawl.collection, "a.test")
        until(lambda: state_of(tmp_path, "http://a.test/slow")[0] == UrlState.DONE, "the slow page")
        finish(crawl)
    sound(tmp_path)


# -- retries ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_parked_host_is_fetched_again_when_the_user_says_so(tmp_path: Path) -> None:
    broken = Page(status=503)
    site = Site("a.test", {"/": Page(links=[f"/{n}" for n in range(12)])} | {f"/{n}": broken for n in range(12)})
    with (
        TestWeb([site]) as web,
        crawling(
            web,
            tmp_path,
            "http://a.test/",
            "--continuous",
            POLITENESS__FAILURES_TO_PARK=3,
            POLITENESS__LONGEST_BACKOFF=600.0,
            FETCH__ATTEMPTS=1,
        ) as crawl,
    ):
        until(lambda: len(web.log.entries("a.test")) >= 4, "errors")
        crawl.until_states("idle")
        before = len(web.log.entries("a.test"))
        assert before < 14, "the host is parked"
        retry(crawl.collection, "a.test")
        until(lambda: len(web.log.entries("a.test")) > before, "another request")
        finish(crawl)
    sound(tmp_path)


def test_failed_urls_of_a_host_and_any_url_can_be_tried_again(tmp_path: Path) -> None:
    pages = {"/": Page(links=["/gone", "/here"]), "/here": Page()}
    with TestWeb([Site("a.test", pages)]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
        collection = open_collection(tmp_path)
        assert retry(collection, "a.test") == 1
        assert retry(collection, "http://a.test/here") == 1
        sound(tmp_path)
        run_crawl(web, tmp_path)
        assert web.log.fetched() == {"http://a.test/": 1, "http://a.test/gone": 2, "http://a.test/here": 2}
        for unknown in ("http://a.test/never", "b.test"):
            with pytest.raises(UsageError, match="is unknown"):
                retry(collection, unknown)
    sound(tmp_path)


# -- many commands ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_thousand_commands_are_carried_out_while_the_crawl_goes_on(tmp_path: Path) -> None:
    with (
        TestWeb([many("a.test", 300)]) as web,
        crawling(web, tmp_path, "http://a.test/", POLITENESS__DELAY=0.02) as crawl,
    ):
        crawl.until_fetched(5)
        for number in range(500):
            block(crawl.collection, f"host{number}.test")
            unblock(crawl.collection, f"host{number}.test")
        assert wait_until_obeyed(crawl.collection, 60)
        assert wait(crawl.child, 120).code == 0
        assert len(web.log.fetched()) == 301
    sound(tmp_path)


def test_a_pattern_that_no_host_has_cannot_be_unlearned(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 1)]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
    with pytest.raises(UsageError, match=r"a.test has no pattern /x/#"):
        unlearn(open_collection(tmp_path), "a.test", "/x/#")


def test_commands_that_no_crawl_can_hear_are_not_pending(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 1)]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
    collection = open_collection(tmp_path)
    for give in (give_pause, drain, stop, resume):
        give(collection)
    state = crawl_state(collection)
    assert (state.is_running, state.is_paused, state.pending) == (False, False, [])
