"""When does the builder update the index, compute ranks, and write the whole index anew?

An update costs a fixed time, however few pages it adds. So updates come at intervals that grow with that time, yet
early enough that the oldest page that waits becomes searchable within its deadline. A rebuild refreshes what updates
leave as it is: word vectors, phrases, the words for spelling, anchor texts. It happens when the crawl is quiet, or so
rarely that it takes a fortieth of the time.
"""

from __future__ import annotations

from dataclasses import dataclass

DEADLINE = 40.0  # seconds from fetch to searchable that the builder aims at; the promise is 60
_SHORTEST, _LONGEST = 4.0, 30.0  # seconds between two updates
_TIMES_OVERHEAD = 20.0  # the interval divided by the fixed time of an update
_TIMES_UPDATE = 2.0  # the interval divided by the time of the last update, which is long on a busy machine
_OVERHEAD, _OVERHEAD_PER_DOCUMENT = 0.3, 2e-5  # seconds; measured with bench/live.py
_TIMES_REBUILD = 40.0  # the time between two rebuilds of a busy collection divided by that of a rebuild
_REBUILD_PER_DOCUMENT = 2.5e-3  # seconds, before the first one was measured
_QUIET_SECONDS = 30.0  # without a new page
_GROWTH = 0.2  # by which the pages have grown when ranks are computed again
_SHORTEST_RANKS, _TIMES_RANKS = 60.0, 30.0  # seconds between two computations; the same divided by that of one
_NEW_SHARE = 0.33  # of the documents are newer than the last rebuild when there is another one
_USUAL_SPEED = 100.0  # pages per second, before it was measured
_MOST_SEGMENTS = 64  # before they are merged


@dataclass(frozen=True, slots=True)
class Situation:
    """What the builder knows when it decides; times are monotonic seconds."""

    now: float
    waiting: int  # pages in segments that are not searchable yet
    oldest_age: float  # seconds since the first of them was fetched
    quiet_since: float  # when the last page arrived
    documents: int  # searchable


@dataclass(slots=True)
class Rhythm:
    """Remembers when each step was last done and what it cost."""

    started: float
    updated: float = 0.0  # end of the last update
    update_seconds: float = 0.0  # of the last one, without parsing
    pages_per_second: float = 0.0  # that the builder makes searchable while it works; 0: not known yet
    ranked: float = 0.0
    rank_seconds: float = 0.0
    ranked_pages: int = 0
    rebuilt: float = 0.0
    rebuild_per_document: float = _REBUILD_PER_DOCUMENT
    rebuilt_documents: int = 0
    has_new_ranks: bool = False  # since the last rebuild

    def is_update_due(self, found: Situation) -> bool:
        """Whether the waiting pages are added to the index now."""
        if not found.waiting:
            return False
        if not found.documents:
            return True
        overhead = _OVERHEAD + _OVERHEAD_PER_DOCUMENT * found.documents
        interval = max(_TIMES_OVERHEAD * overhead, _TIMES_UPDATE * self.update_seconds, _SHORTEST)
        if found.now - self.updated >= min(interval, _LONGEST):
            return True
        return found.oldest_age + self.expected_seconds(found.waiting, found.documents) >= DEADLINE

    def expected_seconds(self, pages: int, documents: int) -> float:
        """How long it takes to make so many pages searchable."""
        return _OVERHEAD + _OVERHEAD_PER_DOCUMENT * documents + pages / (self.pages_per_second or _USUAL_SPEED)

    def is_rank_due(self, found: Situation) -> bool:
        """Whether ranks are computed again: the pages have grown, and the last time was long enough ago."""
        if found.documents <= self.ranked_pages * (1 if self._is_quiet(found) else 1 + _GROWTH):
            return False
        pause = max(_SHORTEST_RANKS, _TIMES_RANKS * self.rank_seconds)
        return self._is_quiet(found) or found.now - (self.ranked or self.started) >= pause

    def is_rebuild_due(self, found: Situation) -> bool:
        """Whether everything is written anew."""
        if found.waiting or not found.documents:
            return False
        grown = found.documents - self.rebuilt_documents
        if grown < _NEW_SHARE * found.documents and not (self.has_new_ranks and self._is_quiet(found)):
            return False
        pause = _TIMES_REBUILD * self.rebuild_per_document * found.documents
        return self._is_quiet(found) or found.now - (self.rebuilt or self.started) >= pause

    def is_compaction_due(self, segments: int) -> bool:
        """Whether small segments are merged."""
        return segments > _MOST_SEGMENTS

    def _is_quiet(self, found: Situation) -> bool:
        return not found.waiting and found.now - max(found.quiet_since, self.updated) >= _QUIET_SECONDS

    # -- what was done ------------------------------------------------------------------------------------------------

    def note_update(self, end: float, pages: int, seconds: float, parsing: float) -> None:
        """An update with this many new pages has ended after *seconds*; they took *parsing* seconds before."""
        self.updated, self.update_seconds = end, seconds
        if pages:
            speed = pages / (seconds + parsing)
            self.pages_per_second = speed if not self.pages_per_second else (self.pages_per_second + speed) / 2

    def note_rank(self, end: float, seconds: float, pages: int) -> None:
        """Ranks of this many pages were computed."""
        self.ranked, self.rank_seconds, self.ranked_pages, self.has_new_ranks = end, seconds, pages, True

    def note_refresh(self, documents: int) -> None:
        """Only the documents with other ranks or anchor texts were written again."""
        self.rebuilt_documents, self.has_new_ranks = documents, False

    def note_rebuild(self, end: float, seconds: float, documents: int) -> None:
        """The whole index was written anew."""
        self.rebuilt = self.updated = end
        self.rebuilt_documents, self.has_new_ranks = documents, False
        self.rebuild_per_document = seconds / documents if documents else _REBUILD_PER_DOCUMENT


def rate_limit(waiting: int, pages_per_second: float, oldest_age: float) -> float | None:
    """The pages per second that the crawl may fetch, so that pages do not wait too long; None: no limit.

    *waiting*: all acknowledged pages that are not searchable. *pages_per_second*: that the builder makes searchable; 0:
    not known yet.
    """
    pages_per_second = pages_per_second or _USUAL_SPEED
    seconds = max(waiting / pages_per_second, oldest_age - DEADLINE / 2)
    if seconds < DEADLINE / 2:
        return None
    share = 0.9 if seconds < 0.75 * DEADLINE else 0.6 if seconds < DEADLINE else 0.3
    return round(max(share * pages_per_second, 1.0), 1)
