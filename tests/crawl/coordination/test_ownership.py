"""Does a worker fetch from a host of another worker only under a loan, and does every loan end?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

import pytest

from periplus.crawl.coordination.local_coordination import LocalCoordination
from periplus.crawl.coordination.ownership import Loans, Ownership
from periplus.crawl.coordination.shared_state import SharedState
from periplus.fetch.client import Fetcher
from periplus.store.shares import share_of

PATIENCE, LONGEST = 31.0, 40.0
HERE, ALSO_HERE, THERE = "here.test", "also-here.test", "there.test"
OWNERS = {HERE: 0, ALSO_HERE: 0, THERE: 1}


class Connections:
    """The part of a fetcher that loans use."""

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
        self.borrower, self.owner = self.loans(0), self.loans(1)

    def loans(self, worker: int) -> Loans:
        coordination = LocalCoordination(self.shared, worker)
        ownership = Ownership(coordination)
        ownership.newly_owned()
        return Loans(coordination, ownership, cast("Fetcher", self.fetchers[worker]), PATIENCE, LONGEST)

    def borrow(self, wanted_by: str = HERE) -> float:
        """Seconds until the borrower may fetch."""
        return self.borrower.borrow(THERE, self.now, wanted_by=wanted_by) - self.now

    def is_lent(self) -> bool:
        return self.owner.blocked_until(THERE, self.now) > 0


@pytest.fixture
def pair() -> Iterator[Pair]:
    pair = Pair()
    yield pair
    pair.shared.close()


def test_the_borrower_fetches_when_requests_of_the_owner_have_ended(pair: Pair) -> None:
    assert not pair.is_lent()
    assert pair.borrow() == PATIENCE
    assert pair.is_lent()
    pair.owner.close_lent_connections()
    assert pair.fetchers[1].connected == []
    pair.now += PATIENCE
    assert pair.borrow() == 0


def test_the_owner_fetches_again_after_the_delay_of_the_host(pair: Pair) -> None:
    pair.borrow()
    pair.now += PATIENCE
    pair.borrower.end(THERE, 5.0)
    assert pair.fetchers[0].connected == []
    pair.now += 4.9
    assert pair.is_lent()
    pair.now += 0.1
    assert not pair.is_lent()


def test_the_loan_of_a_worker_that_died_expires(pair: Pair) -> None:
    pair.borrow()
    pair.now += pair.borrower.duration - 0.1
    assert pair.is_lent()
    pair.now += 0.1
    assert not pair.is_lent()


def test_the_replacement_of_a_dead_worker_may_borrow_the_same_share(pair: Pair) -> None:
    pair.borrow()
    pair.borrower = pair.loans(0)
    assert pair.borrow() == PATIENCE
    pair.now += pair.borrower.duration
    assert not pair.is_lent()


def test_a_request_that_would_outlast_the_loan_waits_for_the_next_loan(pair: Pair) -> None:
    pair.borrow()
    pair.now += pair.borrower.duration - PATIENCE + 1
    wait = pair.borrow()
    assert wait > PATIENCE - 1
    pair.now += PATIENCE - 1
    assert not pair.is_lent(), "the owner has its turn first"
    pair.now += wait
    assert pair.borrow() == PATIENCE
    assert pair.is_lent()


def test_a_loan_ends_with_the_last_share_that_needs_it(pair: Pair) -> None:
    pair.borrow(wanted_by=HERE)
    pair.borrow(wanted_by=ALSO_HERE)
    pair.borrower.leave_shares([share_of(HERE)], [], pair.now)
    assert pair.is_lent()
    pair.borrower.leave_shares([share_of(ALSO_HERE)], [], pair.now)
    assert not pair.is_lent()


def test_the_delay_of_a_host_is_kept_even_if_the_next_loan_ends_early(pair: Pair) -> None:
    pair.borrow()
    pair.now += PATIENCE
    pair.borrower.end(THERE, 20.0)
    assert pair.borrow() == PATIENCE, "another URL of that host, on the way to the same robots.txt"
    pair.borrower.leave_shares([share_of(HERE)], [], pair.now)
    pair.now += 19.9
    assert pair.is_lent()
    pair.now += 0.1
    assert not pair.is_lent()


def test_a_share_that_the_borrower_now_owns_needs_no_loan(pair: Pair) -> None:
    pair.borrow()
    pair.shared.owners[share_of(THERE)] = 0
    pair.borrower._ownership.newly_owned()
    assert pair.borrow() == 0
    assert pair.shared.borrower(share_of(THERE)) is None
