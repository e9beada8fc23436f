"""Parses segments on the executors of a cluster: each is a task of its own.

A task reads its segment and the archive from the folder of the collection or from the object store. The driver moves
the successors into place. Segments are handed out in waves, so an interruption loses one wave at most.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial

from periplus.config import Settings
from periplus.reparse.plan import PlannedSegment
from periplus.reparse.reader_pool import read_all
from periplus.reparse.segment import Reading, SegmentReader
from periplus.store.block_list import BlockList
from periplus.store.catalog.open_catalog import block_list_of
from periplus.store.collection import Collection
from periplus.store.durable import move_into_place
from periplus.store.fleet_files.job_staging import JobStaging, TaskOutput, job_staging
from periplus.store.task_runner import OnProgress, TaskRunner

_TASKS_PER_WAVE = 8  # for each task that runs at the same time: a slow segment at its end delays the next wave


@dataclass(frozen=True, slots=True)
class ReparseTask:
    """What the task of one segment must know."""

    segment: PlannedSegment
    settings: Settings  # those of parsing only: others have passwords
    blocked: BlockList
    staging: JobStaging


def reparse_segment(task: ReparseTask) -> tuple[TaskOutput, Reading]:
    """Parse the pages of a segment again, and publish its successors for the driver."""
    with (
        task.staging.task_folders(task.segment.pages.name) as folders,
        task.staging.collection_with(task.segment) as collection,
    ):
        open_reader = partial(SegmentReader, collection, task.settings, target=folders.outputs, blocked=task.blocked)
        ((_, reading),) = read_all(open_reader, [task.segment], 1)
        return task.staging.publish_output(folders), reading


def read_distributed(
    collection: Collection,
    settings: Settings,
    todo: Sequence[PlannedSegment],
    runner: TaskRunner,
    on_progress: OnProgress,
) -> Generator[tuple[PlannedSegment, Reading], None, None]:
    """Parse every segment again; the successors are among the segments of the collection when one is yielded.

    *on_progress* is called with the pages that were parsed, and all.
    """
    pages, total = 0, sum(segment.pages.rows for segment in todo)
    needed = Settings(addresses=settings.addresses, scope=settings.scope, parse=settings.parse)
    blocked, at_once = block_list_of(collection), _TASKS_PER_WAVE * runner.parallelism
    for first in range(0, len(todo), at_once):
        wave = todo[first : first + at_once]
        with job_staging(collection, "reparse") as staging:
            tasks = [ReparseTask(segment, needed, blocked, staging) for segment in wave]
            here = sum(segment.pages.rows for segment in wave)
            # Tasks end in any order, so the number of pages is an estimate until all of the wave have ended.
            show = partial(_show, on_progress, pages, here, total)
            results = runner.run(reparse_segment, tasks, show)
            for segment, (output, reading) in zip(wave, results, strict=True):
                folder = staging.collect_output(output)
                for successor in reading.successors:
                    move_into_place(folder / successor.name, collection.segments / successor.name)
                yield segment, reading
        pages += here


def _show(on_progress: OnProgress, before: int, here: int, total: int, done: int, tasks: int) -> None:
    on_progress(before + here * done // tasks, total)
