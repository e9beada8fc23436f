"""Searches the images and videos of pages of all shards.

Words and operators of the query apply to the image: `site:`, `lang:`, `filetype:` and dates to its page, phrases and
excluded words to its texts. Images with all words come first. An image that several pages show is found once, on the
page where it scores best.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from periplus.errors import UsageError
from periplus.index.documents.media import COLUMNS
from periplus.model import MediaHit, MediaResults
from periplus.search.interpret import Interpreter, Mode, Search, checked_page
from periplus.search.missing_shards import CompleteCache
from periplus.search.shards.counts import ShardCounts
from periplus.search.shards.group import TrackedShards
from periplus.search.shards.media_matches import ENOUGH, MOST_MEDIA
from periplus.search.shards.port import MediaMatch

_CACHED_COUNTS = 1_000  # queries
_ROUNDING = 2e-6  # of scores that one index would compute as equal


class _Found(NamedTuple):
    match: MediaMatch
    shard: int


class _Matches(NamedTuple):
    """The best images or videos of a query, each once, best first."""

    found: list[_Found]
    is_complete: bool  # False: there are more matches than were read


class MediaSearch:
    """Searches the images and videos of one generation; one of an earlier release has none."""

    def __init__(self, group: TrackedShards, counts: ShardCounts, interpreter: Interpreter) -> None:
        self._group, self._counts, self._interpreter = group, counts, interpreter
        self._cached_counts = CompleteCache[tuple[str, str, str], int](_CACHED_COUNTS)

    def search(self, query: str, kind: str, *, page: int, size: int, mode: str) -> MediaResults:
        """One page of images or videos."""
        checked_page(page, size)
        started = time.perf_counter()
        matches = self._matches(query, kind, mode)
        hits = self._hits(matches.found[(page - 1) * size : page * size], kind)
        return MediaResults(len(matches.found), matches.is_complete, time.perf_counter() - started, hits)

    def count(self, query: str, kind: str, *, mode: str) -> int:
        """The number of images or videos that match, as far as they are counted."""
        return self._cached_counts.get((query, kind, mode), lambda: len(self._matches(query, kind, mode).found))

    def _matches(self, query: str, kind: str, mode: str) -> _Matches:
        if kind not in COLUMNS:
            raise UsageError(f"unknown kind: {kind}", f"it must be one of {', '.join(COLUMNS)}")
        search = self._interpreter.begun(query, mode, verbatim=True)
        return _Matches([], is_complete=True) if search is None else self._merged(search, kind)

    def _merged(self, search: Search, kind: str) -> _Matches:
        request = self._counts.media_request(search)
        answers = self._group.ask(lambda shard: shard.media(request, kind))
        whole = _best({shard: found.whole for shard, found in answers.items()})
        all_whole = all(found.whole_is_complete for found in answers.values()) and len(whole) <= MOST_MEDIA
        is_enough = len(whole) >= ENOUGH and search.mode is not Mode.OR
        if search.needs_all_words or is_enough:
            return _Matches(whole[:MOST_MEDIA], all_whole)
        partial = _best({shard: found.partial for shard, found in answers.items()})
        all_partial = all(found.partial_is_complete for found in answers.values()) and len(partial) <= MOST_MEDIA
        both = {one.match.key: one for one in chain(whole[:MOST_MEDIA], partial[:MOST_MEDIA])}
        return _Matches(list(both.values()), all_partial)

    def _hits(self, found: list[_Found], kind: str) -> tuple[MediaHit, ...]:
        """Images or videos as results; those of missing shards are left out."""
        if not found:
            return ()
        wanted = [one.match for one in found]
        answers = self._group.ask(lambda shard: shard.media_hits(kind, wanted), {one.shard for one in found})
        made = {shard: iter(hits) for shard, hits in answers.items()}
        return tuple(next(made[one.shard]) for one in found if one.shard in made)


def _best(answers: Mapping[int, Sequence[MediaMatch]]) -> list[_Found]:
    """Each image once, best first, by shard; the matches of one shard are in this order already.

    As in one index, of equal scores that of the page with the lower number is first. A score of a shard is corrected by
    a factor, so equal ones may differ in their last digit.
    """
    found = [_Found(one, shard) for shard, matches in answers.items() for one in matches]
    if len(answers) == 1 or not found:
        return found
    scores = np.array([one.match.score for one in found])
    order = np.argsort(-scores)
    is_lower = np.diff(scores[order]) < -_ROUNDING * scores[order][:-1]
    levels = np.empty(len(found), np.int64)
    levels[order] = np.concatenate([[0], np.cumsum(is_lower)])
    numbers, places = (np.array([getattr(one.match, name) for one in found]) for name in ("number", "place"))
    best: dict[int, _Found] = {}
    for place in np.lexsort((places, numbers, levels)).tolist():
        best.setdefault(found[place].match.key, found[place])
    return list(best.values())
