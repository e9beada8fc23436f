"""Does the event loop of a worker keep budgets, scope and limits, and end on signals and errors?"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import Outcome, catalog_of, detail_of, environment, reach, run_crawl, sound, start, state_of, wait
from periplus.crawl.assignment import Budget, Ending
from periplus.crawl.visits.revisits import Revisits
from periplus.model import UrlState
from periplus.signals import handling
from periplus.store.catalog.batch import Batch
from periplus.store.catalog.catalog import Catalog
from testweb import Page, Site, TestWeb, chain, hostile, many_hosts, mesh, tree

EVERY = [".*"]


# -- budgets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pages", [1, 2, 7, 40])
def test_the_number_of_pages_is_reached_and_never_overshot(tmp_path: Path, pages: int) -> None:
    with TestWeb(many_hosts(8, 10)) as web:
        result = run_crawl(web, tmp_path, "http://h0001.test/", budget=Budget(pages=pages), scope__hosts=EVERY)
        assert sum(web.log.fetched().values()) == pages
    assert (result.ending, result.summary["fetched"]) == (Ending.BUDGET, pages)
    assert result.summary["queued"] == result.summary["known_urls"] - pages
    sound(tmp_path)


def test_runs_with_a_budget_add_up_to_a_whole_crawl(tmp_path: Path) -> None:
    with TestWeb(many_hosts(3, 10)) as web:
        endings = []
        for _ in range(4):
            result = run_crawl(web, tmp_path, "http://h0001.test/", budget=Budget(pages=9), scope__hosts=EVERY)
            endings.append((result.ending, result.summary["fetched"]))
        assert endings == [(Ending.BUDGET, 9)] * 3 + [(Ending.DONE, 3)]
        assert set(web.log.fetched().values()) == {1}
        assert len(web.log.fetched()) == 30
    sound(tmp_path)


def test_pages_that_fail_are_not_counted(tmp_path: Path) -> None:
    pages = {"/": Page(links=[f"/{n}" for n in range(9)])} | {f"/{n}": Page() for n in range(5, 9)}
    with TestWeb([Site("a.test", pages)]) as web:
        result = run_crawl(web, tmp_path, "http://a.test/", budget=Budget(pages=3))
    assert result.summary["fetched"] == 3


def test_time_ends_a_crawl_and_what_was_fetched_is_kept(tmp_path: Path) -> None:
    with TestWeb([chain("a.test", 10_000)]) as web:
        began = time.monotonic()
        result = run_crawl(
            web, tmp_path, "http://a.test/", budget=Budget(seconds=0.5), politeness__delay=0.02, scope__depth=9999
        )
        assert time.monotonic() - began < 20
        assert result.ending is Ending.BUDGET
        assert 0 < result.summary["fetched"] == sum(web.log.fetched().values())
    sound(tmp_path)


def test_after_the_time_limit_requests_under_way_have_a_second_to_finish(tmp_path: Path) -> None:
    stuck = Site("stuck.test", {"/": Page(handler=hostile.silence)})
    late = Site("late.test", {"/": Page(delay=0.9)})
    with TestWeb([stuck, late]) as web:
        began = time.monotonic()
        result = run_crawl(
            web, tmp_path, "http://stuck.test/", "http://late.test/", budget=Budget(seconds=0.5), fetch__timeout=30.0
        )
        assert time.monotonic() - began < 20
    assert (result.ending, result.summary["fetched"]) == (Ending.BUDGET, 1)
    assert state_of(tmp_path, "http://stuck.test/") == (UrlState.QUEUED, "seed")
    with catalog_of(tmp_path) as catalog:
        policy = catalog.policy("stuck.test")
    assert policy is not None
    assert policy.next_fetch > 0, "the next run keeps the delay"
    sound(tmp_path)


@pytest.mark.parametrize("pages", [2, 5, 6])
def test_a_crawl_stops_when_the_whole_collection_is_large_enough(tmp_path: Path, pages: int) -> None:
    with TestWeb([mesh("a.test", 20)]) as web:
        run_crawl(web, tmp_path, "http://a.test/", budget=Budget(pages=5))
        result = run_crawl(web, tmp_path, budget=Budget(until_pages=pages))
        assert sum(web.log.fetched().values()) == max(pages, 5)
    assert result.ending is Ending.BUDGET


def test_a_crawl_stops_when_the_whole_collection_has_so_many_bytes(tmp_path: Path) -> None:
    pages = {"/": Page(links=[f"/{n}" for n in range(50)])} | {f"/{n}": Page(size=10_000) for n in range(50)}
    with TestWeb([Site("a.test", pages)]) as web:
        run_crawl(web, tmp_path, "http://a.test/", budget=Budget(pages=4))
        result = run_crawl(web, tmp_path, budget=Budget(until_bytes=65_000, pages=40))
    assert result.ending is Ending.BUDGET
    with catalog_of(tmp_path) as catalog:
        assert 65_000 <= catalog.counters()["bytes"] < 80_000


def test_no_time_at_all_fetches_nothing(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 5)]) as web:
        result = run_crawl(web, tmp_path, "http://a.test/", budget=Budget(seconds=0))
        assert web.log.entries() == []
    assert (result.ending, result.summary["queued"]) == (Ending.BUDGET, 1)


def test_bytes_end_a_crawl(tmp_path: Path) -> None:
    pages = {"/": Page(links=[f"/{n}" for n in range(50)])} | {f"/{n}": Page(size=10_000) for n in range(50)}
    with TestWeb([Site("a.test", pages)]) as web:
        result = run_crawl(web, tmp_path, "http://a.test/", budget=Budget(bytes=45_000))
    assert result.ending is Ending.BUDGET
    assert 45_000 <= result.summary["bytes"] < 56_000  # one connection a host: one page more at most


# -- scope ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("depth", "pages"), [(0, 1), (1, 4), (2, 13)])
def test_links_are_followed_up_to_the_given_depth(tmp_path: Path, depth: int, pages: int) -> None:
    with TestWeb([tree("a.test", 3, 4)]) as web:
        result = run_crawl(web, tmp_path, "http://a.test/", scope__depth=depth)
        assert len(web.log.fetched()) == pages
    assert result.summary["refused"] == {"too_deep": 3 ** (depth + 1)}


def test_only_the_hosts_of_the_seeds_are_crawled_by_default(tmp_path: Path) -> None:
    with TestWeb(many_hosts(4, 10)) as web:
        run_crawl(web, tmp_path / "one", "http://h0001.test/")
        assert {entry.host for entry in web.log.entries()} == {"h0001.test"}
        web.log.clear()
        run_crawl(web, tmp_path / "two", "http://h0001.test/", scope__hosts=["h000[12].test"])
        assert {entry.host for entry in web.log.entries()} == {"h0001.test", "h0002.test"}


def test_a_host_pattern_has_to_match_the_whole_name(tmp_path: Path) -> None:
    pages = {"/": Page(links=["http://evil-a.test/", "http://a.test.evil.test/"])}
    with TestWeb([Site("a.test", pages), Site("*.test", {"/": Page()})]) as web:
        result = run_crawl(web, tmp_path, "http://a.test/", scope__hosts=["a.test"])
        assert {entry.host for entry in web.log.entries()} == {"a.test"}
    assert result.summary["refused"] == {"scope_host": 2}


def test_only_paths_in_scope_are_crawled(tmp_path: Path) -> None:
    links = ["/docs/a", "/docs/b?page=2", "/blog/a", "/?docs"]
    pages = {path: Page(links=links) for path in ("/docs/", *links)}
    with TestWeb([Site("a.test", pages)]) as web:
        result = run_crawl(web, tmp_path, "http://a.test/docs/", scope__paths=["^/docs/"])
        assert sorted(web.log.paths("a.test")) == ["/docs/", "/docs/a", "/docs/b?page=2", "/robots.txt"]
    assert result.summary["refused"] == {"scope_path": 6}


def test_a_narrower_scope_counts_for_urls_already_queued(tmp_path: Path) -> None:
    pages = {"/": Page(links=["/docs/1", "/docs/2", "/blog/1", "http://b.test/"]), "/docs/1": Page(), "/docs/2": Page()}
    with TestWeb([Site("a.test", pages), Site("b.test", {"/": Page()})]) as web:
        run_crawl(web, tmp_path, "http://a.test/", budget=Budget(pages=1), scope__hosts=["[ab].test"])
        web.log.clear()
        result = run_crawl(web, tmp_path, scope__hosts=["a.test"], scope__paths=["^/docs/"])
        assert web.log.paths("a.test") == ["/docs/1", "/docs/2"]
        assert web.log.entries("b.test") == []
    assert result.summary["refused"] == {"scope_host": 1, "scope_path": 1}
    assert state_of(tmp_path, "http://b.test/") == (UrlState.REFUSED, "scope_host")
    assert detail_of(tmp_path, "http://a.test/blog/1") == "'/blog/1' matches none of scope.paths"
    sound(tmp_path)


def test_links_to_known_urls_are_counted_and_nothing_else(tmp_path: Path) -> None:
    links = ["/", "/1", "/2", "/x.zip", "http://b.test/"]
    with TestWeb([Site("a.test", {path: Page(links=links) for path in ("/", "/1", "/2")})]) as web:
        result = run_crawl(web, tmp_path, "http://a.test/")
    assert result.summary["known_links"] == 1 + 3 + 3
    assert result.summary["refused"] == {"extension": 3, "scope_host": 3}
    with catalog_of(tmp_path) as catalog:
        assert catalog.refusals() == {"extension": 3, "scope_host": 3}


# -- many hosts at once -----------------------------------------------------------------------------------------------


def test_one_slow_host_delays_no_other(tmp_path: Path) -> None:
    quick = mesh("quick.test", 60)
    slow = Site("slow.test", {"/2": Page()})
    with TestWeb([slow, quick]) as web:
        late = hostile.held_until(lambda: web.log.count("quick.test") == 61, Page(links=["/2"]))
        slow.pages["/"] = Page(handler=late)
        run_crawl(web, tmp_path, "http://slow.test/", "http://quick.test/", fetch__timeout=30.0)
        waiting = next(entry for entry in web.log.entries("slow.test") if entry.path == "/")
        last = web.log.entries("quick.test")[-1]
        assert waiting.finished is not None
        assert last.started < waiting.finished
        assert web.log.paths("slow.test") == ["/robots.txt", "/", "/2"]


def test_no_more_requests_are_under_way_than_configured(tmp_path: Path) -> None:
    sites = [Site(f"h{n}.test", {"/": Page(delay=0.1)}) for n in range(9)]
    with TestWeb(sites) as web:
        run_crawl(web, tmp_path, *(f"http://h{n}.test/" for n in range(9)), fetch__concurrency=3)
        assert web.log.max_concurrent() == 3
        assert len(web.log.fetched()) == 9


def test_a_host_that_never_answers_does_not_keep_the_others_from_ending(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 5)]) as web, TestWeb() as dead:
        with dead.outage():
            rules = [f"dead.test:80:127.0.0.1:{dead.http_port}", *web.connect_to]
            began = time.monotonic()
            result = run_crawl(web, tmp_path, "http://dead.test/", "http://a.test/", fetch__connect_to=rules)
        assert time.monotonic() - began < 20
    assert (result.ending, result.failure, result.summary["fetched"]) == (Ending.DONE, None, 5)
    assert result.summary["errors"] == {"robots_connect": 1}
    assert state_of(tmp_path, "http://dead.test/")[0] == UrlState.QUEUED


def test_a_host_that_fails_too_often_is_parked_and_the_crawl_ends(tmp_path: Path) -> None:
    pages = {"/": Page(links=[f"/{n}" for n in range(30)])}
    pages |= {f"/{n}": Page(handler=hostile.hang_up) for n in range(30)}
    with TestWeb([Site("a.test", pages)]) as web:
        result = run_crawl(web, tmp_path, "http://a.test/", politeness__failures_to_park=5)
        assert web.log.count("a.test") < 20
    assert (result.ending, result.failure) == (Ending.DONE, None)
    assert result.summary["queued"] > 20
    sound(tmp_path)


def test_a_queue_larger_than_the_memory_for_it_is_crawled_whole(tmp_path: Path) -> None:
    pages = {"/": Page(links=[f"/{n}" for n in range(600)])} | {f"/{n}": Page(f"{n}") for n in range(600)}
    with TestWeb([Site("a.test", pages)]) as web:
        result = run_crawl(web, tmp_path, "http://a.test/", store__buffer_urls=64, store__commit_pages=16)
        assert set(web.log.fetched().values()) == {1}
    assert result.summary["fetched"] == 601
    sound(tmp_path)


# -- signals ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def slow_web() -> Iterator[TestWeb]:
    """Three hosts that answer after a while, so that something is always under way, and one that never does."""
    sites = many_hosts(3, 150)
    for site in sites:
        site.pages["/page/1"] = Page(delay=0.6, links=["/page/3"])
    stuck = Site("stuck.test", {"/": Page(handler=hostile.silence)})
    with TestWeb([*sites, stuck]) as web:
        yield web


def start_crawl(web: TestWeb, home: Path, *seeds: str, delay: float = 0.02) -> subprocess.Popen[str]:
    seeds = seeds or ("http://h0001.test/",)
    env = environment(politeness__delay=delay, store__commit_seconds=30, fetch__timeout=30)
    return start("crawl", *seeds, "--home", home, "--scope-host", ".*", "--json", *reach(web), env=env)


def stopped(child: subprocess.Popen[str], *signals: int, pause: float = 0.0) -> tuple[Outcome, float]:
    began = time.monotonic()
    for number in signals:
        child.send_signal(number)
        time.sleep(pause)
    return wait(child), time.monotonic() - began


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_ctrl_c_finishes_what_is_under_way_and_keeps_everything(
    slow_web: TestWeb, tmp_path: Path, number: int
) -> None:
    child = start_crawl(slow_web, tmp_path)
    slow_web.log.wait_for(30)
    outcome, took = stopped(child, number)
    assert outcome.code == 130
    assert outcome.complaint == (
        "periplus: stopped by the user. Everything fetched is kept; the same command continues."
    )
    assert took < 20  # and not the 30 seconds until the next commit
    answered = [entry for entry in slow_web.log.entries() if entry.path != "/robots.txt"]
    assert all(entry.complete for entry in answered)
    assert outcome.json["fetched"] == len(answered)
    with catalog_of(tmp_path) as catalog:
        assert catalog.counters()["fetched"] == len(answered)
        run = catalog.last_run()
    assert run is not None
    assert run["outcome"] == "interrupted"
    sound(tmp_path)
    second = wait(start_crawl(slow_web, tmp_path, delay=0))
    assert (second.code, second.json["fetched"]) == (0, 450 - len(answered))
    assert set(slow_web.log.fetched().values()) == {1}
    assert len(slow_web.log.fetched()) == 450
    sound(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("signals", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGINT)])
def test_a_second_ctrl_c_does_not_wait_for_what_is_under_way(
    slow_web: TestWeb, tmp_path: Path, signals: tuple[int, int]
) -> None:
    child = start_crawl(slow_web, tmp_path, "http://stuck.test/", "http://h0001.test/")
    slow_web.log.wait_for(30)
    outcome, took = stopped(child, *signals, pause=0.3)
    assert outcome.code == 130
    assert took < 20  # and not the 30 seconds of the host that never answers
    assert outcome.complaint.startswith("periplus: stopped by the user")
    with catalog_of(tmp_path) as catalog:
        assert catalog.counters()["fetched"] == outcome.json["fetched"] > 0
    assert state_of(tmp_path, "http://stuck.test/")[0] == UrlState.QUEUED
    sound(tmp_path)


def test_after_a_crawl_signal_handlers_are_as_before(tmp_path: Path) -> None:
    def answer(*_: object) -> None: ...

    with TestWeb([mesh("a.test", 1)]) as web, handling(answer):
        run_crawl(web, tmp_path, "http://a.test/")
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == [answer, answer]


@pytest.mark.slow
def test_one_ctrl_c_waits_for_a_response_that_is_under_way(tmp_path: Path) -> None:
    with TestWeb([Site("a.test", {"/": Page("Late", delay=1.0)})]) as web:
        child = start_crawl(web, tmp_path, "http://a.test/")
        web.log.wait_for(2)
        outcome, _ = stopped(child, signal.SIGINT)
    assert (outcome.code, outcome.json["fetched"]) == (130, 1)


@pytest.mark.slow
def test_the_delay_is_kept_even_when_the_run_before_was_killed(tmp_path: Path) -> None:
    """The killed run could not record its last request."""
    delay = 1.0
    env = environment(politeness__delay=delay, store__commit_seconds=30)
    command = ["crawl", "http://a.test/", "--home", str(tmp_path)]
    with TestWeb([mesh("a.test", 3)]) as web:
        for requests in (2, 3):
            child = start(*command, *reach(web), env=env)
            web.log.wait_for(requests)
            child.kill()
            wait(child)
        outcome = wait(start(*command, *reach(web), env=env))
        assert outcome.code == 0
        assert min(web.log.gaps("a.test")) >= delay - 0.1
        assert set(web.log.fetched()) == {f"http://a.test/{path}" for path in ("", "page/1", "page/2")}
    sound(tmp_path)


# -- a slow disk ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_slow_disk_slows_fetching_instead_of_filling_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick_sync, quick_commit = os.fsync, Catalog.commit
    batches: list[int] = []

    def slow_sync(descriptor: int) -> None:
        time.sleep(0.1)
        quick_sync(descriptor)

    def counted(catalog: Catalog, batch: Batch, *rest: Any) -> int:
        batches.append(len(batch.settled))
        return quick_commit(catalog, batch, *rest)

    monkeypatch.setattr(os, "fsync", slow_sync)
    monkeypatch.setattr(Catalog, "commit", counted)
    with TestWeb(many_hosts(8, 30)) as web:
        run_crawl(web, tmp_path, "http://h0001.test/", scope__hosts=EVERY, store__commit_pages=4, fetch__concurrency=8)
    assert sum(batches) == 240
    assert max(batches) <= 4 * 4 + 8, "four commits' worth, and what was under way when they were full"
    sound(tmp_path)


# -- an error of our own ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("calls", [0, 5])
def test_an_error_of_our_own_in_the_loop_ends_the_run_with_that_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    made: list[float] = []

    def failing(revisits: Revisits, now: float) -> None:
        made.append(now)
        if len(made) > calls:
            raise ValueError("a mistake of ours")

    monkeypatch.setattr(Revisits, "queue_due", failing)
    with TestWeb([mesh("a.test", 20)]) as web, pytest.raises(ValueError, match="a mistake of ours"):
        run_crawl(web, tmp_path, "http://a.test/", budget=Budget(seconds=20), politeness__delay=0.02)
    assert len(made) == calls + 1
    sound(tmp_path)
