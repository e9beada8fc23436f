"""Builds the graph in compressed sparse rows (CSR): the sources of every target, in order, by counting sort.

The first pass counts by source, which is nearly the order in which pages arrive; the second by target, where the
sources then are in order. Repeated links are adjacent, and the rules are applied on the way. The result does not depend
on the order of the pairs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from periplus.graph.kernel_choice import kernel_for

U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]
_RENUMBERED_AT_ONCE = 1 << 20  # links; limits the memory of the copy
_PAIRS_AT_ONCE = 1 << 24  # large enough for the allocator to return the memory to the system at once


@dataclass(slots=True)
class InLinks:
    """The sources of every node: those of node n are sources[indptr[n]:indptr[n + 1]], in order."""

    indptr: I64
    sources: U32


@dataclass(frozen=True, slots=True)
class DuplicateTable:
    """Nodes with the same bytes as another node, and the number of their document, counted from 1."""

    nodes: U32
    documents: U32


def offsets(counts: NDArray[np.integer]) -> I64:
    """The start of each row, and the end of the last one."""
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def in_links(pairs: Iterable[pa.RecordBatch], nodes: int, at_once: int = _PAIRS_AT_ONCE) -> InLinks:
    """Group (source, target) pairs by target; takes 8 bytes per pair."""
    out_degrees, in_degrees = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    chunks = deque(_counted(_in_chunks(pairs, at_once), out_degrees, in_degrees))
    rows, columns = offsets(out_degrees), offsets(in_degrees)
    kernel = kernel_for(int(rows[-1]))
    by_source, cursor = np.empty(rows[-1], np.uint32), rows[:-1].copy()
    while chunks:  # each is freed before the next is placed
        kernel.place(*chunks.popleft(), cursor, by_source)
    by_target = np.empty(rows[-1], np.uint32)
    kernel.transpose(rows, by_source, columns[:-1].copy(), by_target)
    return InLinks(columns, by_target)


def _in_chunks(pairs: Iterable[pa.RecordBatch], size: int) -> Iterator[tuple[U32, U32]]:
    """Sources and targets in chunks of at most *size* pairs."""
    sources, targets, end = *_empty_chunk(size), 0
    for batch in pairs:
        if end + batch.num_rows > size:
            yield sources[:end], targets[:end]
            sources, targets, end = *_empty_chunk(size), 0
        start, end = end, end + batch.num_rows
        sources[start:end], targets[start:end] = (column.to_numpy() for column in batch.columns)
    yield sources[:end], targets[:end]


def _empty_chunk(size: int) -> tuple[U32, U32]:
    return np.empty(size, np.uint32), np.empty(size, np.uint32)  # untouched memory pages cost nothing


def _counted(chunks: Iterable[tuple[U32, U32]], out_degrees: I64, in_degrees: I64) -> Iterator[tuple[U32, U32]]:
    """Pass the chunks on, and count the links from and to every node."""
    for sources, targets in chunks:
        kernel = kernel_for(len(sources))
        kernel.count(sources, out_degrees)
        kernel.count(targets, in_degrees)
        yield sources, targets


def apply_rules(links: InLinks, host: U32, per_host: int, copies: DuplicateTable) -> U32:
    """Remove the links that do not count, in place; returns the out-degree of each node."""
    nodes = len(host)
    document = np.zeros(nodes if len(copies.nodes) else 0, np.uint32)
    document[copies.nodes] = copies.documents
    kernel = kernel_for(len(links.sources))
    kept, counts, degrees = kernel.filter_links(links.indptr, links.sources, host, per_host, document)
    links.indptr, links.sources = offsets(counts), links.sources[:kept]
    return degrees


def keep_nodes(links: InLinks, used: NDArray[np.bool_]) -> U32:
    """Remove unused nodes; returns the new number of each node."""
    numbers = (np.cumsum(used) - 1).astype(np.uint32)
    if not used.all():
        for start in range(0, len(links.sources), _RENUMBERED_AT_ONCE):
            part = links.sources[start : start + _RENUMBERED_AT_ONCE]
            part[:] = numbers[part]
        links.indptr = np.append(links.indptr[:-1][used], links.indptr[-1:])
    return numbers
