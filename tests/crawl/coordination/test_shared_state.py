"""Do the processes of a crawl see the same metrics, owners, loans and budget?"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import closing

import pytest

from periplus.crawl.coordination.local_coordination import LocalCoordination
from periplus.crawl.coordination.ownership import Ownership, share_to_give, shares_to_give
from periplus.crawl.coordination.shared_state import Metric, SharedState
from periplus.store.shares import SHARES, share_of


@pytest.fixture
def shared() -> Iterator[SharedState]:
    with closing(SharedState(workers=3, pages=100)) as shared:
        yield shared


def make_quiescent(shared: SharedState) -> None:
    for worker in range(shared.workers):
        shared.set(worker, Metric.IDLE, 1)
        shared.set(worker, Metric.SHARES, shared.owners.tobytes().count(worker))


def test_a_metric_that_a_child_sets_is_read_by_its_parent(shared: SharedState) -> None:
    if not (child := os.fork()):
        shared.set(1, Metric.FETCHED, 41)
        os._exit(0)
    os.waitpid(child, 0)
    shared.set(2, Metric.FETCHED, 1)
    assert (shared.all(Metric.FETCHED), shared.total(Metric.FETCHED)) == ([0, 41, 1], 42)


def test_every_share_has_an_owner_and_every_worker_owns_shares(shared: SharedState) -> None:
    owned = [sum(owner == worker for owner in shared.owners) for worker in range(3)]
    assert sum(owned) == SHARES
    assert max(owned) - min(owned) <= 1


def test_pages_can_be_claimed_up_to_the_budget_and_returned_pages_again(shared: SharedState) -> None:
    claimed = []
    while pages := shared.claim_pages(0):
        claimed.append(pages)
    assert sum(claimed) == 100
    assert max(claimed) < 20, "one worker must not take what others could fetch"
    shared.return_pages(0, 7)
    assert sum(iter(lambda: shared.claim_pages(1), 0)) == 7


def test_without_a_budget_there_are_always_pages_to_claim() -> None:
    with closing(SharedState(workers=2)) as shared:
        assert all(shared.claim_pages(0) for _ in range(10_000))


def test_a_third_request_to_stop_changes_nothing(shared: SharedState) -> None:
    levels = [shared.stop]
    for _ in range(3):
        shared.request_stop()
        levels.append(shared.stop)
    assert levels == [0, 1, 2, 2]


def test_a_crawl_is_not_quiescent_while_a_worker_is_busy_or_has_a_share_to_load(
    shared: SharedState,
) -> None:
    assert not shared.is_quiescent()
    make_quiescent(shared)
    assert shared.is_quiescent()
    shared.set(1, Metric.IDLE, 0)
    assert not shared.is_quiescent()
    make_quiescent(shared)
    shared.owners[0] = (shared.owners[0] + 1) % 3
    assert not shared.is_quiescent()


def test_hosts_of_one_registrable_domain_fall_into_one_share() -> None:
    assert share_of("example.co.uk") == share_of("www.example.co.uk") == share_of("a.b.example.co.uk")
    assert len({share_of(f"domain{number}.test") for number in range(1000)}) > 500


def test_a_share_belongs_to_one_worker_at_a_time(shared: SharedState) -> None:
    share = share_of("example.org")
    giver = shared.owners[share]
    receiver = (giver + 1) % 3
    ownerships = [Ownership(LocalCoordination(shared, worker)) for worker in range(3)]
    for ownership in ownerships:
        ownership.newly_owned()
    assert [ownership.owns("www.example.org") for ownership in ownerships].count(True) == 1
    ownerships[giver].leaving = frozenset({share})
    assert not any(ownership.owns("www.example.org") for ownership in ownerships)
    ownerships[giver].hand_over(receiver)
    assert ownerships[receiver].newly_owned() == {share}
    assert [ownership.owns("www.example.org") for ownership in ownerships].index(True) == receiver


@pytest.mark.parametrize(
    ("waiting", "load", "given"),
    [
        ({1: 900, 2: 500, 3: 300}, 0, 2),
        ({1: 900, 2: 500, 3: 300}, 1000, 3),
        ({1: 900, 2: 500, 3: 300}, 1500, None),
        ({1: 900}, 0, None),
        (dict.fromkeys(range(10), 100), 0, 1),
        (dict.fromkeys(range(20), 100), 100, None),
        ({1: 900, 2: 5}, 0, None),
        ({}, 0, None),
    ],
)
def test_a_share_is_given_only_if_large_enough_and_never_leaves_the_giver_with_less_than_the_receiver(
    waiting: dict[int, int], load: int, given: int | None
) -> None:
    assert share_to_give(Counter(waiting), load) == given


def test_every_process_sees_which_page_a_worker_parses(shared: SharedState) -> None:
    assert shared.parsing_url(1) is None
    shared.begin_parsing(1, "http://a.test/long")
    shared.begin_parsing(0, "http://b.test/\u00fc")
    shared.begin_parsing(1, "http://a.test/")
    assert (shared.parsing_url(0), shared.parsing_url(1)) == ("http://b.test/\u00fc", "http://a.test/")
    assert shared.parsing_seconds(1) > 0
    shared.end_parsing(1)
    assert shared.parsing_url(1) is None
    assert shared.parsing_seconds(1) == 0
    assert shared.parsing_url(0) == "http://b.test/\u00fc"


def test_a_very_long_url_overwrites_no_other_url(shared: SharedState) -> None:
    shared.begin_parsing(2, "http://c.test/")
    shared.begin_parsing(1, "http://a.test/" + "x" * 100_000)
    assert shared.parsing_url(2) == "http://c.test/"
    assert (shared.parsing_url(1) or "").startswith("http://a.test/xxx")


def test_of_a_dead_worker_only_what_it_acknowledged_counts(shared: SharedState) -> None:
    claimed = shared.claim_pages(1) + shared.claim_pages(1)
    shared.set(1, Metric.FETCHED, claimed)
    shared.set(1, Metric.IDLE, 1)
    shared.begin_parsing(1, "http://a.test/")
    before = shared.total(Metric.FORWARDED)
    shared.record_death(1, fetched=3, size=500)
    assert (shared.get(1, Metric.FETCHED), shared.get(1, Metric.BYTES), shared.get(1, Metric.IDLE)) == (3, 500, 0)
    assert shared.get(1, Metric.CLAIMED) == 3
    assert sum(iter(lambda: shared.claim_pages(0), 0)) == 97, "pages that it claimed and did not fetch go to others"
    assert shared.parsing_url(1) is None
    assert shared.total(Metric.FORWARDED) != before, "its last forwarded URLs may not have been published"


def test_a_share_is_lent_to_one_worker_at_a_time(shared: SharedState) -> None:
    assert (shared.has_loans, shared.borrower(7)) == (False, None)
    assert shared.borrow(7, 0, 60.0)
    assert shared.borrow(7, 0, 60.0)
    assert not shared.borrow(7, 1, 60.0)
    assert (shared.has_loans, shared.borrower(7)) == (True, 0)
    shared.end_loan(7, 1)
    assert shared.borrower(7) == 0, "only the borrower can end a loan"
    shared.end_loan(7, 0)
    assert shared.borrower(7) is None
    assert shared.borrow(7, 1, 60.0)


def test_a_loan_expires_at_its_time() -> None:
    time = 1000.0
    with closing(SharedState(2, monotonic=lambda: time)) as shared:
        assert shared.borrow(7, 0, 60.0)
        assert shared.borrow(8, 0, 10.0)
        time += 59.0
        assert (shared.borrower(7), shared.loan_left(7, 0), shared.loan_left(7, 1)) == (0, 1.0, 0.0)
        shared.remove_expired_loans()
        assert shared.has_loans
        time += 1.0
        assert (shared.borrower(7), shared.loan_left(7, 0)) == (None, 0.0)
        shared.remove_expired_loans()
        assert (shared.has_loans, shared.borrower(7)) == (False, None)
        assert shared.borrow(7, 1, 60.0), "another worker may have the share now"


@pytest.mark.parametrize(
    ("waiting", "load", "given"),
    [
        (dict.fromkeys(range(100), 100), 0, 16),
        (dict.fromkeys(range(10), 100), 0, 4),
        ({1: 900, 2: 500, 3: 300}, 0, 2),
        ({1: 900, 2: 500, 3: 300}, 900, 0),
    ],
)
def test_several_shares_are_given_while_the_receiver_has_far_less(
    waiting: dict[int, int], load: int, given: int
) -> None:
    shares = shares_to_give(Counter(waiting), load)
    assert len(shares) == len(set(shares)) == given
    there = load + sum(waiting[share] for share in shares)
    assert not shares or there <= sum(waiting.values()) - (there - load)
