"""Divides the documents of a plan into partitions, has tasks build them, and joins the results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from periplus.config import Indexing
from periplus.index.partitions.join import join_partitions
from periplus.index.partitions.partition import PartitionTask, build_partition, write_input
from periplus.index.planning.plan import Plan
from periplus.index.storage.shards import shard_of
from periplus.index.update import Base
from periplus.index.writer import Written
from periplus.store.collection import Collection
from periplus.store.fleet_files.job_staging import JobStaging, job_staging
from periplus.store.task_runner import TaskRunner

FEWEST = 1_000  # documents of a partition: starting a task takes as long as some hundred
MOST = 100_000  # a task that is repeated after a failure writes at most so many again


def write_in_partitions(
    folder: Path,
    plan: Plan,
    collection: Collection,
    runner: TaskRunner,
    progress: Callable[[int, int], None],
    settings: Indexing,
    languages: Mapping[str, int],
    base: Base | None,
) -> Written:
    """Write the new documents; *progress* is called with the partitions done and the partitions in total."""
    sizes = partition_sizes(plan.added, runner.parallelism)
    first = base.first if base is not None else 0
    with job_staging(collection, "index") as staging:
        tasks = list(_tasks(plan, settings, tuple(languages), first, sizes, staging))
        outputs = list(runner.run(build_partition, tasks, progress))
        partitions = [staging.collect_output(output.files) for output in outputs]
        media = join_partitions(folder, partitions, settings, base)
    by_shard = zip(*(output.written.by_shard for output in outputs), strict=True)
    return Written(list(map(sum, by_shard)), media)


def partition_sizes(documents: int, parallelism: int) -> list[int]:
    """The documents of every partition: one for each parallel task, unless these have too few or too many."""
    number = max(1, min(documents // FEWEST, max(parallelism, math.ceil(documents / MOST))))
    return [documents * (one + 1) // number - documents * one // number for one in range(number)]


def _tasks(
    plan: Plan,
    settings: Indexing,
    languages: tuple[str, ...],
    first: int,
    sizes: list[int],
    staging: JobStaging,
) -> Iterator[PartitionTask]:
    """The tasks, after their input is written."""
    firsts = np.full(settings.shards, first, np.int64)  # shards have no base, so it is 0 for more than one
    for number, rows in enumerate(plan.planned_rows(sizes)):
        name = f"{number:05d}"
        write_input(staging.inputs_of(name), rows, plan)
        staging.publish_input(name)
        yield PartitionTask(name, tuple(firsts.tolist()), plan.segments_of(rows), settings, languages, staging)
        firsts = firsts + _by_shard(rows, settings.shards)


def _by_shard(rows: pa.Table, shards: int) -> NDArray[np.intp]:
    """How many documents of rows each shard has."""
    owners = [shard_of(url_id, shards) for url_id in rows["url_id"].to_pylist()]
    return np.bincount(np.array(owners, np.intp), minlength=shards)
