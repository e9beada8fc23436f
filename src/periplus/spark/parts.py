"""Keeps parts of a data set in the memory of the executors, and runs a function on all of them again and again.

A part that is lost with its executor is loaded again, so loading must give the same part each time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from pyspark import StorageLevel
from pyspark.sql import SparkSession

from periplus.spark.failures import plain_errors

Item = TypeVar("Item")
Part = TypeVar("Part")
Shared = TypeVar("Shared")
Result = TypeVar("Result")


class CachedParts(Generic[Part]):
    """The parts, each the work of one task."""

    def __init__(self, session: SparkSession, load: Callable[[Item], Part], items: Sequence[Item]) -> None:
        self._context = session.sparkContext
        parts = self._context.parallelize(items, max(len(items), 1)).map(load)
        self._parts = parts.persist(StorageLevel.MEMORY_AND_DISK)

    def map(self, function: Callable[[Part, Shared], Result], shared: Shared) -> list[Result]:
        """Call the function with every part; *shared* is sent to every executor once. Results are in order."""
        with plain_errors():
            sent = self._context.broadcast(shared)
            try:
                return self._parts.map(lambda part: function(part, sent.value)).collect()
            finally:
                sent.destroy()

    def close(self) -> None:
        """Free the memory of the executors."""
        self._parts.unpersist()
