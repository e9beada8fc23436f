"""The builder makes the pages of sealed segments searchable, and may be killed in any of its steps."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import closing
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Event
from typing import Any

import duckdb
import pytest

from crawl.crawling import run_crawl, settings_for, sound
from live.running import until
from periplus.config import Settings
from periplus.index import build
from periplus.live import builder
from periplus.live.builder import BuilderOptions, run_builder
from periplus.live.builder_report import BuilderReport, Step
from periplus.live.rhythm import Rhythm
from periplus.search.engine import SearchEngine
from periplus.store.catalog.live_state import LiveState, Role
from periplus.store.collection import open_collection
from periplus.store.database.sqlite_database import SqliteDatabase
from periplus.store.generations import INDEX_KIND, Generations
from testweb import TestWeb, mesh

pytestmark = pytest.mark.slow

PAGES = 30


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    with TestWeb([mesh("a.test", PAGES, 3)]) as web:
        run_crawl(web, folder, "http://a.test/", store__segment_seconds=0.05)
    return folder


def started(home: Path, before: Callable[[], None] = lambda: None) -> BaseProcess:
    """A builder in a process of its own; *before* runs there first."""

    def work() -> None:
        before()
        run_builder(BuilderOptions(home, settings_for(None), time.time()), Event())

    process = get_context("fork").Process(target=work)
    process.start()
    return process


def documents(home: Path) -> int:
    collection = open_collection(home)
    if Generations(collection.index, INDEX_KIND).live() is None:
        return 0
    with closing(SearchEngine.open(collection, Settings())) as engine:
        return engine.documents


def stopped(process: BaseProcess) -> int | None:
    assert process.pid
    os.kill(process.pid, signal.SIGTERM)
    process.join(180)
    return process.exitcode


def test_pages_become_searchable(home: Path) -> None:
    process = started(home)
    until(lambda: documents(home) == PAGES)
    rows = LiveState(SqliteDatabase(home / "crawl.db", read_only=True))
    until(lambda: any(row.figures.get("documents") == PAGES for row in rows.workers()))
    (row,) = [row for row in rows.workers() if row.role is Role.INDEX]
    assert row.figures["waiting"] == 0
    assert row.figures["rate_limit"] is None
    assert stopped(process) == 0
    assert rows.workers() == []
    rows.close()
    sound(home)


@pytest.mark.parametrize("step", [Step.REPARSE, Step.INDEX, Step.COMPACT])
def test_a_builder_killed_in_a_step_loses_nothing(home: Path, step: Step) -> None:
    def die_in_step() -> None:
        Rhythm.is_compaction_due = lambda self, segments: True  # type: ignore[method-assign]
        original = BuilderReport.step

        def deadly(self: BuilderReport, begun: Step) -> None:
            original(self, begun)
            if begun is step:
                signal.setitimer(signal.ITIMER_REAL, 0.03)  # in the middle of the step; SIGALRM kills

        setattr(BuilderReport, "step", deadly)  # noqa: B010  # mypy would compare the names of arguments

    process = started(home, die_in_step)
    process.join(180)
    assert process.exitcode == -signal.SIGALRM
    again = started(home)
    rows = LiveState(SqliteDatabase(home / "crawl.db", read_only=True))
    until(lambda: documents(home) == PAGES and any(row.pid == again.pid for row in rows.workers()))
    rows.close()
    assert stopped(again) == 0
    sound(home)


def test_the_last_pages_are_searchable_after_a_stop(home: Path) -> None:
    process = started(home, lambda: setattr(Rhythm, "is_update_due", lambda *_: False))
    until(lambda: bool(list((home / "segments").glob("pages-*-r1.parquet"))))
    assert documents(home) == 0
    assert stopped(process) == 0
    assert documents(home) == PAGES


def test_a_stop_in_the_middle_of_a_query_ends_the_builder_in_order(home: Path, tmp_path: Path) -> None:
    """DuckDB raises `RuntimeError` instead of the exception of a signal handler."""
    reached = tmp_path / "reached"

    def query_while_rebuilding() -> None:
        original = build.build_index

        def slow_build(*arguments: Any, **options: Any) -> build.IndexSummary:
            if options["limits"] is builder._REFRESH:
                reached.touch()
                duckdb.connect(config={"threads": 1}).execute("SELECT sum(hash(range)) FROM range(1000000000000)")
            return original(*arguments, **options)

        setattr(builder, "build_index", slow_build)  # noqa: B010  # mypy would compare the names of arguments

    process = started(home, query_while_rebuilding)
    until(reached.exists)
    time.sleep(0.5)
    assert stopped(process) == 0
    assert documents(home) == PAGES


def test_a_quiet_collection_gets_ranks_and_word_vectors(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("periplus.live.rhythm._QUIET_SECONDS", 0.5)
    process = started(home)

    def is_settled() -> bool:
        live = Generations(home / "index", INDEX_KIND).live()
        return live is not None and (live / "vectors").is_dir() and any((home / "ranks").glob("gen-*"))

    until(is_settled)
    assert stopped(process) == 0
    assert documents(home) == PAGES
