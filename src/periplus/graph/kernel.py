"""The inner loops of the link analysis, compiled by numba.

Importing numba takes a second and 100 MB, so only `kernel_choice` imports this module, for large graphs. Choices that
were measured: unsigned ids and positions (signed ones are checked for negative indices each time); four 32-bit
accumulators (a single one waits for its last addition), added to a 64-bit one after each block (sums of thousands of
tiny numbers lose too much precision in 32 bits); no fastmath (it doubles the time of the gather). Functions that run in
several threads return the sums of their range, so the results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., object])
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
HOST, LAST_HOST, GIVEN, DEGREE = range(4)  # columns of the state of a source
_PAIRS_AT_ONCE = 1 << 20
_ONE, _TWO, _THREE, _FOUR, _BLOCK = (
    np.uint64(n) for n in (1, 2, 3, 4, 512)
)  # signed constants would make positions signed


def compiled(function: Function) -> Function:
    """Compile the function to machine code that releases the GIL."""
    return cast("Function", numba.njit(nogil=True)(function))


# -- PageRank ---------------------------------------------------------------------------------------------------


@compiled
def gathered(given: F32, sources: U32, edge: np.uint64, end: np.uint64) -> float:
    """Sum what the sources at positions *edge* to *end* pass on."""
    total = 0.0
    while edge < end:
        stop = min(end, edge + _BLOCK)
        a = b = c = d = np.float32(0)
        while edge + _FOUR <= stop:
            a += given[sources[edge]]
            b += given[sources[edge + _ONE]]
            c += given[sources[edge + _TWO]]
            d += given[sources[edge + _THREE]]
            edge += _FOUR
        while edge < stop:
            a += given[sources[edge]]
            edge += _ONE
        total += float((a + b) + (c + d))
    return total


@compiled
def pull(
    indptr: U64,
    sources: U32,
    given: F32,  # rank that every node passes on along each of its links
    inverse: F32,  # 1 / out-degree; 0 for a dead end
    teleport: F32,  # share of the random jumps, for every node or one for all
    damping: float,
    base: float,  # total rank that random jumps distribute
    rank: F32,
    gives: F32,  # the same for the next iteration
    first: int,
    last: int,
) -> tuple[float, float]:
    """One iteration for the nodes *first* to *last*; returns their change, and the rank of those with links."""
    change, passed = 0.0, 0.0
    one_for_all = len(teleport) == 1
    for node in range(first, last):
        share = teleport[0] if one_for_all else teleport[node]
        received = gathered(given, sources, indptr[node], indptr[node + 1])
        new = np.float32(damping * received + base * share)
        change += float(abs(new - rank[node]))
        rank[node] = new
        gives[node] = new * inverse[node]
        if inverse[node] > 0:
            passed += float(new)
    return change, passed


@compiled
def pull_weighted(
    indptr: I64, sources: U32, weights: F64, rank: F64, teleport: F64, damping: float, base: float, new: F64
) -> float:
    """One iteration of a graph with weighted links; returns the change of the ranks."""
    change = 0.0
    for node in range(len(new)):
        total = 0.0
        for edge in range(indptr[node], indptr[node + 1]):
            total += weights[edge] * rank[sources[edge]]
        new[node] = damping * total + base * teleport[node]
        change += abs(new[node] - rank[node])
    return change


# -- building the graph -------------------------------------------------------------------------------------------


@compiled
def count(keys: U32, counts: I64) -> None:
    """Count how often every number occurs."""
    for position in range(len(keys)):
        counts[keys[position]] += 1


@compiled
def place(keys: U32, values: U32, cursor: I64, out: U32) -> None:
    """Append every value to the row of its key; *cursor* is the next free position of each row."""
    for position in range(len(keys)):
        row = keys[position]
        out[cursor[row]] = values[position]
        cursor[row] += 1


@compiled
def transpose(indptr: I64, rows: U32, cursor: I64, out: U32) -> None:
    """Transpose the graph; the resulting rows are in order."""
    for row in range(len(indptr) - 1):
        for position in range(indptr[row], indptr[row + 1]):
            column = rows[position]
            out[cursor[column]] = row
            cursor[column] += 1


@compiled
def _filter_links(indptr: I64, sources: U32, state: U32, limit: int, document: U32, seen: U32, counts: I64) -> int:
    """Write the number of links left by target into *counts*, and by source into *state*.

    Targets are ordered by host, so *state* only needs the last target host of each source, and the number of links to
    it. *seen* has the last target of every document.
    """
    kept = 0
    for target in range(len(counts)):
        start, last, its_host = kept, target, state[target, HOST]
        for position in range(indptr[target], indptr[target + 1]):
            source = sources[position]
            if source in (target, last):
                continue
            last = source
            if len(document) and document[source]:
                if seen[document[source]] == target + 1:
                    continue
                seen[document[source]] = target + 1
            if state[source, HOST] != its_host:
                if state[source, LAST_HOST] != its_host + 1:
                    state[source, LAST_HOST], state[source, GIVEN] = its_host + 1, 0
                state[source, GIVEN] += 1
                if state[source, GIVEN] > limit:
                    continue
            state[source, DEGREE] += 1
            sources[kept] = source
            kept += 1
        counts[target] = kept - start
    return kept


def filter_links(indptr: I64, sources: U32, host: U32, limit: int, document: U32) -> tuple[int, I64, U32]:
    """Remove repeated links, self-links, links of duplicate documents, and links above *limit* to one other host.

    Rows are compacted in place; returns the number of links left, their number by target, and by source.
    """
    seen = np.zeros(int(document.max(initial=0)) + 1, np.uint32)
    state, counts = np.zeros((len(host), 4), np.uint32), np.empty(len(host), np.int64)
    state[:, HOST] = host
    kept = _filter_links(indptr, sources, state, limit, document, seen, counts)
    return kept, counts, state[:, DEGREE].copy()


@compiled
def note_votes(sources: U32, host: U32, own: int, voted: U32, votes: U32, found: U32, new: int) -> int:
    """Count one vote per page of another host; returns the number of hosts that have voted for this one."""
    for source in sources:
        other = host[source]
        if other != own and voted[source] != own + 1:
            voted[source] = own + 1
            if votes[other] == 0:
                found[new] = other
                new += 1
            votes[other] += 1
    return new


@compiled
def _host_votes(
    indptr: U64, sources: U32, host: U32, node: int, voted: U32, votes: U32, found: U32, pairs: U32
) -> tuple[int, int]:
    """Count the pages of each host that link to each other host, as columns (from, to, pages), from a *node* on.

    The nodes of one host are adjacent. Stops when *pairs* may have too little space for the next host; returns the next
    node and the number of pairs.
    """
    made = 0
    while node < len(host) and made + len(votes) <= pairs.shape[1]:
        own, new = host[node], 0
        while node < len(host) and host[node] == own:
            new = note_votes(sources[indptr[node] : indptr[node + 1]], host, own, voted, votes, found, new)
            node += 1
        for other in found[:new]:
            pairs[0, made], pairs[1, made], pairs[2, made] = other, own, votes[other]
            votes[other] = 0
            made += 1
    return node, made


def host_votes(indptr: U64, sources: U32, host: U32, hosts: int) -> tuple[U32, U32, U32]:
    """Pairs of hosts ordered by the second, and the number of pages of the first that link to the second."""
    voted, votes, found = (np.zeros(size, np.uint32) for size in (len(host), hosts, hosts))
    room = np.empty((3, max(hosts, _PAIRS_AT_ONCE)), np.uint32)
    parts, node = [np.empty((3, 0), np.uint32)], 0
    while node < len(host):
        node, made = _host_votes(indptr, sources, host, node, voted, votes, found, room)
        parts.append(room[:, :made].copy())
    source, target, pages = np.concatenate(parts, axis=1)
    return source, target, pages
