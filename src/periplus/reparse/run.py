"""What does a second reading change, in order?"""

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
_NAMED = 100  # of what could not be read: more is only counted


@dataclass(frozen=True, slots=True)
class Reparsed:
    """What `reparse --json` prints."""

    segments: int
    pages: int
    seconds: float
    unread: int = 0  # pages that stay as they were, because they could not be read again
    reasons: list[Unread] = field(default_factory=list)  # the first of them
    failed_extractors: dict[str, int] = field(
        default_factory=dict
    )  # pages by the name of an extractor that failed over them


def reparse(
    collection: Collection,
    settings: Settings,
    *,
    everything: bool,
    on_progress: OnProgress = lambda _done, _total: None,
) -> Reparsed:
    """Read again the pages that were only skimmed, or *everything*."""
    started = time.monotonic()
    unread: list[Unread] = []
    failed_extractors: Counter[str] = Counter()
    with collection.locked("reparse"), closing(Catalog(collection.catalog)) as catalog:
        _sweep(collection, catalog)
        plan = Plan(collection, catalog, settings, everything=everything)
        total, done = sum(segment.rows for segment in plan.segments), 0
        with _sweeping_up(collection), closing(read_all(collection, settings, plan.segments)) as readings:
            for old, reading in readings:
                _replace(catalog, old, reading.successors)
                unread += reading.unread
                failed_extractors.update(reading.failed_extractors)
                done += old.rows
                on_progress(done, total)
        plan.finished()
    seconds = round(time.monotonic() - started, 3)
    pages = sum(entry.pages for entry in unread)
    return Reparsed(len(plan.segments), done, seconds, pages, unread[:_NAMED], dict(failed_extractors.most_common()))


def _replace(catalog: Catalog, pages: SealedSegment, new: list[SealedSegment]) -> None:
    stale = {"pages": pages.name, "links": pages.name.replace("pages", "links", 1)}
    catalog.replace_segments([(stale[segment.kind], segment) for segment in new])


@contextmanager
def _sweeping_up(collection: Collection) -> Iterator[None]:
    """Remove incomplete files when the block is left: a reader process that is killed cannot do so itself."""
    try:
        yield
    finally:
        _remove_unfinished(collection)


def _remove_unfinished(collection: Collection) -> None:
    for leftover in collection.segments.glob(f"*{UNFINISHED_AGAIN}"):
        leftover.unlink()


def _sweep(collection: Collection, catalog: Catalog) -> None:
    """Remove what earlier runs left: half-written files, and those replaced, which somebody may have been reading."""
    _remove_unfinished(collection)
    for segment in catalog.segments():
        worker, number, revision = place_of(segment.name)
        for older in range(revision):
            (collection.segments / segment_name(segment.kind, worker, number, older)).unlink(missing_ok=True)
