"""Does a budget end a run at its limit, and not before?"""

from __future__ import annotations

import pytest

from periplus.crawl.assignment import Budget


def test_without_limits_it_is_never_spent() -> None:
    assert Budget().limit_reached(10**9, 10**15, 10**9) is None


@pytest.mark.parametrize(
    ("budget", "pages", "size", "seconds", "word"),
    [
        (Budget(pages=3), 3, 0, 0.0, "3 pages"),
        (Budget(seconds=2.5), 0, 0, 2.5, "2.5 seconds"),
        (Budget(seconds=0), 0, 0, 0.0, "0 seconds"),
        (Budget(bytes=100), 0, 101, 0.0, "100 bytes"),
        (Budget(pages=9, bytes=100), 2, 100, 0.0, "100 bytes"),
    ],
)
def test_a_reached_limit_is_named(budget: Budget, pages: int, size: int, seconds: float, word: str) -> None:
    assert budget.limit_reached(pages, size, seconds) == word


@pytest.mark.parametrize(
    ("budget", "pages", "size", "seconds"),
    [
        (Budget(pages=3), 2, 0, 999.0),
        (Budget(seconds=2.5), 10**6, 0, 2.4),
        (Budget(bytes=100), 10**6, 99, 999.0),
    ],
)
def test_a_limit_not_yet_reached_changes_nothing(budget: Budget, pages: int, size: int, seconds: float) -> None:
    assert budget.limit_reached(pages, size, seconds) is None


@pytest.mark.parametrize(
    ("budget", "pages", "size"),
    [
        (Budget(), None, None),
        (Budget(pages=5, bytes=7), 5, 7),
        (Budget(until_pages=10, until_bytes=100), 6, 70),
        (Budget(pages=5, until_pages=10), 5, None),
        (Budget(pages=9, until_pages=10), 6, None),
        (Budget(until_pages=4, until_bytes=20), 0, 0),
        (Budget(until_pages=2), 0, None),
    ],
)
def test_a_limit_for_the_collection_leaves_what_it_does_not_hold_yet(
    budget: Budget, pages: int | None, size: int | None
) -> None:
    found = budget.for_collection(pages=4, size=30)
    assert (found.pages, found.bytes) == (pages, size)


def test_what_is_left_after_a_part_of_a_run() -> None:
    assert Budget(pages=9, seconds=5, bytes=100).remaining(4, 30, 2.0) == Budget(pages=5, seconds=3.0, bytes=70)
    assert Budget(pages=9, seconds=5, bytes=100).remaining(10, 101, 6.0) == Budget(pages=0, seconds=0.0, bytes=0)
    assert Budget().remaining(10, 101, 6.0) == Budget()


@pytest.mark.parametrize(
    ("budget", "left"),
    [
        (Budget(), None),
        (Budget(pages=100), 30.0),
        (Budget(seconds=25), 15.0),
        (Budget(pages=100, seconds=25), 15.0),
        (Budget(bytes=1000), 0.0),
        (Budget(until_pages=100), None),
    ],
)
def test_the_time_left_is_that_of_the_limit_reached_first(budget: Budget, left: float | None) -> None:
    assert budget.seconds_left(pages=25, size=2000, seconds=10.0) == left


def test_before_the_first_page_there_is_no_estimate() -> None:
    assert Budget(pages=100).seconds_left(0, 0, 1.0) is None
