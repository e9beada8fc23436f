"""How fresh is a web that changes for weeks, and how many requests does that take?"""

from __future__ import annotations

from typing import Any

import pytest

from crawl.changing_web import DAY, ChangingWeb, crawl_for_days, report
from crawl.crawling import sound

DAYS, LEARNING = 50, 25
LONGEST = 8 * DAY


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> ChangingWeb:
    web = ChangingWeb(DAYS, 2, kinds=("daily", "weekly", "announced", "never", "gone"))
    home = tmp_path_factory.mktemp("crawl")
    crawl_for_days(web, home, recrawl__longest=LONGEST)
    sound(home)
    return web


@pytest.fixture(scope="module")
def figures(lived: ChangingWeb) -> dict[str, Any]:
    return report(lived, LEARNING)


def test_a_page_that_changes_daily_is_fetched_daily(lived: ChangingWeb) -> None:
    since = lived.calendar.begin + LEARNING * DAY
    for leaf in lived.of("daily"):
        assert max(leaf.gaps(since)) <= DAY
        versions = leaf.statuses(since).count(200)
        assert versions >= DAYS - LEARNING - 1  # each of them


def test_a_page_that_never_changes_costs_a_conditional_request_at_the_longest_interval(lived: ChangingWeb) -> None:
    since = lived.calendar.begin + LEARNING * DAY
    for leaf in lived.of("never"):
        assert leaf.statuses()[:1] == [200]
        assert set(leaf.statuses()[1:]) == {304}
        assert set(leaf.gaps(since)) == {LONGEST}


def test_a_page_that_is_gone_is_recrawled_at_the_longest_interval(lived: ChangingWeb) -> None:
    for leaf in lived.of("gone"):
        gone = next(when for when, status in leaf.visits if status == 404)
        assert set(leaf.gaps(gone)) == {LONGEST}


def test_a_page_whose_changes_are_in_a_sitemap_is_fresher_and_costs_less(figures: dict[str, Any]) -> None:
    announced, weekly = figures["kinds"]["announced"], figures["kinds"]["weekly"]
    assert announced["freshness"] > weekly["freshness"]
    assert announced["requests"] <= weekly["requests"]


def test_freshness_and_requests_beside_an_oracle(figures: dict[str, Any]) -> None:
    """The oracle knows when pages change: it is always current, with one request per change."""
    kinds = figures["kinds"]
    for kind in ("daily", "weekly"):
        assert kinds[kind]["freshness"] >= 0.7
        assert kinds[kind]["requests"] <= 3.5 * kinds[kind]["oracle_requests"]
    assert kinds["never"]["freshness"] == 1.0
    assert figures["freshness"] >= 0.85
    assert figures["freshness"] > figures["evenly_freshness"]  # the same requests, spread without looking
