"""Runs two attempts of every task at the same time, as a cluster does when it takes one for slow or lost."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any


class TwoAttempts:
    """A `TaskRunner`; the result of the second attempt counts, and *results* has both."""

    parallelism = 2

    def __init__(self) -> None:
        self.results: list[tuple[Any, Any]] = []

    def run(
        self,
        function: Callable[[Any], Any],
        items: Sequence[Any],
        on_progress: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> Iterator[Any]:
        """Call the function with two copies of every item."""
        with ThreadPoolExecutor(2) as threads:
            for done, item in enumerate(items, 1):
                begin, sent = Barrier(2), pickle.dumps(item)

                def attempt(begin: Barrier = begin, sent: bytes = sent) -> Any:
                    begin.wait()
                    return function(pickle.loads(sent))

                first, second = threads.submit(attempt), threads.submit(attempt)
                self.results.append((first.result(), second.result()))
                yield self.results[-1][1]
                on_progress(done, len(items))
