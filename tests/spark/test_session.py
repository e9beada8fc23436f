"""A session starts, says where its UI is, and errors are one line each."""

from __future__ import annotations

import os
import socket
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from crawl.crawling import typed
from periplus.config import Spark
from periplus.errors import SparkFailure, UsageError
from search.library import Doc, shelve
from spark_session import on_spark, require_spark
from store.records import error_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pyspark", reason="pyspark is not installed")

from periplus.spark import session
from periplus.spark.session import open_session, ui_address
from periplus.spark.tasks import SparkRunner

pytestmark = on_spark


def _opening(**changes: str) -> None:
    with open_session(Spark(), **changes):
        pass


def test_tasks_run_in_the_interpreter_of_the_driver(spark: SparkSession) -> None:
    found = SparkRunner(spark).run(lambda number: (number, sys.executable, os.getpid()), range(3))
    assert [(number, python) for number, python, _ in found] == [(n, sys.executable) for n in range(3)]
    assert os.getpid() not in {process for _, _, process in found}


def test_a_local_session_listens_on_loopback_only(spark: SparkSession) -> None:
    assert urlsplit(ui_address(spark)).hostname == "127.0.0.1"
    assert spark.conf.get("spark.driver.bindAddress") == "127.0.0.1"


def test_progress_ends_with_all_tasks(spark: SparkSession) -> None:
    seen: list[tuple[int, int]] = []
    SparkRunner(spark).run(abs, [-1, -2, -3], lambda done, tasks: seen.append((done, tasks)))
    assert seen[-1] == (3, 3)
    assert SparkRunner(spark).run(abs, []) == []


def test_the_error_of_a_task_is_one_line(spark: SparkSession) -> None:
    assert "ZeroDivisionError" in error_line(SparkFailure, lambda: SparkRunner(spark).run(lambda n: 1 // n, [0]))


def test_a_task_that_finds_damage_fails_with_the_error_of_a_local_job(spark: SparkSession) -> None:
    from periplus.errors import DamagedFile

    def find(name: str) -> None:
        raise DamagedFile(f"{name} is damaged")

    assert "x.parquet is damaged" in error_line(DamagedFile, lambda: SparkRunner(spark).run(find, ["x.parquet"]))


def test_without_java_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "openjdk-17-jre-headless" in error_line(SparkFailure, _opening)


def test_a_master_that_does_not_answer_is_named() -> None:
    require_spark()
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    line = error_line(SparkFailure, lambda: _opening(master=f"spark://127.0.0.1:{port}"))
    assert f"spark://127.0.0.1:{port} cannot be reached" in line


@pytest.mark.parametrize(
    "master", ["localhost:7077", "spark://host", "http://host:7077", "nonsense", "local[", "spark://a:1,"]
)
def test_a_text_that_is_no_url_of_a_master_is_refused_before_java_starts(
    master: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_spark()
    monkeypatch.setattr(session, "_start_java", lambda _: pytest.fail("Java was started"))
    line = error_line(UsageError, lambda: _opening(master=master), exit_code=2)
    assert f"{master!r} is not the URL of a Spark master. Write it like local[4], spark://host:7077" in line


@pytest.mark.parametrize("command", ["compact", "reparse", "index"])  # rank: tests/graph/test_spark_engine.py
def test_every_command_prints_the_address_of_the_spark_ui(
    command: str, tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelve(tmp_path, [Doc("http://a.test/", "A", "a page")])
    monkeypatch.setattr(session, "open_session", lambda *_: nullcontext(spark))
    outcome = typed(command, "--home", tmp_path, "--engine", "spark")
    assert outcome.code == 0
    assert f"Spark UI: {ui_address(spark)}\n" in outcome.err
