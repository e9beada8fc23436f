"""A worker of a fleet trusts its own clock, and repeats what the database did not hear."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from periplus.crawl.coordination import fleet_coordination
from periplus.crawl.coordination.fleet_coordination import FleetCoordination, Target
from periplus.crawl.coordination.shared_state import SharedState
from periplus.errors import DatabaseUnavailable, LeaseLost
from periplus.store.database.fleet import FleetView, Heartbeat, Identity

LEASE = 20.0  # seconds
ME = Identity(1000, 1, 0, (0, 0), frozenset())


class MemoryFleet:
    """A database that answers at once, unless it is away."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.heard: list[Heartbeat] = []
        self.owned = frozenset({1, 2, 3})
        self.fails: Exception | None = None
        self.grants: list[int] = []
        self.stored = (0, 0)

    def join(self, number: int, workers: int) -> Identity:
        del number, workers
        return ME

    def heartbeat(self, me: Identity, message: Heartbeat) -> FleetView:
        assert me == ME
        if self.fails is not None:
            raise self.fails
        self.heard.append(message)
        granted = self.grants.pop(0) if message.target is not None and self.grants else 0
        return FleetView(
            self._clock(),
            self.owned,
            frozenset(),
            {},
            (),
            (0, 0),
            is_finished=False,
            granted=granted,
            stored=self.stored,
        )

    def leave(self, me: Identity) -> None: ...

    def close(self) -> None: ...


class Time:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    clock = Time()
    monkeypatch.setattr(fleet_coordination, "since_boot", clock)
    return clock


@pytest.fixture
def fleet(time: Time) -> MemoryFleet:
    return MemoryFleet(time)


@pytest.fixture
def worker(fleet: MemoryFleet) -> Iterator[FleetCoordination]:
    with closing(SharedState(1)) as shared, closing(FleetCoordination(fleet, shared, 0, LEASE)) as made:
        yield made


def test_a_worker_sends_until_its_last_renewal_plus_the_lease(
    worker: FleetCoordination, fleet: MemoryFleet, time: Time
) -> None:
    time.now += LEASE - 1
    assert worker.may_send()
    worker.heartbeat()
    time.now += LEASE - 1
    assert worker.may_send()
    fleet.fails = DatabaseUnavailable("away")
    with pytest.raises(DatabaseUnavailable):
        worker.heartbeat()
    time.now += 1
    assert not worker.may_send(), "a renewal that failed does not count"


def test_a_worker_whose_lease_was_taken_sends_nothing_and_owns_nothing(
    worker: FleetCoordination, fleet: MemoryFleet
) -> None:
    fleet.fails = LeaseLost("taken")
    with pytest.raises(LeaseLost):
        worker.heartbeat()
    assert not worker.may_send()
    with pytest.raises(LeaseLost):
        worker.owned()


def test_a_worker_that_loses_a_share_which_it_did_not_give_away_is_lost(
    worker: FleetCoordination, fleet: MemoryFleet
) -> None:
    worker.heartbeat()
    worker.give([3], 1001)
    fleet.owned = frozenset({1, 2})
    worker.heartbeat()
    assert worker.owned() == {1, 2}
    fleet.owned = frozenset({1})
    worker.heartbeat()
    assert not worker.may_send()


def test_after_an_outage_a_worker_takes_no_lease_until_the_others_could_renew_theirs(
    worker: FleetCoordination, fleet: MemoryFleet, time: Time
) -> None:
    for _ in range(5):
        time.now += LEASE / 4
        worker.heartbeat()
    worker.heartbeat()
    assert fleet.heard[-1].may_revoke_leases
    time.now += 2 * LEASE  # the database was away
    worker.heartbeat()
    for _ in range(4):
        time.now += LEASE / 4
        worker.heartbeat()
        assert not fleet.heard[-1].may_revoke_leases
    time.now += LEASE / 4
    worker.heartbeat()
    assert fleet.heard[-1].may_revoke_leases


def test_what_an_exchange_could_not_tell_the_next_one_tells(worker: FleetCoordination, fleet: MemoryFleet) -> None:
    worker.heartbeat()
    worker.give([3], 1001)
    fleet.fails = DatabaseUnavailable("away")
    with pytest.raises(DatabaseUnavailable):
        worker.heartbeat()
    worker.give([2], 1002)
    fleet.fails, fleet.owned = None, frozenset({1})
    worker.heartbeat()
    worker.heartbeat()
    assert [message.share_transfers for message in fleet.heard[-2:]] == [((1001, (3,)), (1002, (2,))), ()]
    assert worker.owned() == {1}


def test_pages_of_the_target_are_claimed_until_they_are_committed_or_returned(fleet: MemoryFleet) -> None:
    fleet.grants = [40, 10]
    with closing(SharedState(1)) as shared, closing(FleetCoordination(fleet, shared, 0, LEASE, Target(100))) as worker:
        assert worker.claim_pages() == 0, "the database has not answered yet"
        worker.heartbeat()
        assert fleet.heard[-1].target == 100
        assert worker.claim_pages() == 40
        worker.heartbeat()
        worker.heartbeat()
        worker.committed(25)
        worker.heartbeat()
        assert [message.claimed for message in fleet.heard[-3:]] == [40, 50, 25]
        worker.return_pages(15)  # 10 were granted and never claimed
        worker.heartbeat()
        last = fleet.heard[-1]
        assert (last.claimed, last.target) == (0, None)
        assert worker.claim_pages() == 0


def test_a_grant_that_did_not_arrive_is_not_claimed(fleet: MemoryFleet) -> None:
    fleet.grants = [40]
    with closing(SharedState(1)) as shared, closing(FleetCoordination(fleet, shared, 0, LEASE, Target(100))) as worker:
        worker.claim_pages()
        fleet.fails = DatabaseUnavailable("away")
        with pytest.raises(DatabaseUnavailable):
            worker.heartbeat()
        fleet.fails, fleet.grants = None, []
        worker.heartbeat()
        assert (fleet.heard[-1].claimed, fleet.heard[-1].target) == (0, 100), "the next exchange asks again"


@pytest.mark.parametrize(
    ("target", "stored", "reached"),
    [
        (Target(), (10**9, 10**12), False),
        (Target(pages=100), (99, 10**12), False),
        (Target(pages=100), (100, 0), True),
        (Target(bytes=1000), (10**9, 999), False),
        (Target(bytes=1000), (1, 1001), True),
    ],
)
def test_the_target_is_reached_by_what_the_collection_stores(
    fleet: MemoryFleet, target: Target, stored: tuple[int, int], *, reached: bool
) -> None:
    fleet.stored = stored
    with closing(SharedState(1)) as shared, closing(FleetCoordination(fleet, shared, 0, LEASE, target)) as worker:
        assert worker.is_target_reached is reached
