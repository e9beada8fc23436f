"""Segments that tasks parse on other machines have the rows that one machine writes."""

from __future__ import annotations

import pickle
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from crawl.crawling import catalog_of, run_crawl, segment_rows, settings_for, sound
from periplus.config import Fleet
from periplus.reparse import distributed, reparse
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection, open_collection
from periplus.store.fleet_files.job_files import store_archive, store_segments
from periplus.store.task_runner import InProcessRunner, TaskRunner
from testweb import TestWeb, many_hosts
from two_attempts import TwoAttempts


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with TestWeb(many_hosts(3, 12)) as web:
        run_crawl(web, tmp_path / "home", "http://h0001.test/", scope__hosts=[".*"], store__segment_seconds=0.05)
    return tmp_path / "home"


def rows(home: Path) -> dict[str, list[dict[str, Any]]]:
    return {kind: segment_rows(home, kind) for kind in ("pages", "links")}


def again(collection: Collection, runner: TaskRunner | None = None) -> tuple[int, int]:
    done: list[tuple[int, int]] = []
    summary = reparse(
        collection,
        settings_for(None),
        everything=True,
        runner=runner,
        on_progress=lambda *counts: done.append(counts),
    )
    assert done[-1] == (summary.pages, summary.pages)
    assert summary.unread == 0
    return summary.segments, summary.pages


def test_tasks_write_the_rows_of_one_machine(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "_TASKS_PER_WAVE", 2)
    collection = open_collection(home)
    counts, alone = again(collection), rows(home)
    assert again(collection, InProcessRunner()) == counts
    assert rows(home) == alone
    assert list((home / "scratch").iterdir()) == []
    sound(home)


def test_two_attempts_of_one_task_at_the_same_time_give_the_rows_of_one(home: Path) -> None:
    collection = open_collection(home)
    counts, alone = again(collection), rows(home)
    runner = TwoAttempts()
    assert again(collection, runner) == counts
    assert rows(home) == alone
    for (one, reading), (other, same) in runner.results:
        assert reading == same
        assert one.attempt != other.attempt
    sound(home)


def test_tasks_read_segments_and_records_from_the_object_store(home: Path, tmp_path: Path) -> None:
    collection = open_collection(home)
    again(collection)
    alone = rows(home)
    (tmp_path / "store").mkdir()
    fleet = replace(collection, storage=f"file://{tmp_path}/store")
    with closing(open_catalog(collection)) as catalog:
        store_segments(fleet, catalog.segments())
        for file in catalog.archives():
            store_archive(fleet, file.name)
            (collection.archive / file.name).rename(tmp_path / file.name)
    again(fleet, InProcessRunner())
    assert rows(home) == alone
    with catalog_of(home) as catalog:
        live = {segment.name for segment in catalog.segments()}
    assert live <= {path.name for path in (tmp_path / "store" / "segments").iterdir()}
    assert not any(path.is_file() for path in (tmp_path / "store" / "scratch").rglob("*"))


def test_tasks_get_no_passwords(home: Path) -> None:
    settings = settings_for(None).model_copy(
        update={"fleet": Fleet(database=SecretStr("postgresql://me:pa55phrase@127.0.0.1/db"))}
    )

    class Listening(InProcessRunner):
        """Looks for the password in what is sent to executors."""

        def run(self, *arguments: Any) -> Any:
            assert b"pa55phrase" not in pickle.dumps(arguments[:2])
            return super().run(*arguments)

    assert reparse(open_collection(home), settings, everything=True, runner=Listening()).unread == 0
