"""Writes pages durably: when is a fetched page safe?

A group commit appends WARC records and fsyncs them; then one transaction records the outcome of every URL. Only then is
a page acknowledged, and only then does it enter a segment. A thread of its own writes, so that waiting for the disk
never blocks the event loop.
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
from periplus.store.live_state import Publication
from periplus.store.manifest import PageRow
from periplus.store.run_summary import StepTimes
from periplus.store.segments import SegmentStream


@dataclass(frozen=True, slots=True)
class Commit:
    """What one group commit writes: everything since the previous one."""

    batch: Batch
    rows: list[PageRow]
    writer: ArchiveWriter
    pending: Pending
    summary: dict[str, Any]


class Committer:
    """The only writer of one worker's archive, catalog rows and segments."""

    def __init__(self, collection: Collection, settings: Storage, worker: int, run_id: int, timing: StepTimes) -> None:
        self._catalog = Catalog(collection.catalog)
        self._collection, self._settings = collection, settings
        self._worker, self._run_id, self._timing = worker, run_id, timing
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="commit")
        self._trimmer = MemoryTrimmer()
        self._writer = ArchiveWriter.resume(collection.archive, worker, self._catalog.archives(worker))
        self._segments = SegmentStream(self._catalog, collection.segments, settings, worker)

    def archive(self, response: Response, earlier: Fetch | None = None) -> Archived:
        """Append a response to the archive; it is durable once its batch is committed."""
        return self._writer.append(response, earlier)

    def read_archived(self, position: ArchivePosition) -> Response:
        """Read an acknowledged response from the archive."""
        return read_response(self._collection.archive, position)

    def commit(self, batch: Batch, rows: list[PageRow], summary: dict[str, Any]) -> asyncio.Future[None]:
        """Acknowledge everything in *batch*; the future is done when the batch is durable.

        Not a coroutine: the archive must be cut in the same step as the batch, so that both hold the same pages.
        """
        cut = Commit(batch, rows, self._writer, self._writer.cut(), summary)
        if cut.pending.size >= self._settings.archive_bytes:
            self._writer = self._writer.next_file()
        return asyncio.get_running_loop().run_in_executor(self._thread, self._write, cut)

    async def publish(self, publication: Publication) -> None:
        """Write what the worker reports about itself."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._catalog.publish, publication)

    def is_overdue(self, *, idle: bool) -> bool:
        """Whether the open segment should be sealed now; *idle*: the worker has nothing to do.

        Call it only while no commit is running: the commit thread changes the state that this method reads.
        """
        return self._segments.is_overdue(idle=idle)

    async def seal(self) -> None:
        """Seal the open segment, so that readers see all acknowledged pages."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._segments.seal)

    async def finish(self) -> None:
        """Seal the open segment and close every file."""
        await self.seal()
        self.close()

    def close(self) -> None:
        """Close every file; uncommitted pages are lost, unsealed ones are parsed again by the next run."""
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
        self._trimmer.trim_if_due()
        self._timing.commit += time.perf_counter() - began
