"""Does a run stop when it has done enough, and not before?"""

from __future__ import annotations

import pytest

from periplus.crawl.budget import Budget


def test_without_limits_it_is_never_spent() -> None:
    assert Budget().spent(10**9, 10**15, 10**9) is None


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
    assert budget.spent(pages, size, seconds) == word


@pytest.mark.parametrize(
    ("budget", "pages", "size", "seconds"),
    [
        (Budget(pages=3), 2, 0, 999.0),
        (Budget(seconds=2.5), 10**6, 0, 2.4),
        (Budget(bytes=100), 10**6, 99, 999.0),
    ],
)
def test_a_limit_not_yet_reached_changes_nothing(budget: Budget, pages: int, size: int, seconds: float) -> None:
    assert budget.spent(pages, size, seconds) is None
