"""The contract of every coordination of workers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Protocol

import pytest

from periplus.crawl.coordination import Coordination
from periplus.crawl.fleet_coordination import FleetCoordination, Target, since_boot
from periplus.crawl.local_coordination import LocalCoordination
from periplus.crawl.shared_state import SharedState
from periplus.store.postgres.database import PostgresDatabase
from periplus.store.postgres.fleet_rows import FleetRows
from periplus.store.shares import SHARES

PAGES = 100
A_MOMENT = 0.3  # seconds
LEASE = 60.0  # seconds


class Crew(Protocol):
    """Three workers of one crawl with a budget of 100 pages."""

    workers: list[Coordination]

    def exchange(self) -> None:
        """Let every worker learn what the others have published."""
        ...

    def close(self) -> None: ...


class LocalCrew:
    """Workers that share memory; `exchange` does what the supervisor does."""

    def __init__(self) -> None:
        self._shared = SharedState(3, PAGES)
        self.workers: list[Coordination] = [LocalCoordination(self._shared, number) for number in range(3)]

    def exchange(self) -> None:
        if self._shared.is_quiescent():
            self._shared.declare_finished()

    def close(self) -> None:
        self._shared.close()


class FleetCrew:
    """Workers that share a database; `exchange` does what their threads do."""

    def __init__(self, url: str, budget: int | None, target: Target) -> None:
        PostgresDatabase(url, create=True).close()
        self._shared = SharedState(3, budget)
        self.fleet = [FleetCoordination(rows_of(url), self._shared, number, LEASE, target) for number in range(3)]
        self.workers: list[Coordination] = [*self.fleet]

    def exchange(self) -> None:
        for _ in range(2):
            for worker in self.fleet:
                worker.exchange()

    def close(self) -> None:
        for worker in self.fleet:
            worker.close()
        self._shared.close()


def rows_of(url: str, node: str = "node", folder: str = "folder", lease: float = LEASE) -> FleetRows:
    return FleetRows(url, node, folder, lease, since_boot)


@pytest.fixture(params=["shared memory", "postgres", "postgres with a target"])
def crew(request: pytest.FixtureRequest) -> Iterator[Crew]:
    if request.param == "shared memory":
        made: LocalCrew | FleetCrew = LocalCrew()
    elif request.param == "postgres":
        made = FleetCrew(request.getfixturevalue("postgres"), PAGES, Target())
    else:
        made = FleetCrew(request.getfixturevalue("postgres"), None, Target(pages=PAGES))
    with closing(made) as crew:
        crew.exchange()
        yield crew


def settled(crew: Crew) -> list[frozenset[int]]:
    crew.exchange()
    return [worker.owned() for worker in crew.workers]


# -- ownership ----------------------------------------------------------------------------------------------------


def test_every_share_has_one_owner_and_every_worker_a_fair_part(crew: Crew) -> None:
    owned = settled(crew)
    assert sum(map(len, owned)) == len(frozenset().union(*owned)) == SHARES
    assert max(map(len, owned)) - min(map(len, owned)) <= 2
    assert len({worker.worker for worker in crew.workers}) == 3
    assert not any(worker.is_alone for worker in crew.workers)
    assert all(worker.may_send() for worker in crew.workers)


def test_shares_that_do_not_change_are_the_same_object(crew: Crew) -> None:
    before = settled(crew)
    crew.exchange()
    assert all(worker.owned() is owned for worker, owned in zip(crew.workers, before, strict=True))


def test_a_share_that_is_given_has_the_receiver_as_its_only_owner(crew: Crew) -> None:
    giver, receiver, _ = crew.workers
    given = sorted(settled(crew)[0])[:3]
    giver.give(given, receiver.worker)
    assert not giver.owned() & set(given), "at once, before the receiver begins"
    owned = settled(crew)
    assert owned[1] >= set(given)
    assert sum(map(len, owned)) == SHARES
    assert not giver.inherited() | receiver.inherited()


# -- loans --------------------------------------------------------------------------------------------------------


def borrow(crew: Crew, number: int, share: int, seconds: float) -> bool:
    """Ask until the answer must be known."""
    crew.workers[number].borrow(share, seconds)
    crew.exchange()
    answer = crew.workers[number].borrow(share, seconds)
    crew.exchange()
    return answer


def test_a_share_is_lent_to_one_worker_at_a_time_and_every_worker_knows(crew: Crew) -> None:
    assert not any(worker.has_loans for worker in crew.workers)
    assert borrow(crew, 0, 7, 60.0)
    assert not borrow(crew, 1, 7, 60.0)
    assert {worker.borrower(7) for worker in crew.workers} == {crew.workers[0].worker}
    assert all(worker.has_loans for worker in crew.workers)
    assert crew.workers[0].loan_left(7) > 50
    assert crew.workers[1].loan_left(7) == 0


def test_only_the_borrower_can_end_a_loan(crew: Crew) -> None:
    assert borrow(crew, 0, 7, 60.0)
    crew.workers[1].end_loan(7, 0.0)
    crew.exchange()
    assert crew.workers[1].borrower(7) == crew.workers[0].worker
    crew.workers[0].end_loan(7, 0.0)
    crew.exchange()
    assert crew.workers[1].borrower(7) is None
    assert borrow(crew, 1, 7, 60.0)


def test_a_loan_ends_after_the_delay_that_its_borrower_gives(crew: Crew) -> None:
    assert borrow(crew, 0, 7, 60.0)
    crew.workers[0].end_loan(7, A_MOMENT)
    crew.exchange()
    assert 0 < crew.workers[0].loan_left(7) <= A_MOMENT
    time.sleep(A_MOMENT)
    assert crew.workers[1].borrower(7) is None


def test_a_loan_expires(crew: Crew) -> None:
    assert borrow(crew, 0, 7, A_MOMENT)
    time.sleep(A_MOMENT)
    assert crew.workers[1].borrower(7) is None
    assert crew.workers[0].loan_left(7) == 0
    for worker in crew.workers:
        worker.remove_expired_loans()
    crew.exchange()
    assert not any(worker.has_loans for worker in crew.workers)


# -- load, letters, budget ----------------------------------------------------------------------------------------


def test_a_worker_sees_the_load_of_the_others_and_not_its_own(crew: Crew) -> None:
    for number, worker in enumerate(crew.workers):
        worker.publish_load(100 * number, is_underloaded=number == 0)
        worker.publish_idleness(len(worker.owned()), is_idle=False)
    crew.exchange()
    peers = {peer.worker: peer for peer in crew.workers[1].peers()}
    first, last = peers[crew.workers[0].worker], peers[crew.workers[2].worker]
    assert len(peers) == 2
    assert (first.backlog, first.is_underloaded, last.backlog, last.is_underloaded) == (0, True, 200, False)
    assert first.shares == len(crew.workers[0].owned())


def test_a_worker_that_was_promised_a_share_counts_as_loaded(crew: Crew) -> None:
    crew.workers[0].publish_load(0, is_underloaded=True)
    crew.exchange()
    crew.workers[1].promise(crew.workers[0].worker)
    assert not [peer for peer in crew.workers[1].peers() if peer.is_underloaded]


def test_workers_notice_forwarded_urls_and_seeds_of_the_others(crew: Crew) -> None:
    forwarded, seeds = crew.workers[0].announced()
    crew.workers[1].announce(3, 0)
    crew.exchange()
    then = crew.workers[0].announced()
    assert then[0] != forwarded
    assert then[1] == seeds
    crew.workers[2].announce(0, 1)
    crew.exchange()
    assert crew.workers[0].announced()[0] == then[0]
    assert crew.workers[0].announced()[1] != seeds


def claimed(crew: Crew, number: int) -> int:
    """All pages that a worker can claim."""
    pages, patience = 0, 3
    while patience:
        more = crew.workers[number].claim_pages()
        pages, patience = pages + more, 3 if more else patience - 1
        crew.exchange()
    return pages


def test_all_workers_together_claim_the_budget_and_returned_pages_once_more(crew: Crew) -> None:
    first = crew.workers[0].claim_pages()
    crew.exchange()
    first = first or crew.workers[0].claim_pages()
    assert 0 < first < PAGES / 3, "one worker must not take what others could fetch"
    assert first + claimed(crew, 1) + claimed(crew, 0) == PAGES
    crew.workers[0].return_pages(7)
    crew.exchange()
    assert claimed(crew, 2) + claimed(crew, 1) == 7


def test_the_totals_are_those_of_all_workers(crew: Crew) -> None:
    for number, worker in enumerate(crew.workers, 1):
        worker.publish_progress(number, 10 * number)
    crew.exchange()
    assert {worker.totals() for worker in crew.workers} == {(6, 60)}


def test_the_pages_of_a_worker_that_has_ended_still_count(crew: Crew) -> None:
    for worker in crew.workers:
        worker.publish_progress(20, 200)
    crew.exchange()
    crew.workers[0].leave()
    for worker in crew.workers[1:]:
        worker.publish_progress(40, 400)
        if isinstance(worker, FleetCoordination):
            worker.exchange()
    assert {worker.totals() for worker in crew.workers[1:]} == {(100, 1000)}


# -- the end ------------------------------------------------------------------------------------------------------


def test_a_crawl_is_finished_when_every_worker_is_idle_with_all_its_shares_loaded(crew: Crew) -> None:
    owned = settled(crew)
    for worker, shares in zip(crew.workers[:2], owned, strict=False):
        worker.publish_idleness(len(shares), is_idle=True)
    crew.exchange()
    assert not any(worker.is_finished for worker in crew.workers), "one worker is busy"
    crew.workers[2].publish_idleness(len(owned[2]) - 1, is_idle=True)
    crew.exchange()
    assert not any(worker.is_finished for worker in crew.workers), "one share is not loaded yet"
    crew.workers[2].publish_idleness(len(owned[2]), is_idle=True)
    crew.exchange()
    assert all(worker.is_finished for worker in crew.workers)
