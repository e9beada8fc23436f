"""The port of distributed jobs: runs a function on many items, each in a task of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
OnProgress = Callable[[int, int], None]  # called with the finished tasks, and all


class TaskRunner(Protocol):
    """Runs tasks. A task may run again after it has failed, or twice at the same time; one result of each counts.

    The function and the items can be pickled. Compaction, reparse and index call it; its answer is what they publish.
    `periplus.spark.tasks.SparkRunner` runs tasks on a cluster.
    """

    @property
    def parallelism(self) -> int:
        """How many tasks run at the same time."""
        ...

    def run(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        on_progress: OnProgress = lambda _done, _all: None,
    ) -> Iterable[Result]:
        """Call the function with every item; the results are in the order of the items."""
        ...


class InProcessRunner:
    """Runs one task after the other in this process, when its result is asked for."""

    parallelism = 1

    def run(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        on_progress: OnProgress = lambda _done, _all: None,
    ) -> Iterable[Result]:
        """Call the function with every item."""
        for done, item in enumerate(items, 1):
            yield function(item)
            on_progress(done, len(items))
