"""Groups the results of one host on a result page.

A result moves up under the first result of its host. It passes only results that are hardly better, so grouping never
buries a clearly better page. The API returns the results ungrouped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from periplus.model import Hit

# The default `crowding` holds a result back by at most 0.3; grouping brings it back by no more than that.
GROUP_MARGIN = 0.3
MOST_INDENTED = 3  # results below the first one of a group


class Grouped(NamedTuple):
    """A result and its place in a group."""

    hit: Hit
    is_indented: bool  # it follows a better result of the same host
    is_last: bool  # the last of a group with several results


def grouped(hits: Sequence[Hit]) -> list[Grouped]:
    """The results in the order in which they are shown; results of a single host stay as they are."""
    if len({hit.host for hit in hits}) < 2:
        return [Grouped(hit, is_indented=False, is_last=False) for hit in hits]
    waiting, shown = list(hits), list[Grouped]()
    while waiting:
        first = waiting.pop(0)
        group = [first, *_near(first, waiting)]
        waiting = [hit for hit in waiting if not any(hit is other for other in group)]
        last = len(group) - 1
        shown += [Grouped(hit, place > 0, place == last > 0) for place, hit in enumerate(group)]
    return shown


def _near(first: Hit, waiting: Sequence[Hit]) -> list[Hit]:
    """The results of the same host that pass no result which is better by more than the margin."""
    found: list[Hit] = []
    best_passed = float("-inf")
    for hit in waiting:
        if hit.host != first.host:
            best_passed = max(best_passed, hit.score)
        elif best_passed - hit.score <= GROUP_MARGIN and len(found) < MOST_INDENTED:
            found.append(hit)
        else:  # it stays where it is, and those after it must not pass it
            best_passed = max(best_passed, hit.score)
    return found
