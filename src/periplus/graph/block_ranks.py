"""Computes PageRank in blocks of target nodes, which may be on other machines.

Each block has the links to its nodes, and stays where it was loaded. An iteration broadcasts rank / out-degree of every
node to all blocks, and brings back the ranks of their nodes. The sums are those of `pagerank`, so the
ranks are the same.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from periplus.graph.kernel_choice import kernel_for
from periplus.graph.pagerank import Problem, equal_pieces, inverses, summing_to_one
from periplus.store.fleet_files.task_files import ScratchFiles

F32 = NDArray[np.float32]
Contributions = tuple[F32, float]  # rank / out-degree of every node; the total rank that random jumps distribute


@dataclass(frozen=True, slots=True)
class Block:
    """The links to some adjacent nodes."""

    indptr: NDArray[np.uint64]
    sources: NDArray[np.uint32]
    teleport: F32  # share of the random jumps, for every node of the block or one for all
    damping: float
    links: int  # of the whole graph


@dataclass(frozen=True, slots=True)
class BlockFile:
    """Names a block in a task; the task reads it."""

    files: ScratchFiles
    name: str
    damping: float
    links: int

    def load(self) -> Block:
        """Read the block."""
        data = io.BytesIO(self.files.read(self.name))
        indptr, sources, teleport = (np.load(data, allow_pickle=False) for _ in range(3))
        return Block(indptr, sources, teleport, self.damping, self.links)


class Blocks(Protocol):
    """All blocks, wherever they are; `periplus.spark.parts.CachedParts` keeps them in the executors of Spark."""

    def map(self, function: Callable[[Block, Contributions], F32], shared: Contributions) -> list[F32]:
        """Call the function with every block, and *shared*; the results are in the order of the blocks."""
        ...


def write_blocks(problem: Problem, files: ScratchFiles, blocks: int) -> list[BlockFile]:
    """Write the graph as about so many blocks of equal work."""
    links, teleport = problem.links, problem.teleport
    names = []
    everywhere = np.full(1, 1 / links.nodes, np.float32)
    for first, last in equal_pieces(links.indptr, links.nodes, blocks):
        start, end = int(links.indptr[first]), int(links.indptr[last])
        data = io.BytesIO()
        np.save(data, links.indptr[first : last + 1] - links.indptr[first])
        np.save(data, links.sources[start:end])
        np.save(data, everywhere if teleport is None else teleport[first:last].astype(np.float32))
        names.append(f"block-{first}")
        files.write(names[-1], data.getvalue())
    return [BlockFile(files, name, problem.method.damping, len(links.sources)) for name in names]


def pull(block: Block, shared: Contributions) -> F32:
    """The new ranks of the nodes of a block."""
    contributions, base = shared
    nodes = len(block.indptr) - 1
    rank, unused = np.zeros(nodes, np.float32), np.zeros(nodes, np.float32)
    kernel_for(block.links).pull(
        block.indptr, block.sources, contributions, unused, block.teleport, block.damping, base, rank, unused, 0, nodes
    )
    return rank


class BlockIteration:
    """The vectors of the iteration; the links are in the blocks."""

    def __init__(self, blocks: Blocks, problem: Problem) -> None:
        links, teleport, start = problem.links, problem.teleport, problem.start
        nodes = links.nodes
        self._blocks, self._damping = blocks, problem.method.damping
        self._inverse = inverses(links.degrees)
        self._least = 1 / nodes if teleport is None else float(teleport.astype(np.float32).min())
        self.rank = np.full(nodes, 1 / nodes, np.float32) if start is None else summing_to_one(start)

    @property
    def floor(self) -> float:
        """The rank that random jumps give to the least favoured node."""
        return self._base * self._least

    @property
    def _base(self) -> float:
        return 1 - self._damping * float(self.rank[self._inverse > 0].sum(dtype=np.float64))

    def advance(self) -> float:
        """Run one iteration; returns the L1 change of the ranks."""
        shared = (self.rank * self._inverse, self._base)
        new = np.concatenate(self._blocks.map(pull, shared))
        change = float(np.abs(new - self.rank).sum(dtype=np.float64))
        self.rank = new
        return change
