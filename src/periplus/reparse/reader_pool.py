"""Who reads the segments, and what if a reader dies?

As many processes as are worth their start. One that dies, over a page or because somebody killed it, costs nothing: its
segment is read again by another, every page of it behind the fence, so that the page that did it is found and named.
"""

from __future__ import annotations

import ctypes
import os
import signal
from collections import Counter, deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from periplus.config import Settings
from periplus.errors import PeriplusError
from periplus.reparse.segment import Reading, SegmentReader, Unread
from periplus.store.collection import Collection
from periplus.store.manifest import SealedSegment

_WORTH_A_PROCESS = 500  # pages: starting one takes as long as reading so many
_TRIES = 3  # at a segment, before it is left as it is
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


@dataclass(slots=True)
class _Job:
    segment: SealedSegment
    deaths: int = 0  # of those who read it


@dataclass(slots=True)
class _Reader:
    process: BaseProcess
    line: Connection
    job: _Job | None = None


def read_all(
    collection: Collection, settings: Settings, todo: Sequence[SealedSegment]
) -> Generator[tuple[SealedSegment, Reading], None, None]:
    """Read every segment again, in any order."""
    pages = sum(segment.rows for segment in todo)
    if pages < _WORTH_A_PROCESS:
        # Behind the fence, because a page that brings down its reader would bring down this process.
        with SegmentReader(collection.home, settings, is_apart=False) as reader:
            yield from ((segment, reader.read_again(segment, sandboxed=True)) for segment in todo)
        return
    processes = min(os.cpu_count() or 1, len(todo), pages // _WORTH_A_PROCESS)
    readers = _Readers(collection.home, settings, [_Job(segment) for segment in todo])
    try:
        yield from readers.read(processes)
    finally:
        readers.dismiss()


class _Readers:
    """The processes that read, each one segment at a time."""

    def __init__(self, home: Path, settings: Settings, jobs: Sequence[_Job]) -> None:
        self._home, self._settings = home, settings
        self._jobs = deque(jobs)
        self._readers: list[_Reader] = []

    def read(self, processes: int) -> Iterator[tuple[SealedSegment, Reading]]:
        while self._jobs or any(reader.job for reader in self._readers):
            self._hand_out(processes)
            busy = {reader.line: reader for reader in self._readers if reader.job}
            for line in wait(list(busy)):
                yield from self._hear(busy[line])  # type: ignore[index]  # only these lines were waited for

    def dismiss(self) -> None:
        """Nothing is left to read, or nobody wants it any more."""
        for reader in self._readers:
            reader.process.kill()
            reader.process.join()
            reader.line.close()

    def _hand_out(self, processes: int) -> None:
        while self._jobs:
            free = next((reader for reader in self._readers if reader.job is None), None)
            if free is None and len(self._readers) == processes:
                return
            reader = free or self._hire()
            reader.job = self._jobs.popleft()
            with suppress(OSError):  # it is dead, which is heard next
                reader.line.send((reader.job.segment, reader.job.deaths > 0))

    def _hire(self) -> _Reader:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_read, args=(theirs, self._home, self._settings, os.getpid()), daemon=True)
        process.start()
        theirs.close()
        self._readers.append(_Reader(process, ours))
        return self._readers[-1]

    def _hear(self, reader: _Reader) -> Iterator[tuple[SealedSegment, Reading]]:
        job, reader.job = reader.job, None
        assert job is not None
        try:
            said = reader.line.recv()
        except (EOFError, OSError):
            said = self._bury(reader, job)
        if isinstance(said, PeriplusError):
            raise said
        if said is not None:
            yield job.segment, said

    def _bury(self, reader: _Reader, job: _Job) -> Reading | None:
        """A reader is dead: another tries its segment, until it has cost too many."""
        self._readers.remove(reader)
        reader.line.close()
        reader.process.join()
        job.deaths += 1
        if job.deaths < _TRIES:
            self._jobs.appendleft(job)
            return None
        why = f"{_TRIES} processes died while reading it, the last one with {reader.process.exitcode}"
        return Reading([], [Unread(job.segment.name, why, job.segment.rows)], Counter())


def _read(line: Connection, home: Path, settings: Settings, parent: int) -> None:
    """The life of a reader."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the parent, which ends this
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        return
    with SegmentReader(home, settings, is_apart=True) as reader:
        while True:
            try:
                segment, sandboxed = line.recv()
            except EOFError:
                return
            try:
                line.send(reader.read_again(segment, sandboxed=sandboxed))
            except PeriplusError as error:
                line.send(error)
