"""How much of a result page may one host take?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def spread(results: Sequence[T], host_of: Callable[[T], str], per_host: int, size: int) -> list[T]:
    """The same results, reordered so that a page of *size* holds at most *per_host* of one host while others are left.

    What is held back heads the next page, so pages stay slices of one list.
    """
    spread_out: list[T] = []
    waiting = list(results)
    while waiting:
        page: list[T] = []
        held: list[T] = []
        counts: Counter[str] = Counter()
        for position, result in enumerate(waiting):
            if len(page) == size:
                held += waiting[position:]
                break
            counts[host_of(result)] += 1
            (page if counts[host_of(result)] <= per_host else held).append(result)
        missing = size - len(page)
        spread_out += page + held[:missing]
        waiting = held[missing:]
    return spread_out
