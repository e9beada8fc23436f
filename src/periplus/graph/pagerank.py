"""Computes PageRank of pages and hosts.

A random surfer follows links, and jumps to another page with probability 1 - damping, or at a page without links. The
rank of a page is the probability that the surfer is there. Jacobi iteration, so the result depends neither on the order
of the nodes nor on the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from periplus.graph.kernel_choice import kernel_for

_PIECES = 32  # of equal work; a fixed number, because the order of additions must not depend on the threads

Residuals = Callable[[int, float], None]  # number of the iteration, L1 change


@dataclass(frozen=True, slots=True)
class Links:
    """A graph by target: the sources of node n are sources[indptr[n]:indptr[n + 1]]."""

    indptr: NDArray[np.uint64]
    sources: NDArray[np.uint32]
    degrees: NDArray[np.uint32]  # links out of every node

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.degrees)


@dataclass(frozen=True, slots=True)
class WeightedLinks:
    """A graph by target with a share for every link: the part of its source's rank that it passes on."""

    indptr: NDArray[np.int64]
    sources: NDArray[np.uint32]
    shares: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PowerIteration:
    """Parameters of the iteration, and when it ends."""

    damping: float = 0.85
    tolerance: float = 1e-6  # L1 distance from the exact ranks
    iterations: int = 200
    threads: int = 0  # 0: one per core

    def ends(self, number: int, change: float) -> bool:
        """Whether the ranks are within the tolerance; a geometric series of changes bounds the remaining error."""
        return number >= self.iterations or change * self.damping / (1 - self.damping) <= self.tolerance


@dataclass(frozen=True, slots=True)
class Problem:
    """The graph of pages, and how its ranks are computed."""

    links: Links
    method: PowerIteration
    teleport: NDArray[np.float64] | None = None  # distribution of random jumps, which sums to 1; None: uniform
    start: NDArray[np.float32] | None = None  # ranks of an earlier run


@dataclass(frozen=True, slots=True)
class Ranking:
    """Ranks that sum to 1, and figures of their computation."""

    ranks: NDArray[np.float32]
    iterations: int
    delta: float
    floor: float  # the rank of a node without links to it


_EMPTY = Ranking(np.empty(0, np.float32), 0, 0.0, 1.0)


def page_ranks(
    links: Links,
    method: PowerIteration,
    teleport: NDArray[np.float64] | None = None,
    start: NDArray[np.float32] | None = None,
    on_iteration: Residuals = lambda _number, _delta: None,
) -> Ranking:
    """The rank of every node; *teleport* sums to 1 (None: uniform), *start* may be ranks of an earlier run."""
    if not links.nodes:
        return _EMPTY
    with _Iteration(links, method, teleport, start) as iteration:
        return iterate(iteration, method, on_iteration)


class Iteration(Protocol):
    """The state of a computation; `block_ranks` has another one."""

    rank: NDArray[np.float32]

    @property
    def floor(self) -> float:
        """The rank that random jumps give to the least favoured node."""
        ...

    def advance(self) -> float:
        """Run one iteration; returns the L1 change of the ranks."""
        ...


def iterate(iteration: Iteration, method: PowerIteration, on_iteration: Residuals) -> Ranking:
    """Iterate until the ranks are within the tolerance."""
    number, delta = 0, np.inf
    while not method.ends(number, delta):
        number, delta = number + 1, iteration.advance()
        on_iteration(number, delta)
    return Ranking(summing_to_one(iteration.rank), number, float(delta), iteration.floor)


class _Iteration:
    """The vectors and threads of the iteration."""

    def __init__(
        self,
        links: Links,
        method: PowerIteration,
        teleport: NDArray[np.float64] | None,
        start: NDArray[np.float32] | None,
    ) -> None:
        nodes = links.nodes
        self._damping = method.damping
        self._indptr, self._sources = links.indptr, links.sources
        self._kernel = kernel_for(len(links.sources))
        self._inverse = inverses(links.degrees)
        self._teleport = np.full(1, 1 / nodes, np.float32) if teleport is None else teleport.astype(np.float32)
        self.rank = np.full(nodes, 1 / nodes, np.float32) if start is None else summing_to_one(start)
        self._given = self.rank * self._inverse
        self._gives = np.empty_like(self._given)
        self._passed = float(self.rank[self._inverse > 0].sum(dtype=np.float64))
        self._pieces = equal_pieces(self._indptr, nodes)
        self._threads = ThreadPoolExecutor(method.threads or len(os.sched_getaffinity(0)))

    def __enter__(self) -> _Iteration:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown()

    @property
    def floor(self) -> float:
        """The rank that random jumps give to the least favoured node."""
        return self._base * float(self._teleport.min())

    @property
    def _base(self) -> float:
        return 1 - self._damping * self._passed

    def advance(self) -> float:
        """Run one iteration; returns the L1 change of the ranks."""
        base = self._base
        sums = list(self._threads.map(lambda piece: self._pull(base, *piece), self._pieces))
        self._given, self._gives = self._gives, self._given
        self._passed = sum(passed for _, passed in sums)
        return sum(change for change, _ in sums)

    def _pull(self, base: float, first: int, last: int) -> tuple[float, float]:
        return self._kernel.pull(
            self._indptr,
            self._sources,
            self._given,
            self._inverse,
            self._teleport,
            self._damping,
            base,
            self.rank,
            self._gives,
            first,
            last,
        )


def inverses(degrees: NDArray[np.uint32]) -> NDArray[np.float32]:
    """1 / out-degree of every node; 0 for a dead end."""
    inverse = np.zeros(len(degrees), np.float32)
    np.divide(np.float32(1), degrees, out=inverse, where=degrees > 0, casting="same_kind")
    return inverse


def equal_pieces(indptr: NDArray[np.uint64], nodes: int, pieces: int = _PIECES) -> list[tuple[int, int]]:
    """Ranges of nodes with about equal work; a node costs as much as 4 links."""
    work = np.linspace(0, int(indptr[-1]) + 4 * nodes, pieces + 1)
    bounds = np.searchsorted(indptr.astype(np.int64) + 4 * np.arange(nodes + 1), work)
    bounds[0], bounds[-1] = 0, nodes
    return [(int(first), int(last)) for first, last in pairwise(bounds) if first < last]


def summing_to_one(ranks: NDArray[np.float32]) -> NDArray[np.float32]:
    """The ranks, scaled."""
    scaled: NDArray[np.float32] = (ranks / ranks.sum(dtype=np.float64)).astype(np.float32)
    return scaled


def weighted_ranks(links: WeightedLinks, method: PowerIteration, teleport: NDArray[np.float64]) -> Ranking:
    """The rank of every host; rank that the shares do not pass on is distributed like that of a page without links."""
    nodes = len(teleport)
    if not nodes:
        return _EMPTY
    kernel = kernel_for(len(links.sources))
    passes = np.bincount(links.sources, links.shares, nodes)
    rank, new = np.full(nodes, 1 / nodes), np.empty(nodes)
    number, delta, base = 0, np.inf, 1.0
    while not method.ends(number, delta):
        base = 1 - method.damping * float(passes @ rank)
        delta = kernel.pull_weighted(
            links.indptr, links.sources, links.shares, rank, teleport, method.damping, base, new
        )
        rank, new, number = new, rank, number + 1
    return Ranking(rank.astype(np.float32), number, float(delta), base * float(teleport.min()))
