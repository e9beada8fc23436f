"""Indexes and parses the same pages on this machine and on Spark: fixed cost and cost per page of both.

The model is that of `ranking/engines.py`: what the driver does is not divided, what executors do is divided by all
cores, and the network costs nothing.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.cpu import tree_cpu
from harness.fit import line
from harness.tiny import made_text
from indexing.corpus import filled
from periplus.config import Settings, Spark, Storage
from periplus.index.build import build_index
from periplus.index.planning.lineage import Continuation
from periplus.reparse import reparse
from periplus.spark.session import open_session
from periplus.spark.tasks import SparkRunner
from periplus.store.collection import Collection, open_collection

_HOSTS = 20
_WORDS = 400  # of a page
_SETTINGS = Settings(store=Storage(segment_bytes=1 << 20))  # some segments, which several tasks can parse
_PAGE = '<html lang="en"><head><title>{title}</title></head><body><h1>{title}</h1>{links}{paragraphs}</body></html>'
Job = Callable[[Collection, SparkRunner | None], None]


@dataclass(frozen=True)
class Cost:
    """What one job took."""

    pages: int
    seconds: float
    cpu: float  # of all processes
    driver: float  # of the process that began it, in Python


def measured_jobs(sizes: list[int], cache: Path) -> dict[str, Any]:
    """Index and parse collections of so many made pages on this machine and on Spark; each is made once."""
    corpora = [_made(cache / "spark" / f"pages-{pages}", pages) for pages in sizes]
    with open_session(Spark(options=["spark.ui.port=0"])) as session:
        runner = SparkRunner(session)
        return _measured("index", index, corpora, runner) | _measured("reparse", parse, corpora, runner)


def _measured(name: str, job: Job, corpora: list[Collection], runner: SparkRunner) -> dict[str, Any]:
    local = [_cost(name, job, corpus, None) for corpus in corpora]
    _cost(name, job, corpora[0], runner)  # executors load their libraries
    return compared(name, local, [_cost(name, job, corpus, runner) for corpus in corpora])


def index(corpus: Collection, runner: SparkRunner | None) -> None:
    """Build the whole index."""
    build_index(corpus, Settings().index, limits=Continuation(full=True), runner=runner)


def parse(corpus: Collection, runner: SparkRunner | None) -> None:
    """Parse all pages again."""
    reparse(corpus, Settings(), everything=True, runner=runner)


def compared(name: str, local: list[Cost], spark: list[Cost]) -> dict[str, Any]:
    """Fixed costs and costs per page of both engines, and the nodes from which Spark is faster."""
    cores = len(os.sched_getaffinity(0))
    pages = [cost.pages for cost in local]
    local_fixed, local_page = line(pages, [cost.cpu for cost in local])
    driver_fixed, driver_page = line(pages, [cost.driver for cost in spark])
    others_fixed, others_page = line(pages, [cost.cpu - cost.driver for cost in spark])
    saved = local_page / cores - driver_page
    return {
        f"{name}_sizes": [_row(here, there) for here, there in zip(local, spark, strict=True)],
        f"{name}_local_fixed_seconds": round(local_fixed, 2),
        f"{name}_local_ms_per_page": round(local_page * 1e3, 3),
        f"{name}_spark_fixed_seconds": round(driver_fixed + others_fixed, 2),
        f"{name}_spark_driver_ms_per_page": round(driver_page * 1e3, 3),
        f"{name}_spark_executor_ms_per_page": round(others_page * 1e3, 3),
        f"{name}_nodes_to_pay": math.floor(others_page / cores / saved) + 1 if saved > 0 else None,
    }


def _cost(name: str, job: Job, corpus: Collection, runner: SparkRunner | None) -> Cost:
    print(f"{name}: {corpus.home.name} {'on Spark' if runner else 'here'}", file=sys.stderr)
    pages = int(corpus.home.name.removeprefix("pages-"))
    began, cpu, driver = time.monotonic(), tree_cpu(os.getpid()), time.process_time()
    job(corpus, runner)
    return Cost(pages, time.monotonic() - began, tree_cpu(os.getpid()) - cpu, time.process_time() - driver)


def _row(local: Cost, spark: Cost) -> dict[str, float]:
    return {
        "pages": local.pages,
        "local_seconds": round(local.seconds, 2),
        "local_cpu_seconds": round(local.cpu, 2),
        "spark_seconds": round(spark.seconds, 2),
        "spark_cpu_seconds": round(spark.cpu, 2),
        "spark_driver_cpu_seconds": round(spark.driver, 2),
    }


def _made(home: Path, pages: int) -> Collection:
    if (home / "complete").exists():
        return open_collection(home)
    sources = home.with_name(f"{home.name}-html")
    shutil.rmtree(sources, ignore_errors=True)
    try:
        return filled(home, _files(sources, pages), _SETTINGS)
    finally:
        shutil.rmtree(sources, ignore_errors=True)


def _files(folder: Path, pages: int) -> Iterator[tuple[str, Path, Path]]:
    folder.mkdir(parents=True)
    for number in range(pages):
        path = folder / f"page-{number}.html"
        links = " ".join(f'<a href="page-{(number * 7 + step) % pages}.html">page {step}</a>' for step in range(10))
        paragraphs = "".join(f"<p>{made_text(f'{number} {part}', _WORDS // 4)}</p>" for part in range(4))
        path.write_text(_PAGE.format(title=made_text(f"{number}", 4), links=links, paragraphs=paragraphs))
        yield f"h{number % _HOSTS}.test", folder, path
