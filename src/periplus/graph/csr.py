"""How do pairs of numbers become the sources of every target, in order, without sorting?

Two passes of counting: by source, which is nearly how pages arrive, and from there by target, where the sources then
come in order. Repeated links lie side by side, and the rules are applied on the way. The result does not depend on the
order of the pairs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from periplus.graph import kernel

U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]


@dataclass(slots=True)
class InLinks:
    """The sources of every node: those of node n are sources[indptr[n]:indptr[n + 1]], in order."""

    indptr: I64
    sources: U32


@dataclass(frozen=True, slots=True)
class Copies:
    """Nodes that show the same bytes as another one, and the number of the document they show, from 1."""

    nodes: U32
    documents: U32


def offsets(counts: NDArray[np.integer]) -> I64:
    """Where each row begins, and the last one ends."""
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def in_links(pairs: Iterable[pa.RecordBatch], most: int, nodes: int) -> InLinks:
    """All (source, target) pairs, of which there are at most *most*, by target."""
    sources, targets = _collected(pairs, most)
    rows, columns = offsets(_counts(sources, nodes)), offsets(_counts(targets, nodes))
    by_source = np.empty(len(sources), np.uint32)
    kernel.place(sources, targets, rows[:-1].copy(), by_source)
    del sources, targets
    by_target = np.empty(len(by_source), np.uint32)
    kernel.transpose(rows, by_source, columns[:-1].copy(), by_target)
    return InLinks(columns, by_target)


def _collected(pairs: Iterable[pa.RecordBatch], most: int) -> tuple[U32, U32]:
    sources, targets = np.empty(most, np.uint32), np.empty(most, np.uint32)  # untouched pages of these cost nothing
    end = 0
    for batch in pairs:
        start, end = end, end + batch.num_rows
        sources[start:end], targets[start:end] = (column.to_numpy() for column in batch.columns)
    return sources[:end], targets[:end]


def _counts(numbers: U32, nodes: int) -> I64:
    counts = np.zeros(nodes, np.int64)
    kernel.count(numbers, counts)
    return counts


def apply_rules(links: InLinks, host: U32, per_host: int, copies: Copies) -> U32:
    """Keep the links that count, in place; returns how many each node gives."""
    nodes = len(host)
    document = np.zeros(nodes if len(copies.nodes) else 0, np.uint32)
    document[copies.nodes] = copies.documents
    seen = np.zeros(int(copies.documents.max(initial=0)) + 1, np.uint32)
    state = np.zeros((nodes, 4), np.uint32)
    state[:, kernel.HOST] = host
    counts = np.empty(nodes, np.int64)
    kept = kernel.tidy(links.indptr, links.sources, state, per_host, document, seen, counts)
    links.indptr, links.sources = offsets(counts), links.sources[:kept]
    return state[:, kernel.DEGREE].copy()


def keep_nodes(links: InLinks, used: NDArray[np.bool_]) -> U32:
    """Drop nodes that have no links at all; returns the new number of each."""
    numbers = (np.cumsum(used) - 1).astype(np.uint32)
    if not used.all():
        kernel.renumber(links.sources, numbers)
        links.indptr = np.append(links.indptr[:-1][used], links.indptr[-1:])
    return numbers
