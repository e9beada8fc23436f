"""When is a page safe?

A group commit: WARC records are appended and fsynced, then one transaction says what happened to every URL. Only then
is a page acknowledged, and only then does it enter a segment. The work runs in one thread of its own, so that waiting
for the disk never stops the crawl.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from periplus.config import Storage
from periplus.crawl.memory import MemoryTrimmer
from periplus.model import ArchivePosition, Fetch, Response
from periplus.store.archive import Archived, ArchiveWriter, Pending, read_response
from periplus.store.batch import Batch, Written
from periplus.store.catalog import Catalog
from periplus.store.collection import Collection
from periplus.store.durable import reporting_full_disk
from periplus.store.manifest import PageRow
from periplus.store.run_summary import StepTimes
from periplus.store.segments import SegmentStream


@dataclass(frozen=True, slots=True)
class Commit:
    """Everything between two commits."""

    batch: Batch
    rows: list[PageRow]
    writer: ArchiveWriter
    pending: Pending
    summary: dict[str, Any]


class Committer:
    """The one writer of a worker's archive, catalog rows and segments."""

    def __init__(self, collection: Collection, settings: Storage, worker: int, run_id: int, timing: StepTimes) -> None:
        self._catalog = Catalog(collection.catalog)
        self._collection, self._settings = collection, settings
        self._worker, self._run_id, self._timing = worker, run_id, timing
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="commit")
        self._housekeeper = MemoryTrimmer()
        self._writer = ArchiveWriter.resume(collection.archive, worker, self._catalog.archives(worker))
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
        cut = Commit(batch, rows, self._writer, self._writer.cut(), summary)
        if cut.pending.size >= self._settings.archive_bytes:
            self._writer = self._writer.next_file()
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

    def _write(self, cut: Commit) -> None:
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
