"""NumPy and the compiled kernel give the same graph, the same votes and the same ranks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from graph.test_pagerank import clean, links_of, random_web
from periplus.graph import kernel, kernel_choice, plain_kernel
from periplus.graph.csr import InLinks, offsets
from periplus.graph.pagerank import PowerIteration, WeightedLinks, page_ranks, weighted_ranks

NODES = 20
ENDS = st.integers(0, NODES - 1)
PAIRS = st.lists(st.tuples(ENDS, ENDS), max_size=150)
HOSTS = st.lists(st.integers(0, 4), min_size=NODES, max_size=NODES).map(
    lambda hosts: np.array(sorted(hosts), np.uint32)
)
DOCUMENTS: st.SearchStrategy[list[int]] = st.one_of(
    st.just([]), st.lists(st.integers(0, 3), min_size=NODES, max_size=NODES)
)


def with_each(action: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """The results of NumPy and of the compiled kernel."""
    results = []
    for bound in (1 << 60, -1):
        monkeypatch.setattr(kernel_choice, "FEW_LINKS", bound)
        results.append(action())
    return results[0], results[1]


def by_target(pairs: list[tuple[int, int]]) -> InLinks:
    ordered = np.array(sorted(pairs, key=lambda pair: pair[::-1]), np.uint32).reshape(-1, 2)
    counts = np.bincount(ordered[:, 1], minlength=NODES)
    return InLinks(offsets(counts), np.ascontiguousarray(ordered[:, 0]))


@given(PAIRS, HOSTS, DOCUMENTS, st.integers(1, 3))
def test_the_same_links_are_removed(
    pairs: list[tuple[int, int]], host: NDArray[np.uint32], documents: list[int], limit: int
) -> None:
    document, found = np.array(documents, np.uint32), []
    for module in (plain_kernel, kernel):
        links = by_target(pairs)
        kept, counts, degrees = module.filter_links(links.indptr, links.sources, host, limit, document)
        found.append((links.sources[:kept].tolist(), counts.tolist(), degrees.tolist(), degrees.dtype))
    assert found[0] == found[1]


@given(PAIRS, HOSTS)
def test_hosts_get_the_same_votes(pairs: list[tuple[int, int]], host: NDArray[np.uint32]) -> None:
    links, found = by_target(pairs), []
    for module in (plain_kernel, kernel):
        votes = module.host_votes(links.indptr.astype(np.uint64), links.sources, host, 5)
        assert np.all(np.diff(votes[1].astype(int)) >= 0), "in the order of the second host"
        found.append(sorted(zip(*(column.tolist() for column in votes), strict=True)))
    assert found[0] == found[1]


@given(PAIRS)
def test_pairs_are_grouped_alike(pairs: list[tuple[int, int]]) -> None:
    columns, found = np.array(sorted(pairs), np.uint32).reshape(-1, 2), []
    for module in (plain_kernel, kernel):
        counts, out = np.zeros(NODES, np.int64), np.empty(len(pairs), np.uint32)
        module.count(columns[:, 1].copy(), counts)
        module.place(columns[:, 1].copy(), columns[:, 0].copy(), offsets(counts)[:-1], out)
        found.append((counts.tolist(), out.tolist()))
    assert found[0] == found[1]


def test_pages_get_the_same_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    links = random_web()
    for teleport in (None, np.random.default_rng(1).dirichlet(np.ones(links.nodes))):
        ranking = partial(page_ranks, links, PowerIteration(), teleport)
        plain, compiled = with_each(ranking, monkeypatch)
        assert np.abs(plain.ranks.astype(float) - compiled.ranks).sum() <= 1e-6
        assert plain.floor == pytest.approx(compiled.floor, rel=1e-5)


def test_hosts_get_the_same_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.random.default_rng(2)
    links = links_of(300, clean(numbers.integers(0, 300, (2000, 2), np.uint32)))
    shares = 1.0 / links.degrees[links.sources]
    weighted = WeightedLinks(links.indptr.astype(np.int64), links.sources, shares)
    plain, compiled = with_each(lambda: weighted_ranks(weighted, PowerIteration(), np.full(300, 1 / 300)), monkeypatch)
    assert np.abs(plain.ranks.astype(float) - compiled.ranks).sum() <= 1e-6
    assert plain.iterations == compiled.iterations
