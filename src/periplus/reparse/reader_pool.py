"""Parses segments in several processes, and recovers when one of them crashes.

`read_all` starts one process per 500 pages, up to the number of cores. A `ReaderPool` keeps its processes for further
segments. When a process dies, another one parses its segment again, with every page in the sandbox. So the page that
crashed the process is found and reported.
"""

from __future__ import annotations

import ctypes
import os
import signal
from collections import Counter, deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Protocol

from periplus.config import Settings
from periplus.errors import PeriplusError
from periplus.garbage import rare_garbage_collection
from periplus.reparse.plan import PlannedSegment
from periplus.reparse.segment import Reading, SegmentReader, Unread
from periplus.store.collection import open_collection

_PAGES_PER_PROCESS = 500  # starting a process takes as long as parsing so many pages
_OBJECTS_BETWEEN_COLLECTIONS = 20_000  # a page tree has cycles; 10 % less CPU time than with 700
_MAX_ATTEMPTS = 3  # per segment, before it is kept as it is
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


class OpenReader(Protocol):
    """Opens a reader of segments; it can be pickled."""

    def __call__(self, *, is_child: bool) -> SegmentReader:
        """*is_child*: it runs in a reader process, which a page may kill without harm."""
        ...


@dataclass(slots=True)
class _Job:
    segment: PlannedSegment
    crashes: int = 0  # of processes that parsed the segment


@dataclass(slots=True)
class _Reader:
    process: BaseProcess
    connection: Connection
    job: _Job | None = None


def read_all(
    open_reader: OpenReader, todo: Sequence[PlannedSegment], processes: int
) -> Generator[tuple[PlannedSegment, Reading], None, None]:
    """Parse every segment again, in any order; *processes*: at most so many."""
    pages = sum(segment.pages.rows for segment in todo)
    if pages < _PAGES_PER_PROCESS:
        # In the sandbox, because a page could crash this process.
        with open_reader(is_child=False) as reader:
            yield from ((segment, reader.reparse(segment, sandboxed=True)) for segment in todo)
        return
    with closing(ReaderPool(open_reader, min(processes, pages // _PAGES_PER_PROCESS))) as pool:
        yield from pool.read(todo)


def local_reader(home: Path, settings: Settings) -> OpenReader:
    """Opens readers of the collection in a folder, which write beside its segments."""
    return partial(_open_reader, home, settings)


def _open_reader(home: Path, settings: Settings, *, is_child: bool) -> SegmentReader:
    return SegmentReader(open_collection(home), settings, is_child=is_child)


class ReaderPool:
    """Reader processes, which are started when there is work for them; each parses one segment at a time."""

    def __init__(self, open_reader: OpenReader, processes: int) -> None:
        """*open_reader* is called in every process; *processes*: at most so many."""
        self._open_reader, self._processes = open_reader, processes
        self._jobs: deque[_Job] = deque()
        self._readers: list[_Reader] = []

    def read(self, todo: Sequence[PlannedSegment]) -> Generator[tuple[PlannedSegment, Reading], None, None]:
        """Parse every segment again, in any order; processes that are busy when the caller stops early are killed."""
        self._jobs = deque(_Job(segment) for segment in todo)
        try:
            while self._jobs or any(reader.job for reader in self._readers):
                self._assign_jobs()
                busy = {reader.connection: reader for reader in self._readers if reader.job}
                for connection in wait(list(busy)):
                    yield from self._receive(busy[connection])  # type: ignore[index]  # only these were waited for
        finally:
            self._kill([reader for reader in self._readers if reader.job])

    def start(self) -> None:
        """Start a process before there is work: it takes a second to load its libraries."""
        if not self._readers:
            self._start_reader()

    def close(self) -> None:
        """Kill all reader processes."""
        self._kill(self._readers)

    def _kill(self, readers: Sequence[_Reader]) -> None:
        for reader in list(readers):
            self._readers.remove(reader)
            reader.process.kill()
            reader.process.join()
            reader.connection.close()

    def _assign_jobs(self) -> None:
        while self._jobs:
            free = next((reader for reader in self._readers if reader.job is None), None)
            if free is None and len(self._readers) == self._processes:
                return
            reader = free or self._start_reader()
            reader.job = self._jobs.popleft()
            with suppress(OSError):  # the process is dead; `_receive` notices next
                reader.connection.send((reader.job.segment, reader.job.crashes > 0))

    def _start_reader(self) -> _Reader:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_read, args=(theirs, self._open_reader, os.getpid()), daemon=True)
        process.start()
        theirs.close()
        self._readers.append(_Reader(process, ours))
        return self._readers[-1]

    def _receive(self, reader: _Reader) -> Iterator[tuple[PlannedSegment, Reading]]:
        job, reader.job = reader.job, None
        assert job is not None
        try:
            result = reader.connection.recv()
        except (EOFError, OSError):
            result = self._retry_or_give_up(reader, job)
        if isinstance(result, PeriplusError):
            raise result
        if result is not None:
            yield job.segment, result

    def _retry_or_give_up(self, reader: _Reader, job: _Job) -> Reading | None:
        """Queue the segment of a dead process again; after too many crashes, keep the segment as it is."""
        self._readers.remove(reader)
        reader.connection.close()
        reader.process.join()
        job.crashes += 1
        if job.crashes < _MAX_ATTEMPTS:
            self._jobs.appendleft(job)
            return None
        why = f"{_MAX_ATTEMPTS} processes died while parsing it; last exit code {reader.process.exitcode}"
        return Reading([], [Unread(job.segment.pages.name, why, job.segment.pages.rows)], Counter())


def _read(connection: Connection, open_reader: OpenReader, parent: int) -> None:
    """Entry point of a reader process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the parent, which kills this process
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        return
    with open_reader(is_child=True) as reader, rare_garbage_collection(_OBJECTS_BETWEEN_COLLECTIONS):
        while True:
            try:
                segment, sandboxed = connection.recv()
            except EOFError:
                return
            try:
                connection.send(reader.reparse(segment, sandboxed=sandboxed))
            except PeriplusError as error:
                connection.send(error)
