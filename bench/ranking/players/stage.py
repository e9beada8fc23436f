"""Loads the graph and runs passes on request, in the process of every program.

Peers run in environments without Periplus, so this module imports numpy only.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

DAMPING = 0.85
THREADS = len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Graph:
    """The arrays of a generation of ranks, mapped: the sources of node n are sources[indptr[n]:indptr[n + 1]]."""

    indptr: NDArray[np.uint64]
    sources: NDArray[np.uint32]
    degrees: NDArray[np.uint32]

    @property
    def nodes(self) -> int:
        return len(self.degrees)


def graph() -> Graph:
    """Loads the graph named on the command line."""
    names = ("indptr", "sources", "degrees")
    return Graph(*(np.asarray(np.load(f"{sys.argv[1]}/{name}.npy", mmap_mode="r")) for name in names))


def iterations() -> int:
    """The number of passes per round."""
    return int(sys.argv[2])


def play(once: Callable[[], list[float]]) -> None:
    """Runs a round for every line on stdin, and prints the best and the mean time of a pass in seconds."""
    print("ready", flush=True)
    for _ in sys.stdin:
        passes = once()
        print(min(passes), sum(passes) / len(passes), flush=True)


def timed(step: Callable[[], object]) -> list[float]:
    """The seconds of every pass of a round."""
    marks = [time.perf_counter()]
    for _ in range(iterations()):
        step()
        marks.append(time.perf_counter())
    return [end - begin for begin, end in pairwise(marks)]
