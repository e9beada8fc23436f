"""Ranks computed in blocks are those of the whole graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from periplus.graph.block_ranks import Block, BlockFile, BlockIteration, Contributions, write_blocks
from periplus.graph.pagerank import Links, PowerIteration, Problem, iterate, page_ranks
from periplus.store.fleet_files.task_files import ScratchFiles

NODES, METHOD = 500, PowerIteration(threads=1)


class BlocksHere:
    """All blocks in this process."""

    def __init__(self, files: list[BlockFile]) -> None:
        self.blocks = [file.load() for file in files]

    def map(
        self, function: Callable[[Block, Contributions], NDArray[np.float32]], shared: Contributions
    ) -> list[NDArray[np.float32]]:
        return [function(block, shared) for block in self.blocks]


def random_graph() -> Links:
    random = np.random.default_rng(3)
    counts = random.zipf(1.7, NODES).clip(max=60)
    counts[::5] = 0
    sources = random.integers(0, NODES // 2, counts.sum())
    indptr = np.concatenate([[0], np.cumsum(counts)])
    degrees = np.bincount(sources, minlength=NODES)  # half of the nodes are dead ends
    return Links(indptr.astype(np.uint64), sources.astype(np.uint32), degrees.astype(np.uint32))


@pytest.mark.parametrize("blocks", [1, 3, 1000])
@pytest.mark.parametrize("is_trusting", [False, True])
def test_any_number_of_blocks_gives_the_ranks_of_the_whole_graph(
    blocks: int, is_trusting: bool, tmp_path: Path, each_kernel: str
) -> None:
    links = random_graph()
    teleport = np.arange(NODES) / np.arange(NODES).sum() if is_trusting else None
    whole = page_ranks(links, METHOD, teleport)
    problem = Problem(links, METHOD, teleport)
    found = write_blocks(problem, ScratchFiles(tmp_path, "", "job"), blocks)
    parts = iterate(BlockIteration(BlocksHere(found), problem), METHOD, lambda _n, _d: None)
    assert np.abs(parts.ranks - whole.ranks).sum() < 1e-9
    assert parts.iterations == whole.iterations
    assert parts.floor == pytest.approx(whole.floor)


def test_a_warm_start_needs_fewer_iterations(tmp_path: Path) -> None:
    cold_start = Problem(random_graph(), METHOD)
    blocks = BlocksHere(write_blocks(cold_start, ScratchFiles(tmp_path, "", "job"), 4))
    cold = iterate(BlockIteration(blocks, cold_start), METHOD, lambda _n, _d: None)
    warm_start = replace(cold_start, start=cold.ranks)
    warm = iterate(BlockIteration(blocks, warm_start), METHOD, lambda _n, _d: None)
    assert warm.iterations < cold.iterations
