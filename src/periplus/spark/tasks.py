"""Runs a function on many items, each in a task of its own, and returns the results in order.

The function and the items are pickled. A task whose executor dies runs again on another, so the function must be
idempotent: every attempt writes under a name of its own (`store/fleet_files/job_staging.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from uuid import uuid4

from pyspark import SparkContext
from pyspark.sql import SparkSession

from periplus.spark.failures import plain_errors
from periplus.store.task_runner import Item, OnProgress, Result

_SECONDS = 0.5  # between two looks at the progress


class SparkRunner:
    """Runs the tasks of a job that knows nothing of Spark; see `store/task_runner.py`."""

    def __init__(self, session: SparkSession) -> None:
        self._context = session.sparkContext
        self.parallelism: int = self._context.defaultParallelism

    def run(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        on_progress: OnProgress = lambda _done, _all: None,
    ) -> list[Result]:
        """Call the function with every item on the executors; the results are in order."""
        if not items:
            return []
        with plain_errors(), _showing(self._context, len(items), on_progress):
            results = self._context.parallelize(items, len(items)).map(function).collect()
        on_progress(len(items), len(items))
        return results


@contextmanager
def _showing(context: SparkContext, tasks: int, on_progress: OnProgress) -> Iterator[None]:
    """Report the number of finished tasks during the block."""
    group, ended = uuid4().hex, Event()
    context.setJobGroup(group, "periplus", interruptOnCancel=True)

    def show() -> None:
        tracker = context.statusTracker()
        while not ended.wait(_SECONDS):
            jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
            stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
            on_progress(min(sum(stage.numCompletedTasks for stage in stages if stage), tasks), tasks)

    thread = Thread(target=show, name="spark-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
