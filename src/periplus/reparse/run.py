"""Runs `reparse`: parses the planned segments and replaces each one in the catalog."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from pyarrow import parquet

from periplus.config import Settings
from periplus.errors import DamagedFile, PartialFailure, PeriplusError
from periplus.reparse.distributed import read_distributed
from periplus.reparse.plan import Plan, PlannedSegment
from periplus.reparse.reader_pool import ReaderPool, local_reader, read_all
from periplus.reparse.segment import Cause, Reading, Unread
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.open_catalog import open_catalog, require_sound
from periplus.store.cleanup import remove_replaced, remove_unfinished
from periplus.store.collection import Collection
from periplus.store.fleet_files.job_files import (
    borrowing_archives,
    bring_segments,
    delete_replaced_segments,
    store_segments,
)
from periplus.store.manifest import SealedSegment
from periplus.store.task_runner import TaskRunner

OnProgress = Callable[[int, int], None]  # called with the pages done and the pages in total
_MAX_LISTED = 100  # failures listed in the summary; more are only counted


@dataclass(frozen=True, slots=True)
class Reparsed:
    """What `reparse --json` prints."""

    segments: int
    pages: int
    seconds: float
    unread: int = 0  # pages that could not be parsed and keep their previous row
    causes: dict[str, int] = field(default_factory=dict)  # number of those pages by cause
    reasons: list[Unread] = field(default_factory=list)  # the first 100 failures; damaged segments come first
    failed_extractors: dict[str, int] = field(default_factory=dict)  # number of pages by extractor

    def failure(self) -> PeriplusError | None:
        """The error that reports damaged files; None when every segment and archive record was readable."""
        damaged = [entry.why for entry in self.reasons if entry.cause is Cause.SEGMENT]
        if damaged:
            return DamagedFile(f"{damaged[0]}{_and_others(len(damaged) - 1)}")
        if pages := self.causes.get(Cause.RECORD):
            first = next(entry.why for entry in self.reasons if entry.cause is Cause.RECORD)
            counted = "1 page" if pages == 1 else f"{pages:,} pages"
            hint = "Their previous text is kept. `periplus repair` replaces damaged records."
            return PartialFailure(f"{counted} could not be read from the archive", first, hint)
        return None


def reparse(
    collection: Collection,
    settings: Settings,
    *,
    everything: bool,
    on_progress: OnProgress = lambda _done, _total: None,
    pool: ReaderPool | None = None,
    most: int | None = None,
    runner: TaskRunner | None = None,
) -> Reparsed:
    """Parse again the pages that a crawl parsed quickly, or *everything*.

    *pool*: processes of a caller who does this often, and has checked the catalog. *most*: stop after so many pages,
    with the segment that reaches the number. *runner*: its tasks parse the segments.
    """
    started = time.monotonic()
    unread: list[Unread] = []
    failed_extractors: Counter[str] = Counter()
    if pool is None:
        require_sound(collection)
    with collection.locked("reparse") as require_held, closing(open_catalog(collection)) as catalog:
        catalog.guard(require_held)
        remove_unfinished(collection)
        remove_replaced(collection, catalog)
        with collection.reading_segments():  # a worker of this node removes segments that it has uploaded
            bring_segments(collection, catalog.segments())
            plan = Plan(collection, catalog, settings, everything=everything)
            segments = plan.segments if most is None else _first_pages(plan.segments, most)
            total, done = sum(segment.pages.rows for segment in segments), 0
            report = on_progress if runner is None else _ignore  # the tasks of a runner report their progress
            with (
                nullcontext() if runner is not None else _borrowing_archives(collection, catalog, segments),
                _removing_unfinished(collection),
                closing(_readings(collection, settings, segments, pool, runner, on_progress)) as readings,
            ):
                for old, reading in readings:
                    store_segments(collection, reading.successors)
                    _replace(catalog, old.pages, reading.successors)
                    unread += reading.unread
                    failed_extractors.update(reading.failed_extractors)
                    done += old.pages.rows
                    report(done, total)
        plan.finished()
        delete_replaced_segments(collection, catalog.segments())
    seconds = round(time.monotonic() - started, 3)
    extractors = dict(failed_extractors.most_common())
    return Reparsed(len(segments), done, seconds, **_failures(unread), failed_extractors=extractors)


def _ignore(_done: int, _total: int) -> None:
    """Report nothing."""


def _readings(
    collection: Collection,
    settings: Settings,
    segments: Sequence[PlannedSegment],
    pool: ReaderPool | None,
    runner: TaskRunner | None,
    on_progress: OnProgress,
) -> Generator[tuple[PlannedSegment, Reading], None, None]:
    """Every segment, parsed by a pool, by tasks, or by processes of this machine."""
    if pool is not None:
        return pool.read(segments)
    if runner is not None:
        return read_distributed(collection, settings, segments, runner, on_progress)
    return read_all(local_reader(collection.home, settings), segments, os.cpu_count() or 1)


def _first_pages(segments: Sequence[PlannedSegment], most: int) -> list[PlannedSegment]:
    """The first segments that have so many pages together."""
    before = accumulate((segment.pages.rows for segment in segments), initial=0)
    return [segment for segment, pages in zip(segments, before, strict=False) if pages < most]


def _and_others(number: int) -> str:
    return "" if not number else "; so is 1 other segment" if number == 1 else f"; so are {number} other segments"


def _failures(unread: list[Unread]) -> dict[str, Any]:
    """The fields of `Reparsed` about pages that could not be parsed."""
    causes: Counter[str] = Counter()
    for entry in unread:
        causes[entry.cause] += entry.pages
    ordered = sorted(unread, key=lambda entry: list(Cause)[::-1].index(entry.cause))
    return {"unread": causes.total(), "causes": dict(causes), "reasons": ordered[:_MAX_LISTED]}


def _replace(catalog: Catalog, pages: SealedSegment, new: list[SealedSegment]) -> None:
    stale = {"pages": pages.name, "links": pages.name.replace("pages", "links", 1)}
    catalog.replace_segments([(stale[segment.kind], segment) for segment in new])


@contextmanager
def _borrowing_archives(collection: Collection, catalog: Catalog, segments: Sequence[PlannedSegment]) -> Iterator[None]:
    """Have the archive files of segments in the folder during the block."""
    if not collection.storage:
        yield
        return
    named: set[str] = set()
    for segment in segments:
        column = parquet.read_table(collection.segments / segment.pages.name, columns=["archive"])["archive"]
        named.update(filter(None, column.unique().to_pylist()))
    with borrowing_archives(collection, [file for file in catalog.archives() if file.name in named]):
        yield


@contextmanager
def _removing_unfinished(collection: Collection) -> Iterator[None]:
    """Remove incomplete files at the end of the block, because a killed reader process cannot."""
    try:
        yield
    finally:
        remove_unfinished(collection)
