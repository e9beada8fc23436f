"""Reads the best matches of a query; of those that equal the last one, the ones with the lowest document numbers.

tantivy orders equal matches by their places in its segments, and two builds of the same pages have different segments.
So some more matches than the limit are read, and many more when all of these equal the last one. Then document numbers
decide: they depend on the pages alone.

Between windows of 10,000 matches the order of the segments decides. Windows do not depend on the limit: the matches of
a lower limit are always the first ones of a higher limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tantivy import DocAddress, Searcher, SearchResult

_SPARE_SHARE, _LEAST_SPARE = 0.25, 16  # of the limit, and matches, that are read in addition
_WINDOW = 10_000  # matches; a search for them takes about 4 ms longer than one for the best 10


class BestHits(NamedTuple):
    """The best matches of a query, best first; within a window equal ones are in the order of their numbers."""

    keys: NDArray[np.float64]  # scores, or values of the field that orders them
    addresses: list[DocAddress]
    numbers: list[NDArray[np.int64]]  # the values of each of the number fields
    total: int  # number of matches; 0: not counted


def best_hits(
    search: Callable[[int], SearchResult], searcher: Searcher, limit: int, number_fields: Sequence[str]
) -> BestHits:
    """The *limit* best matches; *search* returns as many as it is asked for, the highest keys first.

    The first of the *number_fields* has the number of the document, the others order equal matches of one document.
    """
    hits, total = _read(search, limit)
    keys = np.array([key for key, _ in hits], np.float64)
    keys = keys[keys >= keys[limit - 1]] if len(hits) > limit else keys
    addresses = [address for _, address in hits[: len(keys)]]
    columns = [np.array(searcher.fast_field_values(name, addresses), np.int64) for name in number_fields]
    windows = np.arange(len(keys)) // _WINDOW
    order = np.lexsort((*reversed(columns), windows, -keys))[:limit]
    numbers = [column[order] for column in columns]
    return BestHits(keys[order], [addresses[place] for place in order.tolist()], numbers, total)


def _read(search: Callable[[int], SearchResult], limit: int) -> tuple[list[tuple[float, DocAddress]], int]:
    """The best matches, at least those in the window of the last one that equal it; and the number of all matches."""
    end = math.ceil(limit / _WINDOW) * _WINDOW
    most = min(limit + max(int(limit * _SPARE_SHARE), _LEAST_SPARE), end)
    hits = (result := search(most)).hits  # tantivy makes the list anew each time
    if len(hits) == most < end and hits[limit - 1][0] == hits[-1][0]:
        hits = (result := search(end)).hits
    return hits, result.count or 0  # type: ignore[attr-defined]  # missing in its stubs
