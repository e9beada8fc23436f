"""Does a worker fetch from a host of another worker only under a lease, and does every lease end?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

import pytest

from periplus.crawl.ownership import Leases, Ownership
from periplus.crawl.shared_state import SharedState
from periplus.fetch.client import Fetcher
from periplus.frontier.shares import share_of

PATIENCE, LONGEST = 31.0, 40.0
HERE, ALSO_HERE, THERE = "here.test", "also-here.test", "there.test"
OWNERS = {HERE: 0, ALSO_HERE: 0, THERE: 1}


class Connections:
    """The part of a fetcher that leases use."""

    def __init__(self) -> None:
        self.connected = [THERE]

    def disconnect(self, hosts: Iterable[str]) -> None:
        self.connected = [host for host in self.connected if host not in set(hosts)]


class Pair:
    """Two workers with one clock."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.shared = SharedState(2, monotonic=lambda: self.now)
        for host, owner in OWNERS.items():
            self.shared.owners[share_of(host)] = owner
        self.fetchers = [Connections(), Connections()]
        self.holder, self.owner = self.leases(0), self.leases(1)

    def leases(self, worker: int) -> Leases:
        ownership = Ownership(self.shared, worker)
        ownership.newly_owned()
        return Leases(self.shared, worker, ownership, cast("Fetcher", self.fetchers[worker]), PATIENCE, LONGEST)

    def acquire(self, wanted_by: str = HERE) -> float:
        """Seconds until the leaseholder may fetch."""
        return self.holder.acquire(THERE, self.now, wanted_by=wanted_by) - self.now

    def is_leased(self) -> bool:
        return self.owner.blocked_until(THERE, self.now) > 0


@pytest.fixture
def pair() -> Iterator[Pair]:
    pair = Pair()
    yield pair
    pair.shared.close()


def test_the_leaseholder_fetches_when_requests_of_the_owner_have_ended(pair: Pair) -> None:
    assert not pair.is_leased()
    assert pair.acquire() == PATIENCE
    assert pair.is_leased()
    pair.owner.close_leased_connections()
    assert pair.fetchers[1].connected == []
    pair.now += PATIENCE
    assert pair.acquire() == 0


def test_the_owner_fetches_again_after_the_delay_of_the_host(pair: Pair) -> None:
    pair.acquire()
    pair.now += PATIENCE
    pair.holder.end(THERE, 5.0)
    assert pair.fetchers[0].connected == []
    pair.now += 4.9
    assert pair.is_leased()
    pair.now += 0.1
    assert not pair.is_leased()


def test_the_lease_of_a_worker_that_died_expires(pair: Pair) -> None:
    pair.acquire()
    pair.now += pair.holder.duration - 0.1
    assert pair.is_leased()
    pair.now += 0.1
    assert not pair.is_leased()


def test_the_replacement_of_a_dead_worker_may_lease_the_same_share(pair: Pair) -> None:
    pair.acquire()
    pair.holder = pair.leases(0)
    assert pair.acquire() == PATIENCE
    pair.now += pair.holder.duration
    assert not pair.is_leased()


def test_a_request_that_would_outlast_the_lease_waits_for_the_next_lease(pair: Pair) -> None:
    pair.acquire()
    pair.now += pair.holder.duration - PATIENCE + 1
    wait = pair.acquire()
    assert wait > PATIENCE - 1
    pair.now += PATIENCE - 1
    assert not pair.is_leased(), "the owner has its turn first"
    pair.now += wait
    assert pair.acquire() == PATIENCE
    assert pair.is_leased()


def test_a_lease_ends_with_the_last_share_that_needs_it(pair: Pair) -> None:
    pair.acquire(wanted_by=HERE)
    pair.acquire(wanted_by=ALSO_HERE)
    pair.holder.leave_share(share_of(HERE), [], pair.now)
    assert pair.is_leased()
    pair.holder.leave_share(share_of(ALSO_HERE), [], pair.now)
    assert not pair.is_leased()


def test_the_delay_of_a_host_is_kept_even_if_the_next_lease_ends_early(pair: Pair) -> None:
    pair.acquire()
    pair.now += PATIENCE
    pair.holder.end(THERE, 20.0)
    assert pair.acquire() == PATIENCE, "another URL of that host, on the way to the same robots.txt"
    pair.holder.leave_share(share_of(HERE), [], pair.now)
    pair.now += 19.9
    assert pair.is_leased()
    pair.now += 0.1
    assert not pair.is_leased()


def test_a_share_that_the_leaseholder_now_owns_needs_no_lease(pair: Pair) -> None:
    pair.acquire()
    pair.shared.owners[share_of(THERE)] = 0
    pair.holder._ownership.newly_owned()
    assert pair.acquire() == 0
    assert pair.shared.leaseholder(share_of(THERE)) is None
