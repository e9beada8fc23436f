"""Does a running crawl do what the user tells it, and does the request log of the web show it?"""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import pytest

from control.running import crawling, until
from crawl.crawling import run_crawl, sound, state_of, wait
from periplus.control.orders import drain, pause, resume, stop
from periplus.control.state import crawl_state, wait_until_obeyed
from periplus.model import UrlState
from periplus.store.collection import create_collection, open_collection
from testweb import Page, Site, TestWeb, many_hosts, mesh

pytestmark = pytest.mark.slow
WATCHED = 1.5  # seconds in which a paused crawl would make many requests
BOTH = pytest.mark.parametrize("workers", [1, 2])


# -- pause and resume -------------------------------------------------------------------------------------------------


@BOTH
def test_a_paused_crawl_starts_no_request_and_continues_where_it_was(tmp_path: Path, workers: int) -> None:
    with (
        TestWeb(many_hosts(20, 30)) as web,
        crawling(
            web, tmp_path, "http://h0001.test/", "--scope-host", ".*", workers=workers, POLITENESS__DELAY=0.1
        ) as crawl,
    ):
        crawl.until_fetched(30)
        pause(crawl.collection)
        assert wait_until_obeyed(crawl.collection)
        under_way = sum(row.figures["under_way"] for row in crawl.state().workers)
        acknowledged = len(web.log.entries())
        quiet = crawl.until_quiet()
        assert quiet - acknowledged <= under_way, "only requests that were under way arrived"
        time.sleep(WATCHED)
        assert len(web.log.entries()) == quiet
        assert [row.state for row in crawl.state().workers] == ["paused"] * workers
        assert crawl.state().is_paused
        resume(crawl.collection)
        assert wait(crawl.child, 120).code == 0
        assert set(web.log.fetched().values()) == {1}
        assert len(web.log.fetched()) == 600
        assert not crawl.state().is_running
        assert crawl.state().processes == []
    sound(tmp_path)


def test_the_delay_of_a_host_is_kept_across_a_pause(tmp_path: Path) -> None:
    with (
        TestWeb([mesh("a.test", 12)]) as web,
        crawling(web, tmp_path, "http://a.test/", POLITENESS__DELAY=0.5) as crawl,
    ):
        crawl.until_fetched(3)
        for _ in range(2):
            pause(crawl.collection)
            assert wait_until_obeyed(crawl.collection)
            resume(crawl.collection)
            assert wait_until_obeyed(crawl.collection)
        assert wait(crawl.child, 120).code == 0
        ends = [(one.finished or one.started, two.started) for one, two in pairwise(web.log.entries("a.test"))]
        assert min(later - earlier for earlier, later in ends) >= 0.49
        assert set(web.log.fetched().values()) == {1}
    sound(tmp_path)


def test_a_paused_crawl_with_nothing_left_is_not_finished(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 3)]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
        pause(open_collection(tmp_path))
        with crawling(web, tmp_path) as crawl:
            crawl.until_states("paused")
            time.sleep(WATCHED)
            assert crawl.child.poll() is None
            resume(crawl.collection)
            assert wait(crawl.child).code == 0
    sound(tmp_path)


@BOTH
def test_a_crawl_that_was_killed_while_paused_starts_paused(tmp_path: Path, workers: int) -> None:
    words = ["http://h0001.test/", "--scope-host", ".*"]
    with TestWeb(many_hosts(4, 20)) as web:
        with crawling(web, tmp_path, *words, workers=workers, POLITENESS__DELAY=0.1) as crawl:
            crawl.until_fetched(5)
            pause(crawl.collection)
            assert wait_until_obeyed(crawl.collection)
            crawl.until_quiet()
            time.sleep(0.3)  # for the commit
            crawl.kill()
            until(lambda: not crawl.state().is_running, "the end of the workers")
            assert {one.is_alive for one in crawl.state().processes} == {False}
        before = len(web.log.entries())
        with crawling(web, tmp_path, *words, workers=workers) as crawl:
            crawl.until_states("paused")
            time.sleep(WATCHED)
            assert len(web.log.entries()) == before
            resume(crawl.collection)
            assert wait(crawl.child, 120).code == 0
        assert set(web.log.fetched().values()) == {1}
        assert len(web.log.fetched()) == 80
    sound(tmp_path)


def test_a_pause_of_another_node_does_not_count(tmp_path: Path) -> None:
    collection = create_collection(tmp_path)
    with TestWeb([mesh("a.test", 3)]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
        pause(collection, node="another-machine")
        assert not crawl_state(collection).is_paused
        run_crawl(web, tmp_path)


# -- drain and stop ---------------------------------------------------------------------------------------------------


@BOTH
def test_a_drained_crawl_finishes_its_requests_and_ends(tmp_path: Path, workers: int) -> None:
    slow = {"/": Page(links=["/slow", "/2"]), "/slow": Page(delay=1.0), "/2": Page()}
    with (
        TestWeb([Site("a.test", slow)]) as web,
        crawling(web, tmp_path, "http://a.test/", workers=workers) as crawl,
    ):
        until(lambda: web.log.count("a.test", "/slow"), "the slow page")
        drain(crawl.collection)
        assert wait(crawl.child).code == 130
        assert not crawl.state().is_running
        assert wait_until_obeyed(crawl.collection)
    assert state_of(tmp_path, "http://a.test/slow")[0] == UrlState.DONE
    sound(tmp_path)


def test_a_stopped_crawl_drops_its_requests(tmp_path: Path) -> None:
    never = {"/": Page(links=["/slow"]), "/slow": Page(delay=100.0)}
    with (
        TestWeb([Site("a.test", never)]) as web,
        crawling(web, tmp_path, "http://a.test/", FETCH__TIMEOUT=90.0) as crawl,
    ):
        until(lambda: web.log.count("a.test", "/slow"), "the slow page")
        stop(crawl.collection)
        assert wait(crawl.child).code == 130
    assert state_of(tmp_path, "http://a.test/slow")[0] == UrlState.QUEUED
    sound(tmp_path)


def test_an_old_stop_does_not_stop_a_new_crawl(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 3)]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
        stop(open_collection(tmp_path))
        assert run_crawl(web, tmp_path, "http://a.test/").summary["fetched"] == 1, "the seed, given again"
