"""Ranks the same webs on this machine and on Spark, and extrapolates where Spark begins to pay.

The model, with the measured CPU time of both as its inputs. One machine: `fixed + links * per_link / cores`. Spark:
`fixed + links * (driver + executors / (nodes * cores))`, because what the driver does is not divided. It assumes that
executors divide their work evenly and that the network costs nothing, so it favours Spark.
"""

from __future__ import annotations

import math
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.cpu import tree_cpu
from harness.fit import line
from periplus.config import LinkAnalysis, Spark
from periplus.graph import spark_engine
from periplus.graph.run import RankSummary, rank
from periplus.graph.spark_engine import SparkEngine
from periplus.spark.session import SparkSession, open_session
from periplus.store.collection import Collection
from periplus.store.ranks import open_ranks
from ranking.crawl import crawled

SETTINGS = LinkAnalysis(generations=1)
CLUSTERS = (2, 8, 32, 128)  # nodes


@dataclass(frozen=True)
class Cost:
    """What one ranking took."""

    links: int
    seconds: float
    cpu: float  # of all processes
    driver: float  # of the process that began it
    iteration: float  # seconds of an iteration of PageRank


def measured(sizes: list[tuple[int, int]], cache: Path) -> dict[str, Any]:
    """Rank webs of these sizes (pages, links) with both engines."""
    webs = [crawled(cache / "rank" / f"web-{nodes}-{edges}", nodes, edges) for nodes, edges in sizes]
    spark_engine.FEW_LINKS = 0  # also the iterations of small graphs are measured on the executors
    local, ranks = [], []
    for web in webs:
        local.append(_cost(web, None))
        ranks.append(_ranks(web))
    began, before = time.monotonic(), tree_cpu(os.getpid())
    with open_session(Spark(memory_mb=3072, options=["spark.ui.port=0"])) as session:
        start = time.monotonic() - began
        first = _cost(webs[0], session)  # classes are loaded and code is compiled
        first_cpu = tree_cpu(os.getpid()) - before
        spark = [_cost(web, session) for web in webs] if len(webs) > 1 else [first]
        difference = float(np.abs(_ranks(webs[-1]) - ranks[-1]).sum())
    return {
        "cores": len(os.sched_getaffinity(0)),
        "sizes": [_row(here, there) for here, there in zip(local, spark, strict=True)],
        "l1_difference": difference,
        "spark_start_seconds": round(start, 2),
        "spark_first_seconds": round(first.seconds, 2),
        "spark_first_cpu_seconds": round(first_cpu, 1),
        **_extrapolated(local, spark, first_cpu - spark[0].cpu),
    }


def _cost(web: Collection, session: SparkSession | None) -> Cost:
    print(f"ranking {web.home.name} {'on Spark' if session else 'here'}", file=sys.stderr)
    engine = SparkEngine(web, session) if session else None
    began, cpu, driver = time.monotonic(), tree_cpu(os.getpid()), time.process_time()
    summary: RankSummary = rank(web, SETTINGS, engine=engine)
    seconds, own = time.monotonic() - began, time.process_time() - driver
    iteration = summary.steps["pages"] / max(summary.iterations, 1)
    return Cost(summary.edges, seconds, tree_cpu(os.getpid()) - cpu, own, iteration)


def _ranks(web: Collection) -> np.ndarray[Any, np.dtype[np.float32]]:
    table = open_ranks(web.ranks)
    assert table is not None
    return np.array(table.ranks)


def _row(local: Cost, spark: Cost) -> dict[str, float]:
    return {
        "links": local.links,
        "local_seconds": round(local.seconds, 2),
        "local_cpu_seconds": round(local.cpu, 2),
        "local_iteration_ms": round(local.iteration * 1000, 2),
        "spark_seconds": round(spark.seconds, 2),
        "spark_cpu_seconds": round(spark.cpu, 2),
        "spark_driver_cpu_seconds": round(spark.driver, 2),
        "spark_iteration_ms": round(spark.iteration * 1000, 2),
    }


def _extrapolated(local: list[Cost], spark: list[Cost], start: float) -> dict[str, Any]:
    """Fixed costs and costs per link of both, and the links from which Spark is faster, by the number of nodes.

    *start* is the CPU time of starting Spark.
    """
    cores = len(os.sched_getaffinity(0))
    links = [cost.links for cost in local]
    local_fixed, local_link = line(links, [cost.cpu for cost in local])
    driver_fixed, driver_link = line(links, [cost.driver for cost in spark])
    others_fixed, others_link = line(links, [cost.cpu - cost.driver for cost in spark])
    spark_fixed = driver_fixed + (start + others_fixed) / cores
    saved = local_link / cores - driver_link  # seconds a link, before the work of the executors
    return {
        "local_fixed_seconds": round(local_fixed / cores, 3),
        "local_us_per_link": round(local_link * 1e6, 3),
        "spark_fixed_seconds": round(spark_fixed, 2),
        "spark_driver_us_per_link": round(driver_link * 1e6, 3),
        "spark_executor_us_per_link": round(others_link * 1e6, 3),
        "nodes_to_pay": math.floor(others_link / cores / saved) + 1 if saved > 0 else None,
        "links_to_pay": {
            str(nodes): _links_to_pay(spark_fixed - local_fixed / cores, saved - others_link / (nodes * cores))
            for nodes in CLUSTERS
        },
    }


def _links_to_pay(fixed: float, saved: float) -> int | None:
    return math.ceil(fixed / saved) if saved > 0 else None
