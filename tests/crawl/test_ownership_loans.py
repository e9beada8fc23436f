"""Is a host of another worker asked only under a lease, and does every lease end?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

import pytest

from periplus.crawl.ownership import Leases, Ownership, share_of
from periplus.crawl.shared_state import SharedState
from periplus.fetch.client import Fetcher

PATIENCE, LONGEST = 31.0, 40.0
HERE, ALSO_HERE, THERE = "here.test", "also-here.test", "there.test"
OWNERS = {HERE: 0, ALSO_HERE: 0, THERE: 1}


class Connections:
    """As much of a fetcher as leases need."""

    def __init__(self) -> None:
        self.connected = [THERE]

    def disconnect(self, hosts: Iterable[str]) -> None:
        self.connected = [host for host in self.connected if host not in set(hosts)]


class Pair:
    """Two workers, and one time for both."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.board = SharedState(2, monotonic=lambda: self.now)
        for host, owner in OWNERS.items():
            self.board.owners[share_of(host)] = owner
        self.fetchers = [Connections(), Connections()]
        self.borrower, self.owner = self.loans(0), self.loans(1)

    def loans(self, worker: int) -> Leases:
        territory = Ownership(self.board, worker)
        territory.arrivals()
        return Leases(self.board, worker, territory, cast("Fetcher", self.fetchers[worker]), PATIENCE, LONGEST)

    def borrow(self, wanted_by: str = HERE) -> float:
        """Seconds until the borrower may ask."""
        return self.borrower.borrow(THERE, self.now, wanted_by=wanted_by) - self.now

    def is_lent(self) -> bool:
        return self.owner.lent(THERE, self.now) > 0


@pytest.fixture
def pair() -> Iterator[Pair]:
    pair = Pair()
    yield pair
    pair.board.close()


def test_the_borrower_asks_when_requests_of_the_owner_are_over(pair: Pair) -> None:
    assert not pair.is_lent()
    assert pair.borrow() == PATIENCE
    assert pair.is_lent()
    pair.owner.attend()
    assert pair.fetchers[1].connected == []
    pair.now += PATIENCE
    assert pair.borrow() == 0


def test_the_owner_asks_again_when_the_host_has_rested(pair: Pair) -> None:
    pair.borrow()
    pair.now += PATIENCE
    pair.borrower.give_back(THERE, 5.0)
    assert pair.fetchers[0].connected == []
    pair.now += 4.9
    assert pair.is_lent()
    pair.now += 0.1
    assert not pair.is_lent()


def test_a_borrower_that_never_speaks_again_keeps_nothing(pair: Pair) -> None:
    pair.borrow()
    pair.now += pair.borrower.lease - 0.1
    assert pair.is_lent()
    pair.now += 0.1
    assert not pair.is_lent()


def test_a_worker_that_takes_the_place_of_a_dead_one_may_take_a_lease_of_the_same_share(pair: Pair) -> None:
    pair.borrow()
    pair.borrower = pair.loans(0)
    assert pair.borrow() == PATIENCE
    pair.now += pair.borrower.lease
    assert not pair.is_lent()


def test_a_request_that_the_lease_is_too_short_for_waits_for_the_next_lease(pair: Pair) -> None:
    pair.borrow()
    pair.now += pair.borrower.lease - PATIENCE + 1
    wait = pair.borrow()
    assert wait > PATIENCE - 1
    pair.now += PATIENCE - 1
    assert not pair.is_lent(), "the owner has its turn first"
    pair.now += wait
    assert pair.borrow() == PATIENCE
    assert pair.is_lent()


def test_a_lease_ends_with_the_last_share_that_it_was_made_for(pair: Pair) -> None:
    pair.borrow(wanted_by=HERE)
    pair.borrow(wanted_by=ALSO_HERE)
    pair.borrower.end_for(share_of(HERE), pair.now)
    assert pair.is_lent()
    pair.borrower.end_for(share_of(ALSO_HERE), pair.now)
    assert not pair.is_lent()


def test_a_host_that_was_asked_rests_even_if_the_next_lease_ends_early(pair: Pair) -> None:
    pair.borrow()
    pair.now += PATIENCE
    pair.borrower.give_back(THERE, 20.0)
    assert pair.borrow() == PATIENCE, "another address there, on the way to the same robots.txt"
    pair.borrower.end_for(share_of(HERE), pair.now)
    pair.now += 19.9
    assert pair.is_lent()
    pair.now += 0.1
    assert not pair.is_lent()


def test_a_share_that_has_become_the_borrowers_own_needs_no_lease(pair: Pair) -> None:
    pair.borrow()
    pair.board.owners[share_of(THERE)] = 0
    pair.borrower._territory.arrivals()
    assert pair.borrow() == 0
    assert pair.board.borrower(share_of(THERE)) is None
