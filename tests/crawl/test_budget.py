"""Does a run stop when it has done enough, and not before?"""

from __future__ import annotations

import pytest

from periplus.crawl.budget import Budget
from periplus.crawl.tally import Tally

START = 1_000.0


def tally(pages: int = 0, size: int = 0) -> Tally:
    return Tally(run_id=1, started=START, fetched=pages, bytes=size)


def test_without_limits_it_is_never_spent() -> None:
    busy = tally(pages=10**9, size=10**15)
    assert Budget().spent(busy, START + 10**9) is None
    assert Budget().allows_another(busy, under_way=64)


@pytest.mark.parametrize(
    ("budget", "so_far", "seconds", "word"),
    [
        (Budget(pages=3), tally(pages=3), 0.0, "3 pages"),
        (Budget(seconds=2.5), tally(), 2.5, "2.5 seconds"),
        (Budget(seconds=0), tally(), 0.0, "0 seconds"),
        (Budget(bytes=100), tally(size=101), 0.0, "100 bytes"),
        (Budget(pages=9, bytes=100), tally(pages=2, size=100), 0.0, "100 bytes"),
    ],
)
def test_a_reached_limit_is_named(budget: Budget, so_far: Tally, seconds: float, word: str) -> None:
    assert budget.spent(so_far, START + seconds) == word


@pytest.mark.parametrize(
    ("budget", "so_far", "seconds"),
    [
        (Budget(pages=3), tally(pages=2), 999.0),
        (Budget(seconds=2.5), tally(pages=10**6), 2.4),
        (Budget(bytes=100), tally(pages=10**6, size=99), 999.0),
    ],
)
def test_a_limit_not_yet_reached_changes_nothing(budget: Budget, so_far: Tally, seconds: float) -> None:
    assert budget.spent(so_far, START + seconds) is None


def test_fetches_under_way_count_as_pages_so_that_the_number_is_never_overshot() -> None:
    budget = Budget(pages=10)
    assert budget.allows_another(tally(pages=4), under_way=5)
    assert not budget.allows_another(tally(pages=4), under_way=6)
    assert not budget.allows_another(tally(pages=10), under_way=0)
