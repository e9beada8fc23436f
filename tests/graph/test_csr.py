"""The graph does not depend on the order of the links, and only links that count are left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.graph import csr

pytestmark = pytest.mark.usefixtures("each_kernel")

NODES = 12
Pair = tuple[int, int]
PAIRS = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=80)
ONE_HOST = np.zeros(NODES, np.uint32)
NO_COPIES = csr.DuplicateTable(np.empty(0, np.uint32), np.empty(0, np.uint32))


def streamed(pairs: list[Pair]) -> Iterator[pa.RecordBatch]:
    """As DuckDB sends them: signed, a few at a time."""
    for start in range(0, len(pairs), 7):
        columns = zip(*pairs[start : start + 7], strict=True)
        yield pa.record_batch([pa.array(column, pa.int32()) for column in columns], ["source", "target"])


def links_of(pairs: list[Pair]) -> csr.InLinks:
    return csr.in_links(streamed(pairs), NODES, at_once=16)


def as_pairs(links: csr.InLinks) -> list[Pair]:
    """By target, the sources of each in order."""
    targets = np.repeat(np.arange(len(links.indptr) - 1), np.diff(links.indptr))
    return list(zip(links.sources.tolist(), targets.tolist(), strict=True))


def by_target(pairs: Iterable[Pair]) -> list[Pair]:
    return sorted(pairs, key=lambda pair: pair[::-1])


@given(PAIRS, st.randoms())
def test_links_come_out_sorted_whatever_order_they_arrive_in(pairs: list[Pair], random: Random) -> None:
    shuffled = pairs.copy()
    random.shuffle(shuffled)
    assert as_pairs(links_of(shuffled)) == by_target(pairs)


@given(PAIRS)
def test_each_link_counts_once_and_none_to_itself(pairs: list[Pair]) -> None:
    links = links_of(pairs)
    degrees = csr.apply_rules(links, ONE_HOST, 1, NO_COPIES)
    expected = {(source, target) for source, target in pairs if source != target}
    assert as_pairs(links) == by_target(expected)
    assert degrees.tolist() == [sum(source == node for source, _ in expected) for node in range(NODES)]


@given(PAIRS, st.integers(1, 3))
def test_no_page_gives_more_than_its_limit_to_another_host(pairs: list[Pair], limit: int) -> None:
    host = np.arange(NODES, dtype=np.uint32) // 4
    links = links_of(pairs)
    csr.apply_rules(links, host, limit, NO_COPIES)
    expected: list[Pair] = []
    for source, target in sorted({pair for pair in pairs if pair[0] != pair[1]}):
        given_already = sum(s == source and host[t] == host[target] for s, t in expected)
        if host[source] == host[target] or given_already < limit:
            expected.append((source, target))
    assert as_pairs(links) == by_target(expected)


def test_links_of_duplicate_documents_count_once_for_the_first_duplicate() -> None:
    links = links_of([(1, 5), (1, 6), (3, 5), (3, 7), (3, 7), (4, 5), (4, 6), (2, 5)])
    copies = csr.DuplicateTable(np.array([1, 3, 4], np.uint32), np.array([1, 1, 1], np.uint32))
    degrees = csr.apply_rules(links, ONE_HOST, 1, copies)
    assert as_pairs(links) == [(1, 5), (2, 5), (1, 6), (3, 7)]
    assert degrees[[1, 2, 3, 4]].tolist() == [2, 1, 1, 0]


def test_unused_nodes_are_removed_and_the_others_renumbered() -> None:
    links = links_of([(1, 5), (5, 11)])
    csr.apply_rules(links, ONE_HOST, 1, NO_COPIES)
    used = np.isin(np.arange(NODES), (1, 5, 11))
    numbers = csr.keep_nodes(links, used)
    assert numbers[used].tolist() == [0, 1, 2]
    assert as_pairs(links) == [(0, 1), (1, 2)]
