"""How do pairs of numbers become the sources of every target, in order, without sorting?

Two passes of counting: by source, which is nearly how pages arrive, and from there by target, where the sources then
come in order. Repeated links lie side by side, and the rules are applied on the way. The result does not depend on the
order of the pairs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from periplus.graph import kernel

U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]
_PAIRS_AT_ONCE = 1 << 24  # as large as allocations must be to be given back to the system at once


@dataclass(slots=True)
class InLinks:
    """The sources of every node: those of node n are sources[indptr[n]:indptr[n + 1]], in order."""

    indptr: I64
    sources: U32


@dataclass(frozen=True, slots=True)
class DuplicateTable:
    """Nodes that show the same bytes as another one, and the number of the document they show, from 1."""

    nodes: U32
    documents: U32


def offsets(counts: NDArray[np.integer]) -> I64:
    """Where each row begins, and the last one ends."""
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def in_links(pairs: Iterable[pa.RecordBatch], nodes: int, at_once: int = _PAIRS_AT_ONCE) -> InLinks:
    """All (source, target) pairs, by target; takes 8 bytes a pair."""
    given, received = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    chunks = deque(_counted(_in_chunks(pairs, at_once), given, received))
    rows, columns = offsets(given), offsets(received)
    by_source, cursor = np.empty(rows[-1], np.uint32), rows[:-1].copy()
    while chunks:  # each is given back before the next is placed
        kernel.place(*chunks.popleft(), cursor, by_source)
    by_target = np.empty(rows[-1], np.uint32)
    kernel.transpose(rows, by_source, columns[:-1].copy(), by_target)
    return InLinks(columns, by_target)


def _in_chunks(pairs: Iterable[pa.RecordBatch], size: int) -> Iterator[tuple[U32, U32]]:
    """Sources and targets, *size* pairs at a time or somewhat fewer."""
    sources, targets, end = *_room(size), 0
    for batch in pairs:
        if end + batch.num_rows > size:
            yield sources[:end], targets[:end]
            sources, targets, end = *_room(size), 0
        start, end = end, end + batch.num_rows
        sources[start:end], targets[start:end] = (column.to_numpy() for column in batch.columns)
    yield sources[:end], targets[:end]


def _room(size: int) -> tuple[U32, U32]:
    return np.empty(size, np.uint32), np.empty(size, np.uint32)  # untouched pages of these cost nothing


def _counted(chunks: Iterable[tuple[U32, U32]], given: I64, received: I64) -> Iterator[tuple[U32, U32]]:
    """The same chunks; how many links every node gives and receives is noted on the way."""
    for sources, targets in chunks:
        kernel.count(sources, given)
        kernel.count(targets, received)
        yield sources, targets


def apply_rules(links: InLinks, host: U32, per_host: int, copies: DuplicateTable) -> U32:
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
