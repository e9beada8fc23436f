"""Do workers hear of each other what they need to know, and nothing wrong?"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import closing

import pytest

from periplus.crawl.ownership import Ownership, share_of, share_to_give
from periplus.crawl.shared_state import SHARES, Metric, SharedState


@pytest.fixture
def board() -> Iterator[SharedState]:
    with closing(SharedState(workers=3, pages=100)) as board:
        yield board


def settle(board: SharedState) -> None:
    for worker in range(board.workers):
        board.tell(worker, Metric.IDLE, 1)
        board.tell(worker, Metric.SHARES, board.owners.tobytes().count(worker))


def test_a_figure_told_by_a_child_is_read_by_its_parent(board: SharedState) -> None:
    if not (child := os.fork()):
        board.tell(1, Metric.FETCHED, 41)
        os._exit(0)
    os.waitpid(child, 0)
    board.tell(2, Metric.FETCHED, 1)
    assert (board.all(Metric.FETCHED), board.total(Metric.FETCHED)) == ([0, 41, 1], 42)


def test_every_share_has_an_owner_and_no_worker_is_left_out(board: SharedState) -> None:
    owned = [sum(owner == worker for owner in board.owners) for worker in range(3)]
    assert sum(owned) == SHARES
    assert max(owned) - min(owned) <= 1


def test_pages_are_drawn_until_all_are_claimed_and_what_is_returned_can_be_drawn_again(board: SharedState) -> None:
    drawn = []
    while pages := board.draw_pages(0):
        drawn.append(pages)
    assert sum(drawn) == 100
    assert max(drawn) < 20, "one worker must not take what others could fetch"
    board.return_pages(0, 7)
    assert sum(iter(lambda: board.draw_pages(1), 0)) == 7


def test_without_a_budget_there_are_always_pages_to_draw() -> None:
    with closing(SharedState(workers=2)) as board:
        assert all(board.draw_pages(0) for _ in range(10_000))


def test_asking_to_stop_a_third_time_changes_nothing(board: SharedState) -> None:
    levels = [board.stop]
    for _ in range(3):
        board.ask_to_stop()
        levels.append(board.stop)
    assert levels == [0, 1, 2, 2]


def test_a_crawl_has_not_settled_while_a_worker_is_busy_or_has_not_noticed_what_it_was_given(
    board: SharedState,
) -> None:
    assert not board.has_settled()
    settle(board)
    assert board.has_settled()
    board.tell(1, Metric.IDLE, 0)
    assert not board.has_settled()
    settle(board)
    board.owners[0] = (board.owners[0] + 1) % 3
    assert not board.has_settled()


def test_hosts_of_one_registrable_domain_fall_into_one_share() -> None:
    assert share_of("example.co.uk") == share_of("www.example.co.uk") == share_of("a.b.example.co.uk")
    assert len({share_of(f"domain{number}.test") for number in range(1000)}) > 500


def test_a_share_belongs_to_one_worker_at_a_time(board: SharedState) -> None:
    share = share_of("example.org")
    giver = board.owners[share]
    receiver = (giver + 1) % 3
    territories = [Ownership(board, worker) for worker in range(3)]
    for territory in territories:
        territory.arrivals()
    assert [territory.owns("www.example.org") for territory in territories].count(True) == 1
    territories[giver].leaving = share
    assert not any(territory.owns("www.example.org") for territory in territories)
    territories[giver].give(receiver)
    assert territories[receiver].arrivals() == {share}
    assert [territory.owns("www.example.org") for territory in territories].index(True) == receiver


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
def test_a_gift_is_worth_it_and_never_leaves_the_giver_with_less_than_the_receiver(
    waiting: dict[int, int], load: int, given: int | None
) -> None:
    assert share_to_give(Counter(waiting), load) == given


def test_the_page_that_a_worker_reads_is_there_for_all_to_see(board: SharedState) -> None:
    assert board.reading(1) is None
    board.begin_reading(1, "http://a.test/long")
    board.begin_reading(0, "http://b.test/\u00fc")
    board.begin_reading(1, "http://a.test/")
    assert (board.reading(0), board.reading(1)) == ("http://b.test/\u00fc", "http://a.test/")
    assert board.reading_for(1) > 0
    board.end_reading(1)
    assert board.reading(1) is None
    assert board.reading_for(1) == 0
    assert board.reading(0) == "http://b.test/\u00fc"


def test_an_address_of_any_length_stays_in_its_place(board: SharedState) -> None:
    board.begin_reading(2, "http://c.test/")
    board.begin_reading(1, "http://a.test/" + "x" * 100_000)
    assert board.reading(2) == "http://c.test/"
    assert (board.reading(1) or "").startswith("http://a.test/xxx")


def test_of_a_dead_worker_only_what_it_acknowledged_counts(board: SharedState) -> None:
    drawn = board.draw_pages(1) + board.draw_pages(1)
    board.tell(1, Metric.FETCHED, drawn)
    board.tell(1, Metric.IDLE, 1)
    board.begin_reading(1, "http://a.test/")
    heard = board.total(Metric.LETTERS)
    board.bury(1, fetched=3, size=500)
    assert (board.told(1, Metric.FETCHED), board.told(1, Metric.BYTES), board.told(1, Metric.IDLE)) == (3, 500, 0)
    assert board.told(1, Metric.GRANTED) == 3
    assert sum(iter(lambda: board.draw_pages(0), 0)) == 97, "what it had claimed and not fetched goes to others"
    assert board.reading(1) is None
    assert board.total(Metric.LETTERS) != heard, "its last letters may not have been told of"


def test_a_share_is_lent_to_one_worker_at_a_time(board: SharedState) -> None:
    assert (board.has_leases, board.borrower(7)) == (False, None)
    assert board.borrow(7, 0, 60.0)
    assert board.borrow(7, 0, 60.0)
    assert not board.borrow(7, 1, 60.0)
    assert (board.has_leases, board.borrower(7)) == (True, 0)
    board.give_back(7, 1)
    assert board.borrower(7) == 0, "it is not his to give"
    board.give_back(7, 0)
    assert board.borrower(7) is None
    assert board.borrow(7, 1, 60.0)


def test_a_lease_ends_by_itself_at_its_time() -> None:
    time = 1000.0
    with closing(SharedState(2, monotonic=lambda: time)) as board:
        assert board.borrow(7, 0, 60.0)
        assert board.borrow(8, 0, 10.0)
        time += 59.0
        assert (board.borrower(7), board.lease_left(7, 0), board.lease_left(7, 1)) == (0, 1.0, 0.0)
        board.clear_leases()
        assert board.has_leases
        time += 1.0
        assert (board.borrower(7), board.lease_left(7, 0)) == (None, 0.0)
        board.clear_leases()
        assert (board.has_leases, board.borrower(7)) == (False, None)
        assert board.borrow(7, 1, 60.0), "another worker may have the share now"
