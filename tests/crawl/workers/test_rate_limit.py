"""A worker starts no more pages a second than it is allowed."""

from __future__ import annotations

import math

import pytest

from periplus.crawl.workers.rate_limit import RateLimit


def started(limit: RateLimit, begin: float, end: float) -> int:
    """How many pages start when the worker tries a thousand times a second."""
    pages, now = 0, begin
    while now < end:
        while limit.allows(now):
            limit.take()
            pages += 1
        now += 0.001
    return pages


@pytest.mark.parametrize("rate", [0.5, 3.0, 40.0])
def test_pages_start_at_the_rate(rate: float) -> None:
    limit = RateLimit()
    limit.set(rate, 100.0)
    assert rate * 20 - 1 <= started(limit, 100.0, 120.0) <= rate * 20 + 2


def test_without_a_rate_every_page_may_start() -> None:
    limit = RateLimit()
    limit.set(None, 1.0)
    assert all(limit.allows(1.0) for _ in range(100))
    assert limit.next_start() == 1.0


def test_a_rate_of_zero_starts_nothing_more() -> None:
    limit = RateLimit()
    limit.set(0.0, 1.0)
    assert started(limit, 1.0, 5.0) <= 1
    assert limit.next_start() == math.inf


def test_unused_seconds_are_made_up_for_only_in_part() -> None:
    limit = RateLimit()
    limit.set(10.0, 0.0)
    assert limit.allows(60.0)
    assert started(limit, 60.0, 60.001) == 10


def test_the_next_page_starts_when_its_token_is_there() -> None:
    limit = RateLimit()
    limit.set(2.0, 10.0)
    assert limit.allows(10.0)
    limit.take()
    assert not limit.allows(10.1)
    assert limit.next_start() == pytest.approx(10.5)
