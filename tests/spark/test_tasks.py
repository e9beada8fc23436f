"""Jobs give on Spark what they give on one machine, whatever dies meanwhile."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawl.crawling import catalog_of, segment_rows, settings_for, sound
from graph.same_ranks import assert_same
from graph.webs import QUICK
from index.live import facts_of, live_index, problems_of
from index.partitions.made_collection import (
    QUERIES,
    files_of,
    make_archive,
    make_collection,
    queries,
    result_lists,
)
from periplus.config import Indexing, Settings
from periplus.graph.run import rank
from periplus.index.build import build_index
from periplus.index.partitions import run
from periplus.index.partitions.partition import PartitionOutput
from periplus.index.planning.lineage import Continuation
from periplus.reparse import reparse
from periplus.store.collection import Collection, open_collection
from periplus.store.fleet_files.job_files import store_archive, store_segments
from periplus.store.objects.open_store import open_store
from periplus.store.ranks import open_ranks
from periplus.store.segments.compaction import compact
from s3_server import S3Server
from search.library import index
from spark_session import CLUSTER, executors, on_spark, require_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from periplus.spark.tasks import SparkRunner

pytestmark = on_spark
PAGES = 1_100  # for a top 1,000

# Parses a collection again, indexes it in partitions of 40 documents and merges its segments in pairs, on two
# executors. The tasks of each job wait until the test has killed one of them.
PROGRAM = """
import sys, time
from functools import partial
from pathlib import Path
from periplus.config import Indexing, Settings, Spark
from periplus.index.build import build_index
from periplus.index.planning.lineage import Continuation
from periplus.index.partitions import run
from periplus.reparse import reparse
from periplus.spark.session import open_session
from periplus.spark.tasks import SparkRunner
from periplus.store.collection import open_collection
from periplus.store.segments import compaction

home, signs = Path(sys.argv[1]), Path(sys.argv[2])

def waiting(function, job, signs, item):
    (signs / f"{job} runs").touch()
    while not (signs / f"{job} may go on").exists():
        time.sleep(0.02)
    return function(item)

class Waiting(SparkRunner):
    def run(self, function, items, *progress):
        if function.__name__ != "_schemas":
            function = partial(waiting, function, function.__name__, signs)
        return super().run(function, items, *progress)

run.FEWEST, run.MOST, compaction.ENOUGH = 1, 40, 1
with open_session(Spark.model_validate_json(sys.argv[3])) as session:
    runner, collection = Waiting(session), open_collection(home)
    reparse(collection, Settings(), everything=True, runner=runner)
    build_index(collection, Indexing(memory_mb=128), limits=Continuation(full=True), runner=runner)
    print(compaction.compact(collection, fewest=2, runner=runner).merged)
"""


@pytest.fixture
def runner(spark: SparkSession) -> SparkRunner:
    from periplus.spark.tasks import SparkRunner

    return SparkRunner(spark)


def test_pages_that_spark_has_parsed_merged_ranked_and_indexed_are_found_as_on_this_machine(
    tmp_path: Path, spark: SparkSession, runner: SparkRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    from periplus.graph import spark_engine

    monkeypatch.setattr(spark_engine, "FEW_LINKS", 0)
    monkeypatch.setattr(run, "FEWEST", 100)
    local = make_archive(tmp_path / "local", PAGES)
    remote = open_collection(shutil.copytree(local.home, tmp_path / "remote"))
    settings, done = Indexing(memory_mb=128), list[tuple[int, int]]()
    for collection, used in ((local, None), (remote, runner)):
        reparse(collection, settings_for(None), everything=False, runner=used)
        assert compact(collection, fewest=2, runner=used).merged == 3
        rank(collection, QUICK, engine=spark_engine.SparkEngine(collection, spark) if used else None)
        build_index(collection, settings, lambda *counts: done.append(counts), runner=used)
    assert done[-1] == (2, 2), "partitions"
    for kind in ("pages", "links"):
        assert segment_rows(remote.home, kind) == segment_rows(local.home, kind)
    ranks, expected = open_ranks(remote.ranks), open_ranks(local.ranks)
    assert ranks is not None
    assert expected is not None
    assert expected.figures.nodes > 1000
    assert_same(ranks, expected)
    ours, theirs = live_index(remote), live_index(local)
    assert facts_of(ours)["documents"] == facts_of(theirs)["documents"] > 1000
    assert files_of(ours) == files_of(theirs)
    asked = queries(theirs)
    assert len(asked) == QUERIES
    found = result_lists(remote, asked)
    assert found == result_lists(local, asked)
    assert sum(map(bool, found)) > QUERIES / 2
    assert problems_of(ours) == []
    sound(remote.home)


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


def test_executors_that_are_killed_while_they_parse_index_and_compact_change_nothing(tmp_path: Path) -> None:
    require_spark()
    collection, signs = make_archive(tmp_path / "home", pages=120, segments=4), tmp_path / "signs"
    signs.mkdir()
    reparse(collection, Settings(), everything=True)
    index(collection)
    alone, rows = live_index(collection), _segment_rows(collection)
    command = [sys.executable, "-c", PROGRAM, str(collection.home), str(signs), CLUSTER.model_dump_json()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        try:
            for task in ("reparse_segment", "build_partition", "merge_group"):
                until = time.monotonic() + 600
                while job.poll() is None and not (signs / f"{task} runs").exists() and time.monotonic() < until:
                    time.sleep(0.02)
                os.kill(next(executors(job.pid)), signal.SIGKILL)
                (signs / f"{task} may go on").touch()
            merged, errors = job.communicate(timeout=600)
        finally:
            job.kill()
    assert job.returncode == 0, errors[-500:]
    assert int(merged) == 4
    assert _segment_rows(collection) == rows
    assert live_index(collection) != alone
    assert files_of(live_index(collection)) == files_of(alone)
    sound(collection.home)


def _segment_rows(collection: Collection) -> dict[str, list[dict[str, Any]]]:
    return {kind: segment_rows(collection.home, kind) for kind in ("pages", "links")}


def test_executors_without_the_folder_compact_reparse_and_index_through_the_object_store(
    tmp_path: Path, spark: SparkSession, runner: SparkRunner, bucket: str, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "FEWEST", 1)
    for name, value in s3.environment.items():  # tasks have the environment that Spark was started with, and this one
        monkeypatch.setitem(spark.sparkContext.environment, name, value)
    local = make_archive(tmp_path / "local", pages=60)
    remote = replace(open_collection(shutil.copytree(local.home, tmp_path / "remote")), storage=bucket)
    with catalog_of(remote.home) as catalog:
        store_segments(remote, catalog.segments())
        for file in catalog.archives():
            store_archive(remote, file.name)
    for folder in (remote.segments, remote.archive):
        shutil.rmtree(folder)
        folder.mkdir()
    for collection, used in ((local, None), (remote, runner)):
        assert compact(collection, fewest=2, runner=used).merged == 3
        assert reparse(collection, settings_for(None), everything=True, runner=used).unread == 0
        build_index(collection, Indexing(memory_mb=128), runner=used)
    assert _segment_rows(remote) == _segment_rows(local)
    assert files_of(live_index(remote)) == files_of(live_index(local))
    for job in ("compact", "reparse", "index"):
        assert any(f"/scratch/{job}-" in request for request in s3.requests), job
    assert any("/archive/" in request and request.startswith("GET") for request in s3.requests)
    assert list(open_store(bucket).list("scratch")) == []
    assert list(remote.archive.iterdir()) == []
