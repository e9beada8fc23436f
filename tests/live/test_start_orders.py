"""A crawl that was stopped starts again when the user says so, and only then."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from periplus.control.orders import drain, start
from periplus.errors import UsageError
from periplus.live.start_orders import StartOrders
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.live_state import Action, LiveState
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection, create_collection
from periplus.store.database.sqlite_database import SqliteDatabase


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    made = create_collection(tmp_path / "home")
    Catalog(SqliteDatabase(made.catalog, create=True)).close()
    return made


def tell(collection: Collection, action: Action, node: str = "") -> None:
    with closing(open_catalog(collection, LiveState)) as live:
        live.command(action, {}, node=node)


def test_the_last_of_start_and_stop_counts(collection: Collection) -> None:
    orders = StartOrders(collection)
    assert not orders.is_start_wanted()
    tell(collection, Action.START)
    assert orders.is_start_wanted()
    drain(collection)
    assert not orders.is_start_wanted()


def test_commands_of_earlier_runs_and_for_other_machines_do_not_count(collection: Collection) -> None:
    tell(collection, Action.START)
    orders = StartOrders(collection)
    tell(collection, Action.START, node="elsewhere")
    assert not orders.is_start_wanted()


def test_without_a_running_up_nothing_can_start(collection: Collection) -> None:
    with pytest.raises(UsageError, match="no `periplus up` is running"):
        start(collection)
