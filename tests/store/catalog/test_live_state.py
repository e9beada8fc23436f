"""Processes report what they do, and receive what the user tells them, as rows of the catalog."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from periplus.store.catalog.live_state import Action, LiveState, Role, WorkerRow
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection


@pytest.fixture
def live(any_collection: Collection) -> Iterator[LiveState]:
    with closing(open_catalog(any_collection, LiveState, create=True)) as opened:
        yield opened


def worker(number: int, *, seen: float = 100.0, state: str = "running") -> WorkerRow:
    return WorkerRow("node", Role.CRAWL, number, 4711, 90.0, seen, state, 0, {"fetched": number})


def test_a_process_replaces_its_own_row_and_no_other(live: LiveState) -> None:
    live.publish(worker(0))
    live.publish(worker(1))
    live.publish(worker(0, seen=101.0, state="paused"))
    assert live.workers() == [worker(0, seen=101.0, state="paused"), worker(1)]


def test_the_row_of_a_process_that_has_ended_is_gone(live: LiveState) -> None:
    live.publish(worker(0))
    live.publish(worker(1))
    live.remove("node", Role.CRAWL, 0)
    assert live.workers() == [worker(1)]


def test_a_process_that_does_not_report_counts_as_gone() -> None:
    assert not worker(0, seen=100.0).is_silent(110.0)
    assert worker(0, seen=100.0).is_silent(116.0)


def test_another_process_reads_each_command_once_and_in_order(any_collection: Collection, live: LiveState) -> None:
    first = live.command(Action.PAUSE, {}, origin="console")
    second = live.command(Action.BLOCK, {"host": "slow.example"}, node="node")
    with closing(open_catalog(any_collection, LiveState, read_only=True)) as reader:
        commands = reader.commands_after(0)
        assert [(one.command_id, one.action, one.node) for one in commands] == [
            (first, Action.PAUSE, ""),
            (second, Action.BLOCK, "node"),
        ]
        assert commands[1].arguments == {"host": "slow.example"}
        assert commands[0].origin == "console"
        assert reader.commands_after(first) == commands[1:]
        assert reader.commands_after(reader.last_command()) == []
        assert reader.newest_commands(1) == commands[1:]


def test_samples_of_the_last_week_are_kept(live: LiveState) -> None:
    live.add_sample(0.0, {"pages": 1})
    live.add_sample(6 * 86_400.0, {"pages": 2})
    live.add_sample(8 * 86_400.0, {"pages": 3})
    assert live.samples(-1.0) == [(6 * 86_400.0, {"pages": 2}), (8 * 86_400.0, {"pages": 3})]
    assert live.samples(6 * 86_400.0) == [(8 * 86_400.0, {"pages": 3})]
