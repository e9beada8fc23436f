"""Simulates searches through a broker: every query asks all shards, and the slowest answer counts.

A shard node serves queries in the order of their arrival, one on each core. Some answers stall: a page of the
index is read from disk, or a packet is lost. With hedging, a shard that has not answered in time is asked again on a
replica, and the first answer counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_P99 = 2.326  # standard deviations of the 99th percentile
_HEDGE_PERCENTILE = 95  # of the answers of a shard; a slower shard is asked again
Milliseconds = NDArray[np.float64]


@dataclass(frozen=True)
class Search:
    """The load and the unit costs of a search; times in milliseconds."""

    shards: int
    cores: int  # of a shard node
    rate: float  # queries per second
    p50: float  # CPU time of a query on one shard
    p99: float
    network: float  # a round trip
    stall_share: float  # of the answers
    stall: float  # how long these take in addition
    merge: float  # CPU time of the broker for the answer of one shard


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
    first = _waiting(search, random, service) + service + _rest(search, random, queries)
    again = random.permuted(first, axis=0)  # the replica: another query's answer of the same shard
    deadline = np.percentile(first, _HEDGE_PERCENTILE)
    hedged = np.where(first > deadline, np.minimum(first, deadline + again), first)
    merging = search.merge * search.shards
    alone, both = (answers.max(axis=1) + merging for answers in (first, hedged))
    (p50, p99), (hedged_p50, hedged_p99) = (np.percentile(times, (50, 99)).round(1) for times in (alone, both))
    shard_busy = float(service.mean()) / 1e3 * search.rate / search.cores
    return Latency(
        float(p50),
        float(p99),
        float(hedged_p50),
        float(hedged_p99),
        round(shard_busy, 3),
        round(merging / 1e3 * search.rate, 2),
    )


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


def _rest(search: Search, random: np.random.Generator, queries: int) -> Milliseconds:
    """Network and stalls."""
    shape = (queries, search.shards)
    stalls = (random.random(shape) < search.stall_share) * search.stall * random.random(shape) * 2
    return np.asarray(random.exponential(search.network, shape) + stalls)
