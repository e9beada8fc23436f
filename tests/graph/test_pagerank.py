"""Ranks agree with the textbook, whatever the shape of the graph and however many threads there are."""

from __future__ import annotations

import tarfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pyarrow import csv

from periplus.graph.pagerank import Links, PowerIteration, Ranking, WeightedLinks, page_ranks, weighted_ranks
from shared_data import shared

pytestmark = pytest.mark.usefixtures("each_kernel")

Pairs = NDArray[np.uint32]  # two columns: source, target


def links_of(nodes: int, pairs: Pairs) -> Links:
    """A graph by target, made with numpy only; links to itself and repeated ones must be gone already."""
    pairs = pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))]
    indptr = np.searchsorted(pairs[:, 1], np.arange(nodes + 1)).astype(np.uint64)
    degrees = np.bincount(pairs[:, 0], minlength=nodes).astype(np.uint32)
    return Links(indptr, np.ascontiguousarray(pairs[:, 0]), degrees)


def clean(pairs: Pairs) -> Pairs:
    """Each link once, and none to itself."""
    keys = np.unique(pairs[:, 0].astype(np.uint64) << np.uint64(32) | pairs[:, 1])
    unique = np.column_stack([keys >> np.uint64(32), keys & np.uint64(0xFFFFFFFF)]).astype(np.uint32)
    return np.compress(unique[:, 0] != unique[:, 1], unique, axis=0)


def textbook(
    nodes: int, pairs: Pairs, teleport: NDArray[np.float64] | None = None, damping: float = 0.85
) -> NDArray[np.float64]:
    """Power iteration in 64 bits, pushing along every link: nothing in common with the kernel."""
    teleport = np.full(nodes, 1 / nodes) if teleport is None else teleport
    source, target = pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.int64)
    degrees = np.bincount(source, minlength=nodes)
    rank, change = np.full(nodes, 1 / nodes), 1.0
    while change > 1e-12:
        pushed = np.bincount(target, rank[source] / degrees[source], nodes)
        lost = rank[degrees == 0].sum()
        new = damping * (pushed + lost * teleport) + (1 - damping) * teleport
        rank, change = new, np.abs(new - rank).sum()
    return rank


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Pairs]:
    nodes = draw(st.integers(1, 40))
    ends = st.integers(0, nodes - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=200))
    return nodes, np.array(pairs, np.uint32).reshape(-1, 2)


NO_LINKS = np.empty((0, 2), np.uint32)
ITSELF = np.array([[0, 0], [1, 1]], np.uint32)
TWO_ISLANDS = np.array([[0, 1], [1, 0], [2, 3], [3, 4], [4, 2]], np.uint32)


@given(graphs())
@example((1, NO_LINKS))
@example((5, NO_LINKS))
@example((2, ITSELF))
@example((5, TWO_ISLANDS))
def test_ranks_are_those_of_the_textbook(graph: tuple[int, Pairs]) -> None:
    nodes, pairs = graph[0], clean(graph[1])
    ranking = page_ranks(links_of(nodes, pairs), PowerIteration())
    assert np.abs(ranking.ranks - textbook(nodes, pairs)).sum() <= 3e-6
    assert ranking.ranks.sum(dtype=float) == pytest.approx(1, abs=1e-6)
    assert ranking.delta <= 1e-6


@given(graphs(), st.data())
def test_a_teleport_to_some_is_that_of_the_textbook(graph: tuple[int, Pairs], data: st.DataObject) -> None:
    nodes, pairs = graph[0], clean(graph[1])
    shares = np.array(data.draw(st.lists(st.integers(1, 9), min_size=nodes, max_size=nodes)), float)
    shares /= shares.sum()
    ranking = page_ranks(links_of(nodes, pairs), PowerIteration(), shares)
    assert np.abs(ranking.ranks - textbook(nodes, pairs, shares)).sum() <= 3e-6


def test_a_graph_without_nodes_has_no_ranks() -> None:
    assert len(page_ranks(links_of(0, NO_LINKS), PowerIteration()).ranks) == 0


def random_web(nodes: int = 5000, edges: int = 60_000) -> Links:
    numbers = np.random.default_rng(7)
    return links_of(nodes, clean(numbers.integers(0, nodes, (edges, 2), np.uint32)))


def test_the_number_of_threads_does_not_change_a_bit() -> None:
    links = random_web()
    results = [page_ranks(links, PowerIteration(threads=threads)).ranks.tobytes() for threads in (1, 2, 5)]
    assert len(set(results)) == 1


def test_the_floor_is_the_rank_of_a_node_that_nothing_links_to() -> None:
    ranking = page_ranks(links_of(3, np.array([[0, 1], [1, 2]], np.uint32)), PowerIteration())
    assert ranking.floor == pytest.approx(ranking.ranks[0])


def test_iterations_end_at_their_limit_and_the_residual_is_reported() -> None:
    seen: list[tuple[int, float]] = []
    ranking = page_ranks(
        random_web(), PowerIteration(iterations=3), on_iteration=lambda number, delta: seen.append((number, delta))
    )
    assert ranking.iterations == 3
    assert [number for number, _ in seen] == [1, 2, 3]
    assert seen[-1][1] == ranking.delta > 1e-6


def test_ranks_that_are_known_already_need_one_iteration() -> None:
    links = random_web()
    known = page_ranks(links, PowerIteration(tolerance=1e-7))
    again = page_ranks(links, PowerIteration(), start=known.ranks)
    assert again.iterations == 1


def test_rank_that_a_host_does_not_pass_on_goes_to_all_hosts() -> None:
    half = WeightedLinks(np.array([0, 0, 1]), np.array([0], np.uint32), np.array([0.5]))
    ranking = weighted_ranks(half, PowerIteration(), np.array([0.5, 0.5]))
    a, b = ranking.ranks.astype(float)
    teleport = 1 - 0.85 * 0.5 * a
    assert a == pytest.approx(teleport / 2, abs=1e-6)
    assert b == pytest.approx(teleport / 2 + 0.85 * 0.5 * a, abs=1e-6)


@pytest.fixture(scope="module")
def crawl_of_2000(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Pairs]:
    """The Italian research council's web in 2000: 325,557 pages, 3.2 million links."""
    folder = tmp_path_factory.mktemp("cnr")
    with tarfile.open(shared("graphs/cnr-2000.tar.xz")) as archive:
        archive.extractall(folder, filter="data")
    (path,) = Path(folder).glob("*.tsv")
    table = csv.read_csv(path, csv.ReadOptions(column_names=["source", "target"]), csv.ParseOptions(delimiter="\t"))
    pairs = np.column_stack([table[name].to_numpy().astype(np.uint32) for name in ("source", "target")])
    path.unlink()
    return int(pairs.max()) + 1, clean(pairs)


@pytest.mark.slow
def test_a_real_web_is_ranked_as_by_an_independent_program(crawl_of_2000: tuple[int, Pairs]) -> None:
    nodes, pairs = crawl_of_2000
    expected = textbook(nodes, pairs)
    ranking: Ranking = page_ranks(links_of(nodes, pairs), PowerIteration())
    assert np.abs(ranking.ranks - expected).sum() <= 3e-6
    assert ranking.ranks.sum(dtype=float) == pytest.approx(1, abs=1e-6)
    assert set(np.argsort(-ranking.ranks)[:1000]) == set(np.argsort(-expected)[:1000])
    assert ranking.iterations <= 80
