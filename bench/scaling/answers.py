"""Answers, by simulation: how many nodes does a crawl of a size need, and what is its limit?"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np

from periplus.store.shares import SHARES
from scaling.broker_sim import Search, simulate
from scaling.fleet_sim import Costs, FleetSimulation, Outcome, Setup
from scaling.inputs import Inputs
from scaling.month_sim import simulate_month

MONTH = 30 * 86_400.0  # seconds
_STEP = 0.25  # seconds
_HOSTS_PER_WORKER = 500  # that the simulation gives a worker: more than it has requests under way
_ENDLESS = 1_000_000  # pages of a host: no host is finished while the simulation runs
_QUERY_PAGES = 110_000  # pages of the index whose queries were measured


def answer(inputs: Inputs, pages: float, seconds: float, queries: int, seed: int) -> dict[str, Any]:
    """Nodes, loads and limits of a fleet that fetches *pages* pages in a month and serves searches of all of them."""
    rate = pages / MONTH
    workers = workers_for(inputs, rate)
    outcome = _crawl(inputs, workers, seconds, seed)
    search = _search(inputs, pages)
    loads = _loads(inputs, workers, rate, outcome, search)
    month = simulate_month(pages, _hosts(inputs, pages), rate / inputs.busy, inputs.delay_s + inputs.response_s)
    return {
        "pages_per_second": round(rate, 1),
        "crawl_workers": workers,
        "most_pages_per_second": round(outcome.pages_per_second, 1),
        **{f"{name}_load": round(load, 3) for name, load in loads.items()},
        "limits": sorted((name for name in loads if loads[name] > 1), key=lambda name: -loads[name]),
        "fetched_share": month.fetched_share,
        "largest_host_pages": month.largest_host,
        "unfinished_hosts": month.too_large_hosts,
        "shards": search.shards,
        **asdict(simulate(search, queries, seed)),
    }


def workers_for(inputs: Inputs, rate: float) -> int:
    """Workers whose CPU time, requests under way and memory suffice for so many pages per second."""
    by_memory = _known(inputs, rate) * inputs.seen_bytes / (inputs.worker_gb * 1e9)
    return max(math.ceil(max(rate * inputs.crawl_ms / 1e3, rate / _fastest(inputs), by_memory) / inputs.busy), 1)


def _known(inputs: Inputs, rate: float) -> float:
    """URLs that are known after a month."""
    return rate * MONTH * (1 + inputs.new_urls)


def _fastest(inputs: Inputs) -> float:
    """Pages per second of a worker by its requests under way and its network."""
    by_network = inputs.worker_mbit * 1e6 / 8 / (inputs.page_kb * 1e3 * inputs.wire_share)
    return min(inputs.concurrency / inputs.response_s, by_network)


def _crawl(inputs: Inputs, workers: int, seconds: float, seed: int) -> Outcome:
    """The most that so many workers can do."""
    costs = Costs(
        page=inputs.crawl_ms / 1e3,
        commit=(1 + inputs.new_urls) * inputs.admission_us / 1e6,
        idle=inputs.idle_share,
        exchange=inputs.worker_exchange_ms / 1e3,
    )
    setup = Setup(
        workers,
        database_cores=inputs.database_cores,
        delay=inputs.delay_s,
        response=inputs.response_s,
        concurrency=int(inputs.concurrency),
        page_rate=_fastest(inputs),
        death_rate=inputs.deaths_per_month / MONTH,
    )
    sizes = np.full(workers * _HOSTS_PER_WORKER, _ENDLESS)
    return FleetSimulation(setup, costs, sizes, seed).run(_STEP, seconds, warm_up=seconds / 2)


def _loads(inputs: Inputs, workers: int, rate: float, outcome: Outcome, search: Search) -> dict[str, float]:
    """How busy each part is at the wanted rate; 1: it can do no more."""
    commits, pages, known = rate * (1 + inputs.new_urls) * inputs.admission_us / 1e6, rate * MONTH, _known(inputs, rate)
    graph = pages * inputs.edges * inputs.graph_link_bytes + known * inputs.graph_url_bytes
    published = pages * inputs.index_kb * 1e3 + known * inputs.rank_bytes  # of one generation, in bytes
    return {
        "worker_cpu": rate * inputs.crawl_ms / 1e3 / workers,
        "worker_requests": rate / workers * inputs.response_s / inputs.concurrency,
        "database": commits / inputs.database_cores + outcome.lease_busy,
        "lease": outcome.lease_busy,
        "shares": workers / SHARES,
        "worker_memory": known * inputs.seen_bytes / (workers * inputs.worker_gb * 1e9),
        "database_disk": known * inputs.url_bytes / (inputs.database_tb * 1e12),
        "builder_memory": graph / (inputs.builder_gb * 1e9),
        "builder_disk": (pages * inputs.segment_kb * 1e3 + 2 * published) / (inputs.builder_tb * 1e12),
        "node_numbers": known / 2**31,
        "index_shards": search.shards / inputs.most_shards,
        "broker": search.merge * search.shards / inputs.slowest_merge_ms,
    }


def _hosts(inputs: Inputs, pages: float) -> float:
    return min(pages / inputs.pages_per_host, inputs.most_hosts)


def _search(inputs: Inputs, pages: float) -> Search:
    shards = max(math.ceil(pages / inputs.shard_pages), 1)
    growth = (min(pages, inputs.shard_pages) / _QUERY_PAGES) ** inputs.query_exponent
    return Search(
        shards,
        int(inputs.shard_cores),
        inputs.queries_per_second / inputs.replicas,
        inputs.query_p50_ms * growth,
        inputs.query_p99_ms * growth,
        inputs.snippets_ms,
        inputs.new_words_share,
        inputs.network_ms,
        inputs.stall_share,
        inputs.stall_ms,
        inputs.merge_ms,
    )
