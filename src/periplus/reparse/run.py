"""Runs `reparse`: parses the planned segments and replaces each one in the catalog."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

from periplus.config import Settings
from periplus.reparse.plan import Plan
from periplus.reparse.reader_pool import read_all
from periplus.reparse.segment import Unread
from periplus.store.catalog import Catalog
from periplus.store.collection import Collection
from periplus.store.manifest import UNFINISHED_AGAIN, SealedSegment, place_of, segment_name

OnProgress = Callable[[int, int], None]  # called with the pages done and the pages in total
_MAX_LISTED = 100  # failures listed in the summary; more are only counted


@dataclass(frozen=True, slots=True)
class Reparsed:
    """What `reparse --json` prints."""

    segments: int
    pages: int
    seconds: float
    unread: int = 0  # pages that could not be parsed and keep their previous row
    reasons: list[Unread] = field(default_factory=list)  # the first 100 failures
    failed_extractors: dict[str, int] = field(default_factory=dict)  # number of pages by extractor


def reparse(
    collection: Collection,
    settings: Settings,
    *,
    everything: bool,
    on_progress: OnProgress = lambda _done, _total: None,
) -> Reparsed:
    """Parse again the pages that a crawl parsed quickly, or *everything*."""
    started = time.monotonic()
    unread: list[Unread] = []
    failed_extractors: Counter[str] = Counter()
    with collection.locked("reparse"), closing(Catalog(collection.catalog)) as catalog:
        _remove_leftovers(collection, catalog)
        plan = Plan(collection, catalog, settings, everything=everything)
        total, done = sum(segment.rows for segment in plan.segments), 0
        with _removing_unfinished(collection), closing(read_all(collection, settings, plan.segments)) as readings:
            for old, reading in readings:
                _replace(catalog, old, reading.successors)
                unread += reading.unread
                failed_extractors.update(reading.failed_extractors)
                done += old.rows
                on_progress(done, total)
        plan.finished()
    seconds = round(time.monotonic() - started, 3)
    pages = sum(entry.pages for entry in unread)
    return Reparsed(
        len(plan.segments), done, seconds, pages, unread[:_MAX_LISTED], dict(failed_extractors.most_common())
    )


def _replace(catalog: Catalog, pages: SealedSegment, new: list[SealedSegment]) -> None:
    stale = {"pages": pages.name, "links": pages.name.replace("pages", "links", 1)}
    catalog.replace_segments([(stale[segment.kind], segment) for segment in new])


@contextmanager
def _removing_unfinished(collection: Collection) -> Iterator[None]:
    """Remove incomplete files at the end of the block, because a killed reader process cannot."""
    try:
        yield
    finally:
        _remove_unfinished(collection)


def _remove_unfinished(collection: Collection) -> None:
    for leftover in collection.segments.glob(f"*{UNFINISHED_AGAIN}"):
        leftover.unlink()


def _remove_leftovers(collection: Collection, catalog: Catalog) -> None:
    """Remove incomplete and replaced files of earlier runs; a replaced file may still have been in use then."""
    _remove_unfinished(collection)
    for segment in catalog.segments():
        worker, number, revision = place_of(segment.name)
        for older in range(revision):
            (collection.segments / segment_name(segment.kind, worker, number, older)).unlink(missing_ok=True)
