"""Measures the CPU time of searches in this process."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]


def milliseconds(search: Callable[[Any], object], queries: Sequence[Any], rounds: int) -> Times:
    """CPU milliseconds of each query: the best of some rounds, after one that does not count."""
    spent = np.empty((rounds + 1, len(queries)))
    for number in range(rounds + 1):
        for place, query in enumerate(queries):
            before = time.process_time()
            search(query)
            spent[number, place] = 1e3 * (time.process_time() - before)
    best: Times = spent[1:].min(axis=0)
    return best
