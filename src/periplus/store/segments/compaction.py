"""Merges small segments into larger ones.

A long crawl writes thousands of small segments, and every reader opens all of them. Neighbours of the same worker are
merged in their order, row by row, so ranks and results stay the same. A merged segment is named after the first and the
last of its segments. It replaces them in the manifest in one transaction: a kill leaves the old or the new state.

Each group of neighbours is one task. Tasks run one after the other in this process, or on the executors of a cluster.
Every attempt of a task writes files of its own, and the driver moves those of one attempt into place.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pyarrow import parquet

from periplus.errors import DamagedFile
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.open_catalog import open_catalog, require_sound
from periplus.store.checksums import segment_file
from periplus.store.cleanup import remove_replaced, remove_unfinished
from periplus.store.collection import Collection
from periplus.store.durable import move_into_place, reporting_full_disk
from periplus.store.fleet_files.job_files import bring_segments, delete_replaced_segments, store_segments
from periplus.store.fleet_files.job_staging import JobStaging, TaskOutput, job_staging
from periplus.store.fleet_files.task_files import SegmentFiles
from periplus.store.manifest import UNFINISHED_AGAIN, Place, SealedSegment, place_of, segment_name
from periplus.store.segments.segment_writer import open_writer, sealed
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
    merged: list[_Merged] = []
    tasks = runner or InProcessRunner()
    with collection.locked("reparse") as require_held, closing(open_catalog(collection)) as catalog:
        catalog.guard(require_held)
        remove_unfinished(collection)
        if runner is None:
            bring_segments(collection, catalog.segments())
        if groups := list(_groups(collection, catalog, fewest, tasks)):
            require_sound(collection)
            # Tasks in this process need no object store to reach the driver.
            with job_staging(collection if runner else replace(collection, storage=""), "compact") as staging:
                for one in _merge_all(collection, groups, tasks, staging, on_progress):
                    catalog.merge_segments(zip(one.group.old_names(), one.successors, strict=True), one.group.last)
                    merged.append(one)
        remove_replaced(collection, catalog)
        delete_replaced_segments(collection, catalog.segments())
        left = len(catalog.segments("pages"))
    written = sum(file.size for one in merged for file in one.successors)
    seconds = round(time.monotonic() - started, 3)
    return Compaction(sum(len(one.group.segments) for one in merged), left, written, seconds)


@dataclass(frozen=True, slots=True)
class _Group:
    """Neighbours of one worker."""

    folder: Path
    files: SegmentFiles
    segments: list[_Segment]

    @property
    def last(self) -> int:
        """The last number."""
        return self.segments[-1].place.last

    def old_names(self) -> list[list[str]]:
        """The names of the files, by kind."""
        return [[segment.files[kind].name for segment in self.segments] for kind in _KINDS]

    def new_name(self, kind: str) -> str:
        """The name of the merged file."""
        first = self.segments[0].place
        return segment_name(kind, first.worker, first.number, first.revision, self.last)

    def opened(self, segment: _Segment, kind: str) -> AbstractContextManager[Path]:
        """The path of a file in the block."""
        return self.files.opened(segment_file(self.folder, segment.files[kind]))

    def check(self) -> None:
        """Raise `DamagedFile` for a damaged file; copies from the object store are checked when they are opened."""
        for segment in self.segments:
            for file in segment.files.values():
                self.files.check(segment_file(self.folder, file))


class _Merged(NamedTuple):
    """A group whose successors are in the folder of segments, but not in the manifest."""

    group: _Group
    successors: list[SealedSegment]


@dataclass(frozen=True, slots=True)
class MergeTask:
    """What the task of one group must know."""

    group: _Group
    staging: JobStaging


class MergeOutput(NamedTuple):
    """What a task has written; no successors: a file of the group is damaged, which `repair` can mend."""

    files: TaskOutput
    successors: list[SealedSegment]


def merge_group(task: MergeTask) -> MergeOutput:
    """Merge the segments of a group into one, and publish its files for the driver."""
    group, successors = task.group, list[SealedSegment]()
    with task.staging.task_folders(group.new_name("pages")) as folders, reporting_full_disk(folders.outputs):
        with suppress(DamagedFile), ExitStack() as opened:
            group.check()
            paths = {kind: [opened.enter_context(group.opened(one, kind)) for one in group.segments] for kind in _KINDS}
            successors = [_joined(kind, paths[kind], folders.outputs / group.new_name(kind)) for kind in _KINDS]
        return MergeOutput(task.staging.publish_output(folders), successors)


def _merge_all(
    collection: Collection, groups: list[_Group], runner: TaskRunner, staging: JobStaging, on_progress: OnProgress
) -> Iterator[_Merged]:
    """Merge every group; the successors are in the folder and in the object store when they are yielded."""
    total = sum(len(group.segments) for group in groups)
    tasks = [MergeTask(group, staging) for group in groups]
    # Tasks end in any order, so the number of segments is an estimate until all have ended.
    outputs = runner.run(merge_group, tasks, lambda done, all_: on_progress(total * done // all_, total))
    for group, output in zip(groups, outputs, strict=True):
        folder = staging.collect_output(output.files)
        for successor in output.successors:
            segment_file(folder, successor).require_intact()
            move_into_place(folder / successor.name, collection.segments / successor.name)
        store_segments(collection, output.successors)
        if output.successors:
            yield _Merged(group, output.successors)


def _groups(collection: Collection, catalog: Catalog, fewest: int, runner: TaskRunner) -> Iterator[_Group]:
    """Small neighbours of one worker, revision and schema."""
    # An interrupted `reparse --everything` continues by the names of segments, so they stay until it is complete.
    if collection.reparse_plan.exists():
        return
    files = SegmentFiles(collection.storage)
    runs = [list(run) for (_, _, is_small), run in groupby(_segments(catalog), _likeness) if is_small]
    candidates = [_Group(collection.segments, files, run) for run in runs if len(run) > 1]
    for run, schemas in zip(candidates, runner.run(_schemas, candidates), strict=True):
        for _, alike in groupby(zip(schemas, run.segments, strict=True), itemgetter(0)):
            for segments in _split((segment for _, segment in alike), fewest):
                yield _Group(collection.segments, files, segments)


def _segments(catalog: Catalog) -> list[_Segment]:
    """All segments, by worker and number: the order in which the index reads them."""
    files: dict[Place, dict[str, SealedSegment]] = defaultdict(dict)
    for file in catalog.segments():
        files[place_of(file.name)][file.kind] = file
    return [_Segment(place, files[place]) for place in sorted(files)]


def _likeness(segment: _Segment) -> tuple[int, int, bool]:
    return segment.place.worker, segment.place.revision, segment.is_small


def _schemas(run: _Group) -> list[bytes]:
    """The columns and versions of both files of every segment; the name of a segment that cannot be read."""
    return [_schema(run, segment) for segment in run.segments]


def _schema(run: _Group, segment: _Segment) -> bytes:
    found = b""
    for kind in _KINDS:
        try:
            with run.opened(segment, kind) as path:
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
