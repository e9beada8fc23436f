"""Reads the best matches of a query; of those that equal the last one, the ones with the lowest document numbers.

tantivy orders equal matches by their places in its segments, and two builds of the same pages have different segments.
So some more matches than the limit are read, and many more when all of these equal the last one. Then document numbers
decide: they depend on the pages alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tantivy import DocAddress, Searcher, SearchResult

_SPARE_SHARE, _LEAST_SPARE = 0.25, 16  # of the limit, and matches, that are read in addition
_FACTOR = 4  # by which the number of matches grows until all that equal the last one are read
_MOST_READ = 10_000  # matches; of more equal ones, the order of the segments chooses


class BestHits(NamedTuple):
    """The best matches of a query, best first; the order of equal ones is that of the segments."""

    keys: list[float]  # scores, or values of the field that orders them
    addresses: list[DocAddress]
    total: int  # number of matches; 0: not counted


def best_hits(
    search: Callable[[int], SearchResult], searcher: Searcher, limit: int, number_fields: Sequence[str]
) -> BestHits:
    """The *limit* best matches; *search* returns as many as it is asked for, the highest keys first.

    The first of the *number_fields* has the number of the document, the others order equal matches of one document.
    """
    most = limit + max(int(limit * _SPARE_SHARE), _LEAST_SPARE)
    hits = (result := search(most)).hits  # tantivy makes the list anew each time
    while len(hits) == most < _MOST_READ and hits[limit - 1][0] == hits[-1][0]:
        most = min(_FACTOR * most, _MOST_READ)
        hits = (result := search(most)).hits
    keys, addresses = [key for key, _ in hits], [address for _, address in hits]
    if len(hits) > limit and keys[limit] == keys[limit - 1]:
        first = keys.index(keys[limit])
        equal = addresses[first : first + keys.count(keys[limit])]
        columns = [searcher.fast_field_values(name, equal) for name in number_fields]
        lowest = sorted(range(len(equal)), key=list(zip(*columns, strict=True)).__getitem__)
        addresses[first:] = [equal[place] for place in sorted(lowest[: limit - first])]
    return BestHits(keys[:limit], addresses[:limit], result.count or 0)  # type: ignore[attr-defined]  # missing in its stubs
