"""The loops of the link analysis, in NumPy: for small graphs, and where numba is not installed.

Every function has the name, the arguments and the result of its compiled twin in `kernel`. Importing and compiling the
twins takes 2 s of CPU; up to a few million links, these functions take less. They need some 60 bytes per link.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
_HALF = np.uint64(32)  # bits; two numbers of 32 bits are compared as one of 64

# -- PageRank ---------------------------------------------------------------------------------------------------


def pull(
    indptr: U64,
    sources: U32,
    given: F32,
    inverse: F32,
    teleport: F32,
    damping: float,
    base: float,
    rank: F32,
    gives: F32,
    first: int,
    last: int,
) -> tuple[float, float]:
    """One iteration for the nodes *first* to *last*; returns their change, and the rank of those with links."""
    nodes = slice(first, last)
    start, end = int(indptr[first]), int(indptr[last])
    received = _row_sums(given[sources[start:end]], indptr[first : last + 1].astype(np.int64) - start)
    share = teleport if len(teleport) == 1 else teleport[nodes]
    new = (damping * received + base * share.astype(np.float64)).astype(np.float32)
    change = float(np.abs(new - rank[nodes]).sum(dtype=np.float64))
    rank[nodes] = new
    gives[nodes] = new * inverse[nodes]
    return change, float(new[inverse[nodes] > 0].sum(dtype=np.float64))


def pull_weighted(
    indptr: I64, sources: U32, weights: F64, rank: F64, teleport: F64, damping: float, base: float, new: F64
) -> float:
    """One iteration of a graph with weighted links; returns the change of the ranks."""
    new[:] = damping * _row_sums(weights * rank[sources], indptr) + base * teleport
    return float(np.abs(new - rank).sum())


def _row_sums(values: F32 | F64, offsets: I64) -> F64:
    """The sum of every row of values, in 64 bits; *offsets* has the start of each row and the end of the last."""
    sums = np.zeros(len(offsets) - 1)
    filled = np.diff(offsets) > 0  # reduceat has no empty rows
    if len(values):
        sums[filled] = np.add.reduceat(values, offsets[:-1][filled], dtype=np.float64)
    return sums


# -- building the graph -------------------------------------------------------------------------------------------


def count(keys: U32, counts: I64) -> None:
    """Count how often every number occurs."""
    counts += np.bincount(keys, minlength=len(counts))


def place(keys: U32, values: U32, cursor: I64, out: U32) -> None:
    """Append the values to the rows of their keys, in order; *cursor* is the next free position of each row."""
    pairs = _pairs(keys, values)
    pairs.sort()  # faster than an order by key
    ordered = _upper(pairs)
    out[cursor[ordered] + _places(ordered)] = _lower(pairs)
    count(keys, cursor)


def transpose(indptr: I64, rows: U32, cursor: I64, out: U32) -> None:
    """Transpose the graph; the resulting rows are in order."""
    place(rows, _row_numbers(indptr), cursor, out)


def filter_links(indptr: I64, sources: U32, host: U32, limit: int, document: U32) -> tuple[int, I64, U32]:
    """Remove repeated links, self-links, links of duplicate documents, and links above *limit* to one other host.

    Rows are compacted in place; returns the number of links left, their number by target, and by source.
    """
    targets, nodes = _row_numbers(indptr), len(host)
    repeated = np.zeros(len(sources), np.bool_)
    repeated[1:] = (sources[1:] == sources[:-1]) & (targets[1:] == targets[:-1])
    kept = np.flatnonzero((sources != targets) & ~repeated)
    if len(document):
        copies = document[sources[kept]] > 0
        kept = _without(kept, copies, _pairs(targets[kept[copies]], document[sources[kept[copies]]]), 1)
    abroad = host[sources[kept]] != host[targets[kept]]
    kept = _without(kept, abroad, _pairs(sources[kept[abroad]], host[targets[kept[abroad]]]), limit)
    sources[: len(kept)] = sources[kept]
    degrees = np.bincount(sources[: len(kept)], minlength=nodes).astype(np.uint32)
    return len(kept), np.bincount(targets[kept], minlength=nodes), degrees


def _without(kept: I64, limited: NDArray[np.bool_], keys: U64, limit: int) -> I64:
    """The kept positions without those above *limit* of one key; *keys* are those of the *limited* positions."""
    order = np.argsort(keys, kind="stable")
    allowed = np.empty(len(keys), np.bool_)
    allowed[order] = _places(keys[order]) < limit
    chosen = np.ones(len(kept), np.bool_)
    chosen[limited] = allowed
    return kept[chosen]


def host_votes(indptr: U64, sources: U32, host: U32, hosts: int) -> tuple[U32, U32, U32]:
    """Pairs of hosts ordered by the second, and the number of pages of the first that link to the second."""
    del hosts
    targets = host[_row_numbers(indptr.astype(np.int64))]
    abroad = host[sources] != targets
    pages, _ = _distinct(_pairs(targets[abroad], sources[abroad]))
    pairs, votes = _distinct(_pairs(_upper(pages), host[_lower(pages)]))
    return _lower(pairs), _upper(pairs), votes.astype(np.uint32)


def _row_numbers(indptr: I64) -> U32:
    """The row of every position."""
    return np.repeat(np.arange(len(indptr) - 1, dtype=np.uint32), np.diff(indptr))


def _pairs(upper: U32, lower: U32) -> U64:
    return upper.astype(np.uint64) << _HALF | lower


def _upper(pairs: U64) -> U32:
    return (pairs >> _HALF).astype(np.uint32)


def _lower(pairs: U64) -> U32:
    return pairs.astype(np.uint32)  # drops the upper half


def _distinct(pairs: U64) -> tuple[U64, I64]:
    """Each pair once, in order, and how often it occurs; sorts *pairs* in place. np.unique takes 5 times as long."""
    pairs.sort()
    starts = np.flatnonzero(_is_new(pairs))
    return pairs[starts], np.diff(starts, append=len(pairs))


def _is_new(ordered: U32 | U64) -> NDArray[np.bool_]:
    """Whether every key differs from the one before."""
    starts = np.ones(len(ordered), np.bool_)
    starts[1:] = ordered[1:] != ordered[:-1]
    return starts


def _places(ordered: U32 | U64) -> I64:
    """The place of every key among the equal keys before it."""
    positions = np.arange(len(ordered))
    return positions - np.maximum.accumulate(np.where(_is_new(ordered), positions, 0))
