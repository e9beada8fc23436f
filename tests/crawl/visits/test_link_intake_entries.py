"""Are entry URLs fetched again for new links whenever the queue is empty?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import catalog_of, segment_rows, settings_for, sound
from periplus.crawl.assignment import Budget, Ending
from periplus.crawl.run import Request, Result, crawl
from periplus.inspector.url_report import url_history
from testweb import Page, Site, TestWeb, hostile

RANDOM = "http://a.test/random"


def enter(web: TestWeb, home: Path, *seeds: str, entry: str = RANDOM, **more: Any) -> Result:
    budget, workers = more.pop("budget", Budget()), more.pop("workers", 1)
    return crawl(Request(home, settings_for(web, **more), seeds, budget, workers, entries=[entry]))


def lottery(pages: int, **more: Page) -> Site:
    """A site of pages without links: only the entry URL leads from one to the next, in turn."""
    found = {f"/{n}": Page(f"Island {n}", links=["/random"]) for n in range(pages)}
    draws = Page(handler=hostile.in_turn(*(Page(redirect=f"/{n % pages}") for n in range(10 * pages + 100))))
    return Site("a.test", found | {"/random": draws} | {f"/{path}": page for path, page in more.items()})


@pytest.mark.parametrize("workers", [1, 2])
def test_an_entry_is_fetched_again_whenever_the_queue_is_empty(tmp_path: Path, workers: int) -> None:
    with TestWeb([lottery(30)]) as web:
        result = enter(web, tmp_path, budget=Budget(pages=12), workers=workers)
        assert set(web.log.fetched()) - {RANDOM} == {f"http://a.test/{n}" for n in range(12)}
        assert web.log.count("a.test", "/random") == 12
    assert (result.ending, result.summary["fetched"]) == (Ending.BUDGET, 12)
    sound(tmp_path)


def test_an_entry_is_never_a_page_and_no_link_to_it_is_followed(tmp_path: Path) -> None:
    with TestWeb([lottery(5)]) as web:
        enter(web, tmp_path, budget=Budget(pages=5))
    assert {row["url"] for row in segment_rows(tmp_path, "pages")} == {f"http://a.test/{n}" for n in range(5)}
    with catalog_of(tmp_path) as catalog:
        assert catalog.url(RANDOM) is None
        visits = catalog.fetches_of(RANDOM)
        assert catalog.counters() == catalog.recount()
        found = url_history(catalog, settings_for(None), RANDOM)
    assert [visit.redirect_to for visit in visits] == [f"http://a.test/{n}" for n in range(5)]
    assert (found["known"], found["reason"], len(found["fetches"])) == (False, "entry", 5)


def test_the_links_of_an_entry_are_followed_but_it_is_not_indexed(tmp_path: Path) -> None:
    picks = Page(handler=hostile.in_turn(*(Page(f"Pick {n}", links=[f"/{n}"]) for n in range(9))))
    site = Site("a.test", {"/random": picks} | {f"/{n}": Page() for n in range(9)})
    with TestWeb([site]) as web:
        result = enter(web, tmp_path, budget=Budget(pages=4))
    assert result.summary["fetched"] == 4
    assert RANDOM not in {row["url"] for row in segment_rows(tmp_path, "pages")}
    with catalog_of(tmp_path) as catalog:
        decisions = {visit.decision for visit in catalog.fetches_of(RANDOM)}
    assert [(decision.verdict, decision.reason) for decision in decisions] == [("read", "entry")]
    sound(tmp_path)


def test_seeds_come_before_entries(tmp_path: Path) -> None:
    with TestWeb([lottery(3, seed=Page(links=["/next"]), next=Page())]) as web:
        enter(web, tmp_path, "http://a.test/seed", budget=Budget(pages=3))
        assert web.log.paths("a.test") == ["/robots.txt", "/seed", "/next", "/random", "/0"]


def test_a_crawl_ends_when_its_entry_brings_nothing_new_for_long(tmp_path: Path) -> None:
    with TestWeb([lottery(3)]) as web:
        result = enter(web, tmp_path)
        assert 20 <= web.log.count("a.test", "/random") - 3 <= 22
    assert (result.ending, result.failure, result.summary["fetched"]) == (Ending.DONE, None, 3)
    sound(tmp_path)


@pytest.mark.parametrize("page", [Page(status=404), Page(status=503), Page(handler=hostile.hang_up)])
def test_a_crawl_ends_when_its_entry_keeps_failing(tmp_path: Path, page: Page) -> None:
    with TestWeb([Site("a.test", {"/random": page})]) as web:
        result = enter(web, tmp_path, politeness__longest_backoff=1, politeness__failures_to_park=5)
        assert web.log.count("a.test", "/random") <= 21
    assert result.failure is not None
    with catalog_of(tmp_path) as catalog:
        assert catalog.counters() == catalog.recount()


def test_robots_txt_may_forbid_an_entry(tmp_path: Path) -> None:
    site = Site("a.test", {"/random": Page(redirect="/1")}, robots="User-agent: *\nDisallow: /random")
    with TestWeb([site]) as web:
        enter(web, tmp_path)
        assert web.log.paths("a.test") == ["/robots.txt"]
    with catalog_of(tmp_path) as catalog:
        assert catalog.counters() == catalog.recount()
