"""Merges small segments into larger ones.

A long crawl writes thousands of small segments, and every reader opens all of them. Neighbours of the same worker are
merged in their order, row by row, so ranks and results stay the same. A merged segment is named after the first and the
last of its segments. It replaces them in the manifest in one transaction: a kill leaves the old or the new state.

Each group of neighbours is one task. Tasks run one after the other in this process, or on the executors of a cluster,
which read and write the segments in a shared folder or the object store.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pyarrow as pa
from pyarrow import parquet

from periplus.errors import DamagedFile
from periplus.store.catalog import Catalog
from periplus.store.checksums import segment_file
from periplus.store.cleanup import remove_replaced, remove_unfinished
from periplus.store.collection import Collection
from periplus.store.durable import reporting_full_disk
from periplus.store.manifest import UNFINISHED_AGAIN, Place, SealedSegment, place_of, segment_name
from periplus.store.objects.job_files import bring_segments, delete_replaced_segments
from periplus.store.objects.open_store import open_store
from periplus.store.objects.task_files import SegmentReader
from periplus.store.objects.uploads import SEGMENTS
from periplus.store.open_catalog import open_catalog, require_sound
from periplus.store.segments import open_writer, sealed
from periplus.store.task_runner import InProcessRunner, TaskRunner

SMALL = 128 << 20  # bytes of a segment; larger ones are not merged
ENOUGH = 256 << 20  # bytes of a merged segment, at least, unless its neighbours are larger
FEWEST = 8  # small neighbours that are merged although they have fewer bytes
_ROW_GROUP = 4 << 20  # bytes in memory; limits the memory for copying
_KINDS = ("pages", "links")

OnProgress = Callable[[int, int], None]  # called with the segments that were merged, and those to merge


@dataclass(frozen=True, slots=True)
class Compaction:
    """The object that `compact --json` prints."""

    merged: int  # small segments that are now parts of larger ones
    segments: int  # in the manifest now
    bytes: int  # written
    seconds: float


class _Segment(NamedTuple):
    """The two files of a segment."""

    place: Place
    files: dict[str, SealedSegment]  # by kind

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files.values())

    @property
    def is_small(self) -> bool:
        return len(self.files) == len(_KINDS) and self.size < SMALL


def compact(
    collection: Collection,
    *,
    fewest: int = FEWEST,
    on_progress: OnProgress = lambda _done, _total: None,
    runner: TaskRunner | None = None,
) -> Compaction:
    """Merge small neighbours: *fewest* or more of them, or as many as have enough bytes.

    The *runner* runs the tasks; None: this process.
    """
    started = time.monotonic()
    merged = written = done = 0
    with collection.locked("reparse") as require_held, closing(open_catalog(collection)) as catalog:
        catalog.guard(require_held)
        remove_unfinished(collection)
        if runner is None:
            bring_segments(collection, catalog.segments())
        tasks = list(_tasks(collection, catalog, fewest, runner or InProcessRunner()))
        if tasks:
            require_sound(collection)
        for task, successors in zip(tasks, (runner or InProcessRunner()).run(_MergeTask.run, tasks), strict=True):
            if successors:
                catalog.merge_segments(zip(task.old_names(), successors, strict=True), task.group[-1].place.last)
                merged, written = merged + len(task.group), written + sum(one.size for one in successors)
            done += len(task.group)
            on_progress(done, sum(len(one.group) for one in tasks))
        remove_replaced(collection, catalog)
        delete_replaced_segments(collection, catalog.segments())
        left = len(catalog.segments("pages"))
    return Compaction(merged, left, written, round(time.monotonic() - started, 3))


@dataclass(frozen=True, slots=True)
class _MergeTask:
    """Merges segments into one."""

    folder: Path
    reader: SegmentReader
    group: list[_Segment]

    def old_names(self) -> list[list[str]]:
        """The names of the merged files, by kind."""
        return [[segment.files[kind].name for segment in self.group] for kind in _KINDS]

    def run(self) -> list[SealedSegment]:
        """Write the merged segment; returns nothing when one of its files is damaged, which `repair` can mend."""
        try:
            with ExitStack() as opened:
                sources = {kind: [opened.enter_context(self._open(one, kind)) for one in self.group] for kind in _KINDS}
                folder = self.folder if self.folder.is_dir() else Path(opened.enter_context(TemporaryDirectory()))
                with reporting_full_disk(self.folder.parent):
                    successors = [_joined(kind, sources[kind], folder / self._new_name(kind)) for kind in _KINDS]
                self._upload(folder, successors)
                return successors
        except DamagedFile:
            return []

    def _open(self, segment: _Segment, kind: str) -> AbstractContextManager[Path]:
        file = segment_file(self.folder, segment.files[kind])
        self.reader.check(file)
        return self.reader.opened(file)

    def _new_name(self, kind: str) -> str:
        first, last = self.group[0].place, self.group[-1].place.last
        return segment_name(kind, first.worker, first.number, first.revision, last)

    def _upload(self, folder: Path, successors: list[SealedSegment]) -> None:
        if self.reader.storage:
            store = open_store(self.reader.storage)
            for one in successors:
                store.put_file(f"{SEGMENTS}/{one.name}", folder / one.name)


def _tasks(collection: Collection, catalog: Catalog, fewest: int, runner: TaskRunner) -> Iterator[_MergeTask]:
    """One task per group: small neighbours of one worker, revision and schema."""
    # An interrupted `reparse --everything` continues by the names of segments, so they stay until it is complete.
    if collection.reparse_plan.exists():
        return
    reader = SegmentReader(collection.storage)
    runs = [list(run) for (_, _, is_small), run in groupby(_segments(catalog), _likeness) if is_small]
    candidates = [_MergeTask(collection.segments, reader, run) for run in runs if len(run) > 1]
    for run, schemas in zip(candidates, runner.run(_schemas, candidates), strict=True):
        for _, alike in groupby(zip(schemas, run.group, strict=True), itemgetter(0)):
            for group in _split((segment for _, segment in alike), fewest):
                yield _MergeTask(collection.segments, reader, group)


def _segments(catalog: Catalog) -> list[_Segment]:
    """All segments, by worker and number: the order in which the index reads them."""
    files: dict[Place, dict[str, SealedSegment]] = defaultdict(dict)
    for file in catalog.segments():
        files[place_of(file.name)][file.kind] = file
    return [_Segment(place, files[place]) for place in sorted(files)]


def _likeness(segment: _Segment) -> tuple[int, int, bool]:
    return segment.place.worker, segment.place.revision, segment.is_small


def _schemas(run: _MergeTask) -> list[bytes]:
    """The columns and versions of both files of every segment; the name of a segment that cannot be read."""
    return [_schema(run, segment) for segment in run.group]


def _schema(run: _MergeTask, segment: _Segment) -> bytes:
    found = b""
    for kind in _KINDS:
        try:
            with run.reader.opened(segment_file(run.folder, segment.files[kind])) as path:
                found += parquet.read_schema(path).serialize().to_pybytes()
        except (pa.ArrowException, OSError, DamagedFile):
            return segment.files["pages"].name.encode()
    return found


def _split(segments: Iterable[_Segment], fewest: int) -> Iterator[list[_Segment]]:
    """Groups of neighbours with enough bytes; the last ones only when they are many."""
    group: list[_Segment] = []
    for segment in segments:
        group.append(segment)
        if len(group) > 1 and sum(one.size for one in group) >= ENOUGH:
            yield group
            group = []
    if len(group) >= max(fewest, 2):
        yield group


def _joined(kind: str, sources: list[Path], final: Path) -> SealedSegment:
    """Write the rows of several files to one, in order."""
    unfinished = final.with_name(final.name + UNFINISHED_AGAIN)
    rows = 0
    writer = open_writer(unfinished, kind, parquet.read_schema(sources[0]))
    try:
        for table in _row_groups(sources):
            writer.write_table(table)
            rows += table.num_rows
        writer.close()
    except BaseException:
        with suppress(OSError):  # on a full disk the footer cannot be written either
            writer.close()
        writer.is_open = False  # otherwise its destructor closes it again and raises
        unfinished.unlink(missing_ok=True)
        raise
    return sealed(kind, unfinished, final, rows)


def _row_groups(sources: list[Path]) -> Iterator[pa.Table]:
    """All rows in order; small row groups are put together."""
    waiting: list[pa.Table] = []
    for path in sources:
        with parquet.ParquetFile(path) as file:
            for number in range(file.num_row_groups):
                waiting.append(file.read_row_group(number))
                if sum(table.nbytes for table in waiting) >= _ROW_GROUP:
                    yield pa.concat_tables(waiting).combine_chunks()
                    waiting = []
    if waiting:
        yield pa.concat_tables(waiting).combine_chunks()
