"""Simulates searches through a broker: a search asks the shards in rounds, and the slowest answer of a round counts.

The rounds: document frequencies, when the broker does not know all of them; candidates of all shards, which take nearly
all CPU time; snippets, of the shards that have results. A shard node serves questions in the order of their arrival,
one on each core. Some answers stall: a page of the index is read from disk, or a packet is lost. With hedging, a shard
that has not answered in time is asked again on a replica, and the first answer counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_P99 = 2.326  # standard deviations of the 99th percentile
_HEDGE_PERCENTILE = 95  # of the answers of a shard; a slower shard is asked again
_SHORTEST_HEDGE, _LONGEST_HEDGE = 5.0, 500.0  # ms: `cluster/nodes.py`
_RESULTS = 10  # of a search
Milliseconds = NDArray[np.float64]


@dataclass(frozen=True)
class Search:
    """The load and the unit costs of a search; times in milliseconds."""

    shards: int
    cores: int  # of a shard node
    rate: float  # queries per second
    p50: float  # CPU time of a query on one shard
    p99: float
    snippets: float  # CPU time of the snippets of a search, on all shards together
    new_words: float  # share of the searches that ask for frequencies first
    network: float  # a round trip
    stall_share: float  # of the answers
    stall: float  # how long these take in addition
    merge: float  # CPU time of the broker for one shard, in all rounds


@dataclass(frozen=True)
class Latency:
    """Percentiles of the time of a search, in milliseconds."""

    search_p50_ms: float
    search_p99_ms: float
    hedged_p50_ms: float
    hedged_p99_ms: float
    search_node_load: float  # share of the cores of a shard node
    broker_cores: float  # that merging takes


def simulate(search: Search, queries: int, seed: int) -> Latency:
    """Play some queries that arrive at random."""
    random = np.random.default_rng(seed)
    service = _service(search, random, queries)
    waits, merging = _waiting(search, random, service), search.merge * search.shards
    totals = np.full((2, queries), merging)  # without hedging, and with it
    totals += _round(search, random, waits + service)
    with_results = min(search.shards, _RESULTS)
    later = random.choice(waits.ravel(), (queries, with_results))  # a question waits as long in the queue as any other
    totals += _round(search, random, later + search.snippets / with_results)
    asks_first = random.random(queries) < search.new_words
    totals += asks_first * _round(search, random, random.permuted(waits, axis=0))
    (p50, hedged_p50), (p99, hedged_p99) = np.percentile(totals, (50, 99), axis=1).round(1).tolist()
    shard_busy = float(service.mean() + search.snippets / search.shards) / 1e3 * search.rate / search.cores
    return Latency(p50, p99, hedged_p50, hedged_p99, round(shard_busy, 3), round(merging / 1e3 * search.rate, 2))


def _round(search: Search, random: np.random.Generator, answers: Milliseconds) -> Milliseconds:
    """The time of one round by query, without and with hedging; *answers*: time at each shard that is asked."""
    first = answers + _rest(search, random, answers.shape)
    again = random.permuted(first, axis=0)  # the replica: another query's answer of the same shard
    deadline = np.clip(np.percentile(first, _HEDGE_PERCENTILE), _SHORTEST_HEDGE, _LONGEST_HEDGE)
    hedged = np.where(first > deadline, np.minimum(first, deadline + again), first)
    return np.stack((first.max(axis=1), hedged.max(axis=1)))


def _service(search: Search, random: np.random.Generator, queries: int) -> Milliseconds:
    """CPU times by query and shard: a query that is dear on one shard is dear on all."""
    sigma = np.log(search.p99 / search.p50) / _P99
    common = random.normal(0.0, sigma, (queries, 1))
    return np.asarray(search.p50 * np.exp(common + random.normal(0.0, sigma / 4, (queries, search.shards))))


def _waiting(search: Search, random: np.random.Generator, service: Milliseconds) -> Milliseconds:
    """Time in the queue of each shard node: its cores serve the queries in order."""
    arrivals = np.cumsum(random.exponential(1e3 / search.rate, len(service)))
    free, rows = np.zeros((search.shards, search.cores)), np.arange(search.shards)
    waits = np.empty_like(service)
    for number, arrival in enumerate(arrivals):
        core = free.argmin(axis=1)
        begin = np.maximum(free[rows, core], arrival)
        waits[number] = begin - arrival
        free[rows, core] = begin + service[number]
    return waits


def _rest(search: Search, random: np.random.Generator, shape: tuple[int, ...]) -> Milliseconds:
    """Network and stalls."""
    stalls = (random.random(shape) < search.stall_share) * search.stall * random.random(shape) * 2
    return np.asarray(random.exponential(search.network, shape) + stalls)
