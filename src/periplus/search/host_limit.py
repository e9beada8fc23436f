"""How much of a result page may one host take?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def limit_per_host(
    results: Sequence[T], host_of: Callable[[T], Hashable], per_host: int, size: int, before: Sequence[T] = ()
) -> Iterator[T]:
    """The same results, reordered so that a page of *size* holds at most *per_host* of one host while others are left.

    What is held back heads the next page, so pages stay slices of one list. *before* is what the list begins with
    already: its last, unfinished page is filled first.
    """
    waiting = list(results)
    begun = before[len(before) - len(before) % size :]
    counts = Counter(map(host_of, begun))
    room = size - len(begun)
    while waiting:
        page: list[T] = []
        held: list[T] = []
        for position, result in enumerate(waiting):
            if len(page) == room:
                held += waiting[position:]
                break
            counts[host_of(result)] += 1
            (page if counts[host_of(result)] <= per_host else held).append(result)
        missing = room - len(page)
        yield from page
        yield from held[:missing]
        waiting, room = held[missing:], size
        counts.clear()
