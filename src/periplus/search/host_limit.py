"""Limits how many results of one host a result page shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def limit_per_host(
    results: Sequence[T], host_of: Callable[[T], Hashable], per_host: int, size: int, before: Sequence[T] = ()
) -> Iterator[T]:
    """Reorders results: a page of *size* has at most *per_host* results of one host, as long as other hosts are left.

    Postponed results come first on the next page, so pages stay slices of one list. *before* are the results that
    the list already starts with; their last, incomplete page is filled first.
    """
    remaining = list(results)
    incomplete = before[len(before) - len(before) % size :]
    counts = Counter(map(host_of, incomplete))
    room = size - len(incomplete)
    while remaining:
        page: list[T] = []
        postponed: list[T] = []
        for position, result in enumerate(remaining):
            if len(page) == room:
                postponed += remaining[position:]
                break
            counts[host_of(result)] += 1
            (page if counts[host_of(result)] <= per_host else postponed).append(result)
        missing = room - len(page)
        yield from page
        yield from postponed[:missing]
        remaining, room = postponed[missing:], size
        counts.clear()
