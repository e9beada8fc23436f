"""A node that is silent is given up only when this node would have heard it; its uploaded pages are parsed here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from periplus.crawl.coordination import lost_nodes
from periplus.crawl.coordination.lost_nodes import LostNodes
from periplus.errors import DatabaseUnavailable, StorageUnavailable
from periplus.model import Decision, Fetch, Page, Reason, Response, Verdict
from periplus.store.catalog.batch import ArchiveFile
from periplus.store.collection import Collection
from periplus.store.manifest import PageRow

GRACE = 100.0  # seconds
ME, LOST = 1001, 1000
FILE = ArchiveFile(7, "w1000-000001.warc.gz", 500, 0)
ROW = PageRow(Fetch("http://a.test/", 1.0, 200, Decision(Verdict.FETCHED, Reason.OK)), Page())


class Files:
    """The rows of a fleet in which the worker 1000 has been silent for a day."""

    def __init__(self) -> None:
        self.is_away = False
        self.given_up: list[tuple[int, int]] = []
        self.archives: list[ArchiveFile] = []

    def lost_workers(self, grace: float) -> list[int]:
        assert grace == GRACE
        if self.is_away:
            raise DatabaseUnavailable("the database does not answer")
        return [LOST]

    def give_up(self, worker: int, grace: float, successor: int) -> list[str]:
        assert grace == GRACE
        self.given_up.append((worker, successor))
        return ["http://a.test/"]

    def remove_lost_nodes(self, grace: float) -> list[str]:
        assert grace == GRACE
        return []

    def taken_over(self, successor: int) -> list[ArchiveFile]:
        assert successor == ME
        return self.archives

    def close(self) -> None: ...


class Reading:
    """Parses nothing: the pages of a file are given."""

    def needs_sandbox(self, response: Response) -> bool:
        raise AssertionError(response)

    def parse(self, response: Response, *, sandboxed: bool) -> Page:
        raise AssertionError(response, sandboxed)


class Time:
    """A clock that the test moves."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    clock = Time()
    monkeypatch.setattr(lost_nodes, "since_boot", clock)
    return clock


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> Files:
    found = Files()
    monkeypatch.setattr(lost_nodes, "open_catalog", lambda *_: found)
    return found


Added = list[tuple[list[PageRow], int, int]]


@pytest.fixture
def added() -> Added:
    return []


@pytest.fixture
def nodes(tmp_path: Path, added: Added) -> LostNodes:
    return LostNodes(Collection(tmp_path), GRACE, ME, Reading(), lambda *pages: added.append(pages))


def looked(nodes: LostNodes, time: Time, seconds: float) -> None:
    """Look as often as the thread does."""
    for _ in range(round(seconds / (GRACE / 4))):
        time.now += GRACE / 4
        nodes.look()


def test_a_silent_node_is_given_up_when_this_one_has_heard_the_database_for_the_grace_time(
    nodes: LostNodes, files: Files, time: Time
) -> None:
    looked(nodes, time, GRACE)
    assert not files.given_up, "this node has just started"
    looked(nodes, time, GRACE / 4)
    assert files.given_up == [(LOST, ME)]


def test_after_an_outage_of_the_database_every_node_has_the_grace_time_to_come_back(
    nodes: LostNodes, files: Files, time: Time
) -> None:
    looked(nodes, time, 2 * GRACE)
    files.given_up.clear()
    files.is_away = True
    with pytest.raises(DatabaseUnavailable):
        looked(nodes, time, GRACE)
    time.now += 10 * GRACE
    files.is_away = False
    looked(nodes, time, GRACE)
    assert not files.given_up, "live nodes were as silent as a lost one"
    looked(nodes, time, GRACE / 4)
    assert files.given_up == [(LOST, ME)]


def test_pages_of_a_lost_node_are_added_to_segments_once(
    nodes: LostNodes, files: Files, added: Added, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pages(*_: object) -> Iterator[tuple[list[PageRow], int]]:
        yield [ROW], 300
        yield [ROW, ROW], 500

    monkeypatch.setattr(lost_nodes, "unsealed_pages", pages)
    files.archives = [FILE]  # until the segment is sealed
    nodes.look()
    nodes.look()
    assert added == [([ROW], 7, 300), ([ROW, ROW], 7, 500)]


@pytest.mark.parametrize("at_once", [False, True])
def test_a_worker_that_is_done_first_parses_the_pages_that_it_took(
    nodes: LostNodes, files: Files, added: Added, monkeypatch: pytest.MonkeyPatch, at_once: bool
) -> None:
    monkeypatch.setattr(lost_nodes, "unsealed_pages", lambda *_: iter([([ROW], 500)]))
    nodes.start()
    files.archives = [FILE]
    nodes.stop(at_once=at_once)
    assert at_once or added == [([ROW], 7, 500)]


def test_pages_that_the_process_before_took_are_parsed_at_once(
    nodes: LostNodes, files: Files, added: Added, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = Event()
    files.archives = [FILE]

    def pages(*_: object) -> Iterator[tuple[list[PageRow], int]]:
        parsed.set()
        yield [ROW], 500

    monkeypatch.setattr(lost_nodes, "unsealed_pages", pages)
    nodes.start()
    assert parsed.wait(30), "not only after a quarter of the grace time"
    nodes.stop(at_once=False)
    assert added == [([ROW], 7, 500)]


def test_while_the_object_store_fails_pages_of_a_lost_node_wait(
    nodes: LostNodes, files: Files, added: Added, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise StorageUnavailable("the store cannot be used")

    files.archives = [FILE]
    monkeypatch.setattr(lost_nodes, "unsealed_pages", lambda *_: iter([([ROW], 500)]))
    with monkeypatch.context() as patch:
        patch.setattr(lost_nodes, "borrowing_archives", fail)
        with pytest.raises(StorageUnavailable):
            nodes.look()
    assert not added
    nodes.look()
    assert added == [([ROW], 7, 500)]
