"""Which loops run at the speed of memory?

Compiled by numba, which costs a second and a hundred megabytes to import: nothing outside the link analysis may import
this module. Measured choices: unsigned 32-bit ids (a signed one is tested for "counts from the end" at every access),
four accumulators (one waits for its own last addition), no fastmath (it reorders the gather and doubles the time).
Every function works on a range of its own and returns its sums, so results do not depend on how many threads there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., object])
U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]


def compiled(function: Function) -> Function:
    """The function as machine code that runs beside other threads."""
    made: Function = numba.njit(nogil=True)(function)
    return made


# -- PageRank ---------------------------------------------------------------------------------------------------


@compiled
def pull(
    indptr: I64,
    sources: U32,
    given: F32,  # what every node gives along each of its links
    inverse: F32,  # 1 / out-degree; 0 for a dead end
    teleport: F32,  # share of the teleports, for every node or one for all
    damping: float,
    base: float,  # mass that teleports
    rank: F32,
    gives: F32,  # what every node will give next
    first: int,
    last: int,
) -> tuple[float, float]:
    """One iteration for the nodes *first* to *last*; returns how much they changed, and the mass they pass on."""
    change, passed = 0.0, 0.0
    one_for_all = len(teleport) == 1
    for node in range(first, last):
        a = b = c = d = np.float32(0)
        edge, end = indptr[node], indptr[node + 1]
        while edge + 4 <= end:
            a += given[sources[edge]]
            b += given[sources[edge + 1]]
            c += given[sources[edge + 2]]
            d += given[sources[edge + 3]]
            edge += 4
        while edge < end:
            a += given[sources[edge]]
            edge += 1
        share = teleport[0] if one_for_all else teleport[node]
        new = np.float32(damping * ((a + b) + (c + d)) + base * share)
        change += abs(new - rank[node])
        rank[node] = new
        gives[node] = new * inverse[node]
        if inverse[node] > 0:
            passed += new
    return change, passed


@compiled
def pull_weighted(
    indptr: I64, sources: U32, weights: F64, rank: F64, teleport: F64, damping: float, base: float, new: F64
) -> float:
    """One iteration of a graph whose links weigh differently; returns how much the ranks changed."""
    change = 0.0
    for node in range(len(new)):
        total = 0.0
        for edge in range(indptr[node], indptr[node + 1]):
            total += weights[edge] * rank[sources[edge]]
        new[node] = damping * total + base * teleport[node]
        change += abs(new[node] - rank[node])
    return change


# -- the shape of the graph -------------------------------------------------------------------------------------


@compiled
def place(keys: U32, values: U32, cursor: I64, out: U32) -> None:
    """Put every value into the row of its key; *cursor* holds where each row begins, and is moved on."""
    for position in range(len(keys)):
        row = keys[position]
        out[cursor[row]] = values[position]
        cursor[row] += 1


@compiled
def transpose(indptr: I64, rows: U32, cursor: I64, out: U32) -> None:
    """Turn the graph round; the rows that come out are in order."""
    for row in range(len(indptr) - 1):
        for position in range(indptr[row], indptr[row + 1]):
            column = rows[position]
            out[cursor[column]] = row
            cursor[column] += 1


@compiled
def tidy(indptr: I64, rows: U32, host: U32, limit: int, degrees: U32) -> int:
    """Drop repeated links, links to itself and those over *limit* to one other host; rows move up, their sum returns."""
    kept = 0
    for node in range(len(indptr) - 1):
        start, current, count = kept, host[node], 0
        for position in range(indptr[node], indptr[node + 1]):
            target = rows[position]
            if target == node or (position > indptr[node] and target == rows[position - 1]):
                continue
            if host[target] != current:
                current, count = host[target], 0
            count += 1
            if count <= limit or current == host[node]:
                rows[kept] = target
                kept += 1
        degrees[node] = kept - start
    return kept
