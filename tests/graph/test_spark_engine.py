"""A ranking on Spark gives the ranks, links and anchor texts of one on this machine, whatever dies meanwhile."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawl.crawling import environment
from graph.large_web import large_web
from graph.same_ranks import assert_same
from graph.webs import QUICK, CrawledPage, Web, quick, web
from periplus.errors import DamagedFile
from periplus.graph.run import rank
from periplus.store.objects.open_store import open_store
from periplus.store.ranks import RankTable, open_ranks
from s3_server import S3Server
from spark_session import CLUSTER, executors, on_spark, require_spark
from store.records import error_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pyspark", reason="pyspark is not installed")

from periplus.graph import spark_engine
from periplus.graph.spark_engine import SparkEngine

pytestmark = on_spark

# The program `periplus`, with PageRank on the executors although the graph is small.
PROGRAM = "from periplus.graph import spark_engine as s; s.FEW_LINKS = 0; from periplus.__main__ import main; main()"

ITERATIONS = 12  # an iteration on executors takes a second; tests of small graphs run until the ranks converge


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> Web:
    """A collection with one generation of ranks, computed on this machine."""
    made = large_web(tmp_path_factory.mktemp("web"))
    made.rank(quick(generations=9, iterations=ITERATIONS))
    return made


def assert_newer(table: RankTable | None, local: RankTable | None) -> None:
    assert table is not None
    assert local is not None
    assert table.number > local.number
    assert_same(table, local)


def test_the_ranks_are_those_of_this_machine(ranked: Web, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    local = open_ranks(ranked.collection.ranks)
    assert local is not None
    assert local.figures.nodes > 1000
    monkeypatch.setattr(spark_engine, "FEW_LINKS", 0)
    settings = quick(generations=9, iterations=ITERATIONS)
    rank(ranked.collection, settings, engine=SparkEngine(ranked.collection, spark))
    assert_newer(open_ranks(ranked.collection.ranks), local)


def test_a_collection_without_pages_can_be_ranked(tmp_path: Path, spark: SparkSession) -> None:
    empty = Web(tmp_path)
    summary = rank(empty.collection, QUICK, engine=SparkEngine(empty.collection, spark))
    assert (summary.nodes, summary.edges) == (0, 0)


def test_executors_without_the_folder_read_the_object_store(
    tmp_path: Path, spark: SparkSession, bucket: str, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = "https://a.org/", "https://b.org/"
    made = web(tmp_path / "crawled", CrawledPage(a, [(b, "harbour")]), CrawledPage(b, [a, "https://c.org/"]))
    expected, store = made.rank(), open_store(bucket)
    for path in made.collection.segments.iterdir():
        store.put_file(f"segments/{path.name}", path)
    shutil.rmtree(made.collection.segments)
    made.collection.segments.mkdir()
    monkeypatch.setattr(spark_engine, "FEW_LINKS", 0)
    for name, value in s3.environment.items():  # tasks have the environment that Spark was started with, and this one
        monkeypatch.setitem(spark.sparkContext.environment, name, value)
    on_fleet = replace(made.collection, storage=bucket)
    rank(on_fleet, QUICK, engine=SparkEngine(on_fleet, spark))
    assert_newer(open_ranks(on_fleet.ranks), expected.table)
    assert any("block-" in request for request in s3.requests)
    assert list(made.collection.segments.iterdir()) == []
    assert list(store.list("scratch")) == []


def test_a_damaged_segment_is_named_and_nothing_is_published(tmp_path: Path, spark: SparkSession) -> None:
    made = large_web(tmp_path)
    segment = max(made.collection.segments.glob("links-*"))
    segment.write_bytes(segment.read_bytes()[:-1] + b"?")
    job = SparkEngine(made.collection, spark)
    assert segment.name in error_line(DamagedFile, lambda: rank(made.collection, QUICK, engine=job))
    assert open_ranks(made.collection.ranks) is None


def test_an_executor_that_is_killed_in_mid_job_changes_nothing(ranked: Web) -> None:
    require_spark()
    local = open_ranks(ranked.collection.ranks)
    command = [sys.executable, "-c", PROGRAM, "rank", "--engine", "spark", "--master", CLUSTER.master]
    with subprocess.Popen(
        [*command, "--home", str(ranked.home)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(spark__options=",".join(CLUSTER.options), graph__iterations=ITERATIONS),
    ) as job:
        assert job.stderr is not None
        lines = []
        for line in job.stderr:
            lines.append(line)
            if line.startswith(("numbering pages", "PageRank 3/")):
                os.kill(next(executors(job.pid)), signal.SIGKILL)
    assert job.returncode == 0, "".join(lines[-5:])
    assert sum(line.startswith("PageRank 3/") for line in lines) == 1
    assert any(line.startswith("Spark UI: http://127.0.0.1:") for line in lines)
    assert_newer(open_ranks(ranked.collection.ranks), local)
