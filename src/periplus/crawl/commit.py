"""When is a page safe?

A group commit: WARC records are appended and fsynced, then one transaction says what happened to every URL. Only then
is a page acknowledged, and only then does it enter a segment. The work runs in one thread of its own, so that waiting
for the disk never stops the crawl.
"""

from __future__ import annotations

import asyncio
import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from periplus.config import Storage
from periplus.crawl.memory import Housekeeper
from periplus.model import ArchivePosition, Fetch, Response
from periplus.store.archive import Archived, ArchiveWriter, Pending, archive_name, read_response
from periplus.store.batch import Batch, Written
from periplus.store.catalog import Catalog
from periplus.store.collection import Collection
from periplus.store.durable import reporting_full_disk
from periplus.store.manifest import PageRow
from periplus.store.run_summary import Timing
from periplus.store.segments import SegmentWriter

_IDLE_AGE = 5.0  # seconds that a page waits for others to share its segment while the worker is idle
_IDLE_APART = 60.0  # seconds from one segment to the next of an idle worker, so that it does not make many small ones


@dataclass(frozen=True, slots=True)
class Cut:
    """Everything between two commits."""

    batch: Batch
    rows: list[PageRow]
    writer: ArchiveWriter
    pending: Pending
    summary: dict[str, Any]


class Committer:
    """The one writer of a worker's archive, catalog rows and segments."""

    def __init__(self, collection: Collection, settings: Storage, worker: int, run_id: int, timing: Timing) -> None:
        self._catalog = Catalog(collection.catalog)
        self._collection, self._settings = collection, settings
        self._worker, self._run_id, self._timing = worker, run_id, timing
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="commit")
        self._housekeeper = Housekeeper()
        files = self._catalog.archives(worker)
        self._number = len(files) or 1
        size = files[-1].committed if files else 0
        self._writer = ArchiveWriter(collection.archive, archive_name(worker, self._number), size)
        self._segments = SegmentStream(self._catalog, collection.segments, settings, worker)

    def archive(self, response: Response, earlier: Fetch | None = None) -> Archived:
        """Append a response to the archive; it is safe once the batch that mentions it is committed."""
        return self._writer.append(response, earlier)

    def recall(self, position: ArchivePosition) -> Response:
        """What was archived and acknowledged."""
        return read_response(self._collection.archive, position)

    def commit(self, batch: Batch, rows: list[PageRow], summary: dict[str, Any]) -> asyncio.Future[None]:
        """Acknowledge everything in *batch*; what is returned is done when it is durable.

        Not a coroutine: the archive is cut in the same breath as the batch, or the two would not hold the same pages.
        """
        cut = Cut(batch, rows, self._writer, self._writer.cut(), summary)
        if cut.pending.size >= self._settings.archive_bytes:
            self._number += 1
            name = archive_name(self._worker, self._number)
            self._writer = ArchiveWriter(self._collection.archive, name, 0)
        return asyncio.get_running_loop().run_in_executor(self._thread, self._write, cut)

    def is_overdue(self, *, idle: bool) -> bool:
        """Whether acknowledged pages should be sealed now; *idle*: the worker has nothing to do.

        Only while no commit is under way: its thread changes what is asked here.
        """
        return self._segments.is_overdue(idle=idle)

    async def seal(self) -> None:
        """Make all acknowledged pages visible to readers."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._segments.seal)

    async def finish(self) -> None:
        """Seal what is left and let go of every file."""
        await self.seal()
        self.close()

    def close(self) -> None:
        """Let go of every file; what was not committed is lost, what was not sealed is parsed again by the next run."""
        self._thread.shutdown()
        self._writer.close()
        self._segments.discard()
        self._catalog.close()

    def _write(self, cut: Cut) -> None:
        began = time.perf_counter()
        with reporting_full_disk(self._collection.home):
            cut.writer.sync(cut.pending)
            written = Written(self._worker, cut.writer.name, cut.pending.size)
            archive_id = self._catalog.commit(cut.batch, written, self._run_id, cut.summary)
            if cut.writer is not self._writer:
                cut.writer.close()
            self._segments.add(cut.rows, archive_id, cut.pending.size)
        self._housekeeper.tidy()
        self._timing.commit += time.perf_counter() - began


class SegmentStream:
    """Feeds acknowledged pages to segments and seals one when it is large or old enough."""

    def __init__(self, catalog: Catalog, folder: Path, settings: Storage, worker: int) -> None:
        self._catalog, self._folder, self._settings, self._worker = catalog, folder, settings, worker
        self._open: SegmentWriter | None = None
        self._since = 0.0
        self._sealed = -math.inf  # when the last segment was sealed
        self._covered: dict[int, int] = {}

    def add(self, rows: list[PageRow], archive_id: int, size: int) -> None:
        """Take the pages of one commit, which end at *size* bytes of their archive file."""
        if rows and self._open is None:
            self._open = SegmentWriter(self._folder, self._worker, self._catalog.last_segment(self._worker) + 1)
            self._since = time.monotonic()
        for row in rows:
            assert self._open is not None
            self._open.add(row)
        self._covered[archive_id] = size
        if self._open is not None and self._is_due(self._open):
            self.seal()

    def seal(self) -> None:
        """Make what was collected a segment that readers see."""
        if not self._covered:
            return
        if self._open is None:
            self._catalog.seal(self._worker, 0, [], self._covered)
        else:
            with reporting_full_disk(self._folder):
                self._catalog.seal(self._worker, self._open.number, self._open.seal(), self._covered)
            self._open = None
            self._sealed = time.monotonic()
        self._covered = {}

    def discard(self) -> None:
        """Drop an unfinished segment; its pages are still in the archive."""
        if self._open is not None:
            self._open.discard()
            self._open = None

    def is_overdue(self, *, idle: bool) -> bool:
        """Whether pages have waited too long for others to share their segment; *idle*: no others are coming."""
        if self._open is None:
            return False
        now = time.monotonic()
        age = now - self._since
        is_idle_long = idle and age >= _IDLE_AGE and now - self._sealed >= _IDLE_APART
        return is_idle_long or age >= self._settings.segment_seconds

    def _is_due(self, segment: SegmentWriter) -> bool:
        age = time.monotonic() - self._since
        return age >= self._settings.segment_seconds or segment.size >= self._settings.segment_bytes
