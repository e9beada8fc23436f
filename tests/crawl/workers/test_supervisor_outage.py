"""Workers of a fleet come back after an outage of the database, however long it was."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from crawl.crawling import assignment_for, settings_for
from periplus.crawl.assignment import Assignment, Ending, Report
from periplus.crawl.coordination.shared_state import Metric, SharedState
from periplus.crawl.workers import supervisor
from periplus.crawl.workers.supervisor import pause_after, run_workers
from periplus.errors import DatabaseUnavailable, LeaseLost
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import create_collection

OUTAGE = DatabaseUnavailable("the database cannot be reached", "connection refused")
Work = Callable[[SharedState, int], None]  # of a worker, by how many were started before


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    collection = create_collection(tmp_path / "c")
    open_catalog(collection, create=True).close()
    return assignment_for(settings_for(None), collection)


def running(monkeypatch: pytest.MonkeyPatch, folder: Path, work: Work) -> Callable[[], int]:
    """Let workers do *work*; returns what counts the workers that were started."""
    starts = folder / "starts"
    starts.touch()

    def run_worker(assignment: Assignment, shared: SharedState, number: int, _: object) -> Report:
        before = starts.stat().st_size
        with starts.open("a") as file:
            file.write("x")
        work(shared, before)
        return Report(Ending.DONE, {"fetched": 7}, {})

    monkeypatch.setattr(supervisor, "load_worker", lambda: run_worker)
    return lambda: starts.stat().st_size


def test_a_node_goes_on_after_many_outages(
    assignment: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(supervisor, "_FIRST_PAUSE", 0.0)

    def work(_: SharedState, before: int) -> None:
        if before < 30:
            raise OUTAGE if before % 2 else LeaseLost("the lease is lost")

    count = running(monkeypatch, tmp_path, work)
    with closing(SharedState(1, None)) as shared:
        assert [report.summary for report in run_workers(assignment, shared, lambda: None)] == [{"fetched": 7}]
    assert count() == 31
    assert sum("worker 0 starts anew: the lease is lost" in message for message in caplog.messages) == 15


def test_workers_are_started_less_and_less_often_during_an_outage(
    assignment: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[int] = []

    def pause(outages: int) -> float:
        pauses.append(outages)
        return 0.0

    def work(shared: SharedState, before: int) -> None:
        if before == 4:
            shared.set(0, Metric.COMMITS, 1)
        if before < 8:
            raise OUTAGE

    monkeypatch.setattr(supervisor, "pause_after", pause)
    count = running(monkeypatch, tmp_path, work)
    with closing(SharedState(1, None)) as shared:
        run_workers(assignment, shared, lambda: None)
    assert pauses == [1, 2, 3, 4, 0, 1, 2, 3], "a commit ends the outage"
    assert count() == 9


def test_no_pause_is_longer_than_half_a_minute() -> None:
    for outages in range(2000):
        assert 0.25 <= pause_after(outages) <= 30
    assert pause_after(0) <= 0.5
    assert pause_after(2000) >= 15


def test_no_worker_is_started_and_no_page_of_the_budget_returned_before_the_database_answers(
    assignment: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "_FIRST_PAUSE", 0.001)
    attempts: list[int] = []

    def open_after_some_time(_: object) -> object:
        attempts.append(count())
        if len(attempts) < 5:
            raise OUTAGE
        return open_catalog(assignment.collection)

    def work(shared: SharedState, before: int) -> None:
        if not before:
            shared.claim_pages(0)
            raise OUTAGE

    monkeypatch.setattr(supervisor, "open_catalog", open_after_some_time)
    count = running(monkeypatch, tmp_path, work)
    with closing(SharedState(1, 100)) as shared:
        run_workers(assignment, shared, lambda: None)
    assert attempts == [1] * 5
    assert count() == 2


def test_ctrl_c_ends_a_node_that_waits_for_the_database(
    assignment: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(shared: SharedState, _: int) -> None:
        raise OUTAGE

    def no_catalog(*_: object) -> None:
        raise OUTAGE

    monkeypatch.setattr(supervisor, "open_catalog", no_catalog)
    monkeypatch.setattr(supervisor, "_FIRST_PAUSE", 1e9)
    monkeypatch.setattr(supervisor, "_LONGEST_PAUSE", 1e9)
    monkeypatch.setattr(supervisor, "_PROGRESS_EVERY", 0.0)
    count = running(monkeypatch, tmp_path, work)
    with closing(SharedState(1, None)) as shared:

        def stop() -> None:
            if count():
                shared.request_stop()

        (report,) = run_workers(assignment, shared, stop)
    assert report.ending is Ending.INTERRUPTED
    assert count() == 1
