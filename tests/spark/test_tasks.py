"""Index and reparse give on Spark what they give on one machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawl.crawling import run_crawl, segment_rows, settings_for, sound
from index.live import facts_of, live_index, problems_of
from index.partitions.made_collection import QUERIES, files_of, make_collection, queries, result_lists
from periplus.config import Indexing
from periplus.index.build import build_index
from periplus.index.lineage import Continuation
from periplus.index.partitions import run
from periplus.index.partitions.partition import PartitionOutput
from periplus.reparse import reparse
from periplus.store.collection import open_collection
from search.library import index
from spark_session import executors, on_spark, require_spark
from testweb import TestWeb, many_hosts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from periplus.spark.tasks import SparkRunner

pytestmark = on_spark

# Builds the index of a collection in partitions of 40 documents, on two executors.
PROGRAM = """
import sys
from pathlib import Path
from periplus.config import Indexing, Spark
from periplus.index.build import build_index
from periplus.index.lineage import Continuation
from periplus.index.partitions import run
from periplus.spark.session import open_session
from periplus.spark.tasks import SparkRunner
from periplus.store.collection import open_collection
run.FEWEST, run.MOST = 1, 40
settings = Spark(master="local-cluster[2,1,1024]", options=["spark.ui.port=0"])
with open_session(settings) as session:
    full, runner = Continuation(full=True), SparkRunner(session)
    build_index(open_collection(Path(sys.argv[1])), Indexing(memory_mb=128), limits=full, runner=runner)
"""


@pytest.fixture
def runner(spark: SparkSession) -> SparkRunner:
    from periplus.spark.tasks import SparkRunner

    return SparkRunner(spark)


def test_an_index_built_on_spark_is_the_one_of_this_machine(
    tmp_path: Path, runner: SparkRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "FEWEST", 1)
    monkeypatch.setattr(run, "MOST", 80)
    collection = make_collection(tmp_path)
    index(collection)
    alone = live_index(collection)
    asked = queries(alone)
    expected, done = result_lists(collection, asked), list[tuple[int, int]]()
    full = Continuation(full=True)
    settings = Indexing(memory_mb=128)
    build_index(collection, settings, lambda *counts: done.append(counts), limits=full, runner=runner)
    joined = live_index(collection)
    assert joined != alone
    assert facts_of(joined)["documents"] == facts_of(alone)["documents"]
    assert files_of(joined) == files_of(alone)
    assert done[-1] == (3, 3), "partitions"
    assert len(asked) == QUERIES
    assert result_lists(collection, asked) == expected
    assert problems_of(joined) == []
    sound(tmp_path)


def test_a_task_whose_process_is_killed_after_its_work_is_repeated(
    tmp_path: Path, runner: SparkRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "FEWEST", 1)
    collection = make_collection(tmp_path / "home", pages=60)
    index(collection)
    alone, killed = live_index(collection), tmp_path / "killed"
    kill_once = _killing_once(killed)

    class Killing:
        """Kills the process of the second partition when its files are complete."""

        parallelism = runner.parallelism

        def run(self, *arguments: Any) -> Any:
            function, items, on_progress = arguments
            return runner.run(lambda task: kill_once(task.name, function(task)), items, on_progress)

    build_index(collection, Indexing(memory_mb=128), limits=Continuation(full=True), runner=Killing())
    assert killed.exists()
    assert live_index(collection) != alone
    assert files_of(live_index(collection)) == files_of(alone)
    assert problems_of(live_index(collection)) == []


def _killing_once(killed: Path) -> Callable[[str, PartitionOutput], PartitionOutput]:
    def kill_once(name: str, output: PartitionOutput) -> PartitionOutput:
        if name == "00001" and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return output

    return kill_once


@pytest.mark.long
def test_an_executor_that_is_killed_while_it_indexes_changes_nothing(tmp_path: Path) -> None:
    require_spark()
    collection = make_collection(tmp_path)
    index(collection)
    alone = live_index(collection)
    with subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path)], stderr=subprocess.PIPE, text=True) as job:
        until = time.monotonic() + 600
        while job.poll() is None and time.monotonic() < until and not any(tmp_path.glob("scratch/index-*/outputs/*")):
            time.sleep(0.02)
        os.kill(next(executors(job.pid)), signal.SIGKILL)
        _, errors = job.communicate(timeout=600)
    assert job.returncode == 0, errors[-500:]
    assert live_index(collection) != alone
    assert files_of(live_index(collection)) == files_of(alone)
    sound(tmp_path)


def test_segments_reparsed_on_spark_have_the_rows_of_this_machine(tmp_path: Path, runner: SparkRunner) -> None:
    with TestWeb(many_hosts(3, 12)) as web:
        run_crawl(web, tmp_path, "http://h0001.test/", scope__hosts=[".*"], store__segment_seconds=0.05)
    collection = open_collection(tmp_path)
    reparse(collection, settings_for(None), everything=False)
    alone = {kind: segment_rows(tmp_path, kind) for kind in ("pages", "links")}
    summary = reparse(collection, settings_for(None), everything=True, runner=runner)
    assert (summary.pages, summary.unread) == (len(alone["pages"]), 0)
    assert {kind: segment_rows(tmp_path, kind) for kind in ("pages", "links")} == alone
    sound(tmp_path)
