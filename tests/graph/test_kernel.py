"""The compiled loops are correct, and only the link analysis loads the compiler."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from periplus.graph import kernel


def pulled(given: list[float] | np.ndarray[tuple[int], np.dtype[np.float32]]) -> float:
    """The rank of a node that all others link to, each giving so much."""
    links = len(given)
    rank, gives = np.zeros(links + 1, np.float32), np.zeros(links + 1, np.float32)
    kernel.pull(
        np.append(np.zeros(links + 1, np.uint64), np.uint64(links)),
        np.arange(links, dtype=np.uint32),
        np.array(given, np.float32),
        np.ones(links + 1, np.float32),
        np.zeros(1, np.float32),
        1.0,
        0.0,
        rank,
        gives,
        links,
        links + 1,
    )
    assert gives[links] == rank[links]
    return float(rank[links])


@pytest.mark.parametrize("links", [0, 1, 3, 4, 5, 8, 1003])
def test_a_node_receives_the_rank_of_all_its_sources(links: int) -> None:
    assert pulled([float(number) for number in range(links)]) == sum(range(links))


def test_a_hub_of_a_million_small_sources_loses_hardly_any_precision() -> None:
    small = np.full(1_000_000, 1e-7, np.float32)
    assert pulled(small) == pytest.approx(small.sum(dtype=np.float64), rel=3e-6)


def test_crawling_and_reading_ranks_do_not_load_the_compiler() -> None:
    modules = ("cli.commands.crawl", "cli.commands.inspect", "cli.commands.top", "inspector.url_report")
    code = f"import sys, {', '.join(f'periplus.{name}' for name in modules)}; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
