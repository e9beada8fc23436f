"""How much does every page and every host matter?

A reader who follows links at random, and with probability 1 - damping, or at a dead end, goes somewhere else: the rank
of a page is how often that reader is there. Jacobi iteration, so the result does not depend on the order of the nodes,
nor on the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from periplus.graph import kernel

_PIECES = 32  # of equal work; more than there are cores, and always the same, because sums are added piece by piece

Residuals = Callable[[int, float], None]  # number of the iteration, L1 change


@dataclass(frozen=True, slots=True)
class Links:
    """A graph by target: the sources of node n are sources[indptr[n]:indptr[n + 1]]."""

    indptr: NDArray[np.uint64]
    sources: NDArray[np.uint32]
    degrees: NDArray[np.uint32]  # links out of every node

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.degrees)


@dataclass(frozen=True, slots=True)
class WeightedLinks:
    """The same with a share for every link: what part of its source's rank it passes on."""

    indptr: NDArray[np.int64]
    sources: NDArray[np.uint32]
    shares: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PowerIteration:
    """The habits of the random reader, and when to stop watching."""

    damping: float = 0.85
    tolerance: float = 1e-6  # L1 distance from the exact ranks
    iterations: int = 200
    threads: int = 0  # 0: one a core

    def ends(self, number: int, change: float) -> bool:
        """Whether the ranks are near enough: what is still missing is a geometric series of changes."""
        return number >= self.iterations or change * self.damping / (1 - self.damping) <= self.tolerance


@dataclass(frozen=True, slots=True)
class Ranking:
    """Ranks that sum to one, and how they were reached."""

    ranks: NDArray[np.float32]
    iterations: int
    delta: float
    floor: float  # the rank of a node that nothing links to


_NOTHING = Ranking(np.empty(0, np.float32), 0, 0.0, 1.0)


def page_ranks(
    links: Links,
    walk: PowerIteration,
    teleport: NDArray[np.float64] | None = None,
    start: NDArray[np.float32] | None = None,
    watch: Residuals = lambda _number, _delta: None,
) -> Ranking:
    """The rank of every node; *teleport* sums to one (None: everywhere alike), *start* may be ranks of before."""
    if not links.nodes:
        return _NOTHING
    with _Iteration(links, walk, teleport, start) as iteration:
        number, delta = 0, np.inf
        while not walk.ends(number, delta):
            number, delta = number + 1, iteration.advance()
            watch(number, delta)
        return Ranking(_summing_to_one(iteration.rank), number, float(delta), iteration.floor)


class _Iteration:
    """The vectors of an iteration, and the threads that run it."""

    def __init__(
        self,
        links: Links,
        walk: PowerIteration,
        teleport: NDArray[np.float64] | None,
        start: NDArray[np.float32] | None,
    ) -> None:
        nodes = links.nodes
        self._damping = walk.damping
        self._indptr, self._sources = links.indptr, links.sources
        self._inverse = _inverses(links.degrees)
        self._teleport = np.full(1, 1 / nodes, np.float32) if teleport is None else teleport.astype(np.float32)
        self.rank = np.full(nodes, 1 / nodes, np.float32) if start is None else _summing_to_one(start)
        self._given = self.rank * self._inverse
        self._gives = np.empty_like(self._given)
        self._passed = float(self.rank[self._inverse > 0].sum(dtype=np.float64))
        self._pieces = _equal_pieces(self._indptr, nodes)
        self._threads = ThreadPoolExecutor(walk.threads or len(os.sched_getaffinity(0)))

    def __enter__(self) -> _Iteration:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown()

    @property
    def floor(self) -> float:
        """What teleports give to the least favoured node."""
        return self._base * float(self._teleport.min())

    @property
    def _base(self) -> float:
        return 1 - self._damping * self._passed

    def advance(self) -> float:
        """One step of the reader, everywhere at once; returns how much the ranks changed."""
        base = self._base
        sums = list(self._threads.map(lambda piece: self._pull(base, *piece), self._pieces))
        self._given, self._gives = self._gives, self._given
        self._passed = sum(passed for _, passed in sums)
        return sum(change for change, _ in sums)

    def _pull(self, base: float, first: int, last: int) -> tuple[float, float]:
        return kernel.pull(
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


def _inverses(degrees: NDArray[np.uint32]) -> NDArray[np.float32]:
    inverse = np.zeros(len(degrees), np.float32)
    np.divide(np.float32(1), degrees, out=inverse, where=degrees > 0, casting="same_kind")
    return inverse


def _equal_pieces(indptr: NDArray[np.uint64], nodes: int) -> list[tuple[int, int]]:
    """Ranges of nodes with about the same number of links; a node costs as much as some links do."""
    work = np.linspace(0, int(indptr[-1]) + 4 * nodes, _PIECES + 1)
    bounds = np.searchsorted(indptr.astype(np.int64) + 4 * np.arange(nodes + 1), work)
    bounds[0], bounds[-1] = 0, nodes
    return [(int(first), int(last)) for first, last in pairwise(bounds) if first < last]


def _summing_to_one(ranks: NDArray[np.float32]) -> NDArray[np.float32]:
    scaled: NDArray[np.float32] = (ranks / ranks.sum(dtype=np.float64)).astype(np.float32)
    return scaled


def weighted_ranks(links: WeightedLinks, walk: PowerIteration, teleport: NDArray[np.float64]) -> Ranking:
    """The rank of every host; what the shares of a host do not pass on is spread like the mass of a dead end."""
    nodes = len(teleport)
    if not nodes:
        return _NOTHING
    passes = np.bincount(links.sources, links.shares, nodes)
    rank, new = np.full(nodes, 1 / nodes), np.empty(nodes)
    number, delta, base = 0, np.inf, 1.0
    while not walk.ends(number, delta):
        base = 1 - walk.damping * float(passes @ rank)
        delta = kernel.pull_weighted(links.indptr, links.sources, links.shares, rank, teleport, walk.damping, base, new)
        rank, new, number = new, rank, number + 1
    return Ranking(rank.astype(np.float32), number, float(delta), base * float(teleport.min()))
