"""Writes pages durably: when is a fetched page safe?

A group commit appends WARC records and fsyncs them; then one transaction records the outcome of every URL. Only then is
a page acknowledged, and only then does it enter a segment. A thread of its own writes, so that waiting for the disk
never blocks the event loop.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from periplus.config import Settings, Storage
from periplus.crawl.coordination.coordination import Coordination
from periplus.crawl.memory import MemoryTrimmer
from periplus.model import ArchivePosition, Fetch, Response
from periplus.store.archive.archive_lookup import read_archived
from periplus.store.archive.warc_files import Archived, ArchiveWriter, Pending
from periplus.store.catalog.batch import Batch, Written
from periplus.store.catalog.live_state import Publication
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.run_summary import StepTimes
from periplus.store.collection import Collection
from periplus.store.durable import reporting_full_disk
from periplus.store.fleet_files.upload_rows import uploading
from periplus.store.manifest import PageRow
from periplus.store.segments.segment_writer import SegmentStream

_COMMITS_PER_PACKING = 64  # after so many commits, the keys of known URLs are packed if there are many chunks


@dataclass(frozen=True, slots=True)
class Commit:
    """What one group commit writes: everything since the previous one."""

    batch: Batch
    rows: list[PageRow]
    writer: ArchiveWriter
    pending: Pending
    summary: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FileLimits:
    """When an archive file is complete and the next one begins."""

    size: int  # bytes
    seconds: float = math.inf  # since its first record

    @classmethod
    def of(cls, collection: Collection, settings: Settings) -> FileLimits:
        """The limits of a collection; files that are uploaded are smaller."""
        if not collection.uploads_files:
            return cls(settings.store.archive_bytes)
        return cls(min(settings.store.archive_bytes, settings.fleet.upload_bytes), settings.fleet.upload_seconds)


class Committer:
    """The only writer of one worker's archive, catalog rows and segments."""

    def __init__(
        self,
        collection: Collection,
        settings: Storage,
        worker: int,
        run_id: int,
        timing: StepTimes,
        limits: FileLimits | None = None,
        former: Sequence[int] = (),
    ) -> None:
        """*former*: workers that the node has no more, and whose files this one uploads."""
        self._catalog = open_catalog(collection)
        self._collection, self._limits = collection, limits or FileLimits(settings.archive_bytes)
        self._worker, self._run_id, self._timing = worker, run_id, timing
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="commit")
        self._trimmer = MemoryTrimmer()
        begin = ArchiveWriter.begin if collection.uploads_files else ArchiveWriter.resume
        self._writer = begin(collection.archive, worker, self._catalog.archives(worker))
        self._growing = self._writer.name  # the first archive file whose last batch is not committed
        self._began = math.inf  # when the archive file got its first record
        self._commits = 0
        self._failure: BaseException | None = None  # of `add_recovered`
        is_stored = not collection.uploads_files
        self._segments = SegmentStream(self._catalog, collection.segments, settings, worker, is_stored=is_stored)
        self._uploader = uploading(collection, worker, lambda: self._growing, former) if not is_stored else None

    def fence(self, coordination: Coordination) -> None:
        """Write nothing more once the worker has lost its lease."""
        coordination.fence(self._catalog)

    def archive(self, response: Response, earlier: Fetch | None = None) -> Archived:
        """Append a response to the archive; it is durable once its batch is committed."""
        self._began = min(self._began, time.monotonic())
        return self._writer.append(response, earlier)

    def read_archived(self, position: ArchivePosition) -> Response:
        """Read an acknowledged response from the archive."""
        return read_archived(self._collection, position)

    def commit(self, batch: Batch, rows: list[PageRow], summary: dict[str, Any]) -> asyncio.Future[None]:
        """Acknowledge everything in *batch*; the future is done when the batch is durable.

        Not a coroutine: the archive must be cut in the same step as the batch, so that both hold the same pages.
        """
        cut = Commit(batch, rows, self._writer, self._writer.cut(), summary)
        if cut.pending.size >= self._limits.size or self._is_old():
            self._begin_next_file()
        return asyncio.get_running_loop().run_in_executor(self._thread, self._write, cut)

    def add_recovered(self, rows: list[PageRow], archive_id: int, size: int) -> None:
        """Add pages of a lost worker to the open segment; any thread may call it.

        When it fails, the next `seal` fails, too, and so the worker ends.
        """
        try:
            self._thread.submit(self._segments.add, rows, archive_id, size).result()
        except BaseException as error:
            self._failure = error
            raise

    async def publish(self, publication: Publication) -> None:
        """Write what the worker reports about itself."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._catalog.publish, publication)

    def is_overdue(self, *, idle: bool) -> bool:
        """Whether the open segment should be sealed now; *idle*: the worker has nothing to do.

        Call it only while no commit is running: the commit thread changes the state that this method reads.
        """
        return self._segments.is_overdue(idle=idle) or self._is_complete() or self._failure is not None

    async def seal(self) -> None:
        """Seal the open segment, so that readers see all acknowledged pages; completes an old archive file.

        Call it only while no commit is running.
        """
        if self._failure is not None:
            raise self._failure
        if self._is_complete():
            complete = self._writer
            self._begin_next_file()
            self._complete(complete)
        await asyncio.get_running_loop().run_in_executor(self._thread, self._segments.seal)

    async def finish(self) -> None:
        """Seal the open segment and close every file."""
        await self.seal()
        self._close_files()

    async def upload(self) -> None:
        """Upload every file after `finish`; the worker needs no lease for it."""
        if self._uploader is not None:
            await asyncio.to_thread(self._uploader.finish)

    def close(self) -> None:
        """Close every file; uncommitted pages are lost, unsealed ones are parsed again by the next run."""
        self._close_files()
        if self._uploader is not None:
            self._uploader.close()

    def _close_files(self) -> None:
        self._thread.shutdown()
        self._writer.close()
        self._segments.discard()
        self._catalog.close()

    def _is_old(self) -> bool:
        return time.monotonic() - self._began >= self._limits.seconds

    def _is_complete(self) -> bool:
        """Whether the archive file is old, and every record is in a commit."""
        return self._is_old() and not self._writer.has_waiting

    def _begin_next_file(self) -> None:
        self._writer, self._began = self._writer.next_file(), math.inf

    def _complete(self, writer: ArchiveWriter) -> None:
        """Close an archive file after its last commit; from now on it may be uploaded."""
        writer.close()
        self._growing = self._writer.name

    def _write(self, cut: Commit) -> None:
        began = time.perf_counter()
        with reporting_full_disk(self._collection.home):
            cut.writer.sync(cut.pending)
            waits = self._uploader is not None
            written = Written(self._worker, cut.writer.name, cut.pending.size, waits)
            archive_id = self._catalog.commit(cut.batch, written, self._run_id, cut.summary)
            if cut.writer is not self._writer:
                self._complete(cut.writer)
            self._segments.add(cut.rows, archive_id, cut.pending.size)
            self._pack_seen_if_due()
        self._trimmer.trim_if_due()
        self._timing.commit += time.perf_counter() - began

    def _pack_seen_if_due(self) -> None:
        self._commits += 1
        if self._commits % _COMMITS_PER_PACKING == 0:
            self._catalog.pack_seen()
