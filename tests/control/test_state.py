"""Does the state of a collection tell which processes are alive, and which commands wait for them?"""

from __future__ import annotations

import os
import socket
import time
from contextlib import closing
from pathlib import Path

import pytest

from periplus.control.state import crawl_state, wait_until_obeyed
from periplus.crawl.coordination.fleet_coordination import since_boot
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.live_state import SILENT_SECONDS, Action, LiveState, Role, WorkerRow
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection, create_collection
from periplus.store.database.postgres.fleet_rows import FleetRows
from periplus.store.database.sqlite_database import SqliteDatabase

NO_PROCESS = 2**22 + 1  # larger than any process id of Linux


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    made = create_collection(tmp_path)
    Catalog(SqliteDatabase(made.catalog, create=True)).close()
    return made


def publish(
    collection: Collection,
    *,
    node: str = "",
    pid: int = 0,
    age: float = 0.0,
    role: Role = Role.CRAWL,
    commanded: int = 0,
) -> None:
    seen = time.time() - age
    row = WorkerRow(
        node or socket.gethostname(), role, 0, pid or os.getpid(), seen - 60, seen, "running", commanded, {}
    )
    with closing(open_catalog(collection, LiveState)) as live:
        live.publish(row)


def command(collection: Collection, action: Action, node: str = "") -> int:
    with closing(open_catalog(collection, LiveState)) as live:
        return live.command(action, {}, node=node)


def alive(collection: Collection) -> list[bool]:
    return [one.is_alive for one in crawl_state(collection).processes]


def test_a_worker_of_this_machine_is_alive_while_it_holds_the_lock(collection: Collection) -> None:
    publish(collection)
    assert alive(collection) == [False], "the crawl was killed: nothing holds its lock"
    with collection.locked():
        assert alive(collection) == [True]
        assert crawl_state(collection).is_running


def test_a_process_that_does_not_exist_is_not_alive(collection: Collection) -> None:
    publish(collection, pid=NO_PROCESS, role=Role.SERVE)
    assert alive(collection) == [False]
    publish(collection, role=Role.SERVE)
    assert alive(collection) == [True]


def test_a_process_of_another_machine_is_alive_until_it_is_silent(collection: Collection) -> None:
    publish(collection, node="elsewhere", pid=NO_PROCESS)
    assert alive(collection) == [True]
    publish(collection, node="elsewhere", pid=NO_PROCESS, age=SILENT_SECONDS + 1)
    assert alive(collection) == [False]


def test_the_database_decides_whether_a_crawl_on_another_node_of_a_fleet_is_alive(
    tmp_path: Path, postgres: str
) -> None:
    node = Collection(create_collection(tmp_path).home, postgres, node="here")
    open_catalog(node, create=True).close()
    with closing(FleetRows(postgres, "elsewhere", "folder", 60.0, since_boot)) as rows:
        rows.join(0, 1)
        publish(node, node="elsewhere", age=10 * SILENT_SECONDS)
        assert alive(node) == [True], "the clocks of two machines may differ"
        (shown,) = crawl_state(node).shown()["nodes"]
        assert (shown["name"], shown["is_live"]) == ("elsewhere", True)
        publish(node, node="never-joined")
        assert alive(node) == [True, False]


def test_a_command_is_pending_until_every_live_worker_of_its_node_has_carried_it_out(collection: Collection) -> None:
    publish(collection, node="here")
    elsewhere = command(collection, Action.PAUSE, node="elsewhere")
    number = command(collection, Action.PAUSE, node="here")
    assert [one.command_id for one in crawl_state(collection).pending] == [number]
    assert not wait_until_obeyed(collection, 0.1)
    publish(collection, node="here", commanded=number)
    assert crawl_state(collection).pending == []
    assert wait_until_obeyed(collection, 0.1)
    assert elsewhere < number


def test_a_worker_that_started_after_a_stop_need_not_carry_it_out(collection: Collection) -> None:
    command(collection, Action.STOP)
    publish(collection, node="here", age=-120)
    assert crawl_state(collection).pending == []


def test_the_state_is_shown_with_exactly_these_keys(collection: Collection) -> None:
    publish(collection, node="here")
    command(collection, Action.PAUSE)
    shown = crawl_state(collection).shown()
    assert list(shown) == ["running", "paused", "processes", "nodes", "pending"]
    assert list(shown["pending"][0]) == ["command_id", "given", "action", "node", "arguments", "origin"]
    process = ["node", "role", "number", "pid", "started", "seen", "state", "commanded", "figures", "is_alive"]
    assert list(shown["processes"][0]) == process
