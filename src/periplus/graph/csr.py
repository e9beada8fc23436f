"""How do pairs of numbers become rows in order, without sorting and within eight bytes a link?

Three passes of counting: by target, by source (where repeated links lie side by side and rules are applied), and by
target again, which is the form that PageRank reads. The result does not depend on the order of the pairs.
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
class Rows:
    """Targets of every source, in order."""

    indptr: I64
    targets: U32


def offsets(counts: NDArray[np.integer]) -> I64:
    """Where each row begins, and the last one ends."""
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def sorted_rows(pairs: Iterable[pa.RecordBatch], most: int, nodes: int) -> tuple[Rows, I64]:
    """Rows of (source, target) pairs, of which there are at most *most*; also how often each node is a target."""
    sources, targets = _collected(pairs, most)
    in_links, out_links = _counts(targets, nodes), _counts(sources, nodes)
    starts = offsets(in_links)
    column = np.empty(len(sources), np.uint32)
    kernel.place(targets, sources, starts[:-1].copy(), column)
    del sources, targets
    rows = Rows(offsets(out_links), np.empty(len(column), np.uint32))
    kernel.transpose(starts, column, rows.indptr[:-1].copy(), rows.targets)
    return rows, in_links


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


def apply_rules(rows: Rows, host: U32, per_host: int, copies: tuple[U32, U32]) -> U32:
    """Keep the links that count, in place; returns the out-degrees. *copies* are nodes and the document each shows."""
    nodes = len(host)
    if len(copies[0]):
        kernel.credit_once(rows.indptr, rows.targets, *copies, np.zeros(nodes, np.uint32))
    degrees = np.empty(nodes, np.uint32)
    kept = kernel.tidy(rows.indptr, rows.targets, host, per_host, degrees)
    rows.indptr, rows.targets = offsets(degrees), rows.targets[:kept]
    return degrees


def keep_nodes(rows: Rows, used: NDArray[np.bool_]) -> U32:
    """Drop nodes that have no links at all; returns the new number of each."""
    numbers = (np.cumsum(used) - 1).astype(np.uint32)
    if not used.all():
        kernel.renumber(rows.targets, numbers)
        rows.indptr = np.append(rows.indptr[:-1][used], rows.indptr[-1:])
    return numbers


def by_target(rows: Rows, indptr: NDArray[np.uint64], sources: U32) -> None:
    """Fill *indptr* and *sources* with the same links, turned round."""
    nodes = len(rows.indptr) - 1
    indptr[:] = offsets(_counts(rows.targets, nodes)).view(np.uint64)
    kernel.transpose(rows.indptr, rows.targets, indptr[:-1].astype(np.int64), sources)
