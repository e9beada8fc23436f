"""The contract of every coordination of workers."""

from __future__ import annotations

import ast
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Protocol

import psycopg
import pytest

from periplus.crawl.coordination.coordination import Coordination
from periplus.crawl.coordination.fleet_coordination import FleetCoordination, Target, since_boot
from periplus.crawl.coordination.local_coordination import LocalCoordination
from periplus.crawl.coordination.shared_state import Metric, SharedState
from periplus.errors import LeaseLost
from periplus.model import Reason
from periplus.store.catalog.batch import ForwardedUrl
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection
from periplus.store.database.postgres.database import PostgresDatabase
from periplus.store.database.postgres.fleet_rows import FleetRows
from periplus.store.shares import SHARES

PAGES = 100
A_MOMENT = 1.0  # seconds; longer than two exchanges take on a busy machine
LEASE = 60.0  # seconds


class Crew(Protocol):
    """Three workers of one crawl with a budget of 100 pages."""

    workers: list[Coordination]  # those that live
    shared: SharedState
    has_target: bool  # of the size of the collection, which limits all nodes together

    def exchange(self) -> None:
        """Let every worker learn what the others have published."""
        ...

    def die(self, number: int) -> None:
        """Let a worker die without a word, and the others notice it."""
        ...

    def catalog(self) -> Catalog:
        """Open the catalog of the crawl."""
        ...

    def store_pages(self, pages: int) -> None:
        """Let the collection have so many pages."""
        ...

    def close(self) -> None: ...


class LocalCrew:
    """Workers that share memory; `exchange` does what the supervisor does."""

    def __init__(self, folder: Path) -> None:
        self._collection, self.has_target = Collection(folder), False
        self.shared = SharedState(3, PAGES)
        self.workers: list[Coordination] = [LocalCoordination(self.shared, number) for number in range(3)]

    def exchange(self) -> None:
        if self.shared.is_quiescent():
            self.shared.declare_finished()

    def die(self, number: int) -> None:
        self.shared.record_death(number, fetched=0, size=0)
        self.workers[number] = LocalCoordination(self.shared, number)  # the supervisor replaces it

    def catalog(self) -> Catalog:
        return open_catalog(self._collection, create=True)

    def store_pages(self, pages: int) -> None:
        """Only a target counts them."""

    def close(self) -> None:
        self.shared.close()


class FleetCrew:
    """Workers that share a database; `exchange` does what their threads do."""

    def __init__(self, url: str, budget: int | None, target: Target) -> None:
        PostgresDatabase(url, create=True).close()
        self._url, self.has_target = url, target.pages is not None
        self.shared = SharedState(3, budget)
        self.fleet = [FleetCoordination(rows_of(url), self.shared, number, LEASE, target) for number in range(3)]
        self.workers: list[Coordination] = [*self.fleet]

    def exchange(self) -> None:
        for _ in range(2):
            for worker in self.fleet:
                if worker in self.workers:
                    worker.heartbeat()

    def die(self, number: int) -> None:
        dead = self.workers.pop(number)
        with psycopg.connect(self._url, options="-c search_path=periplus") as connection:
            ended = "UPDATE leases SET ends = clock_timestamp() - interval '1 second' WHERE worker_id = %s"
            connection.execute(ended, (dead.worker,))
        for worker in self.fleet:
            worker._connected_since = -LEASE  # they were connected for longer than a lease
        self.exchange()

    def catalog(self) -> Catalog:
        return Catalog(PostgresDatabase(self._url))

    def store_pages(self, pages: int) -> None:
        with psycopg.connect(self._url, options="-c search_path=periplus") as connection:
            connection.execute("INSERT INTO counter_parts (name, part, value) VALUES ('fetched', 0, %s)", (pages,))

    def close(self) -> None:
        for worker in self.fleet:
            worker.close()
        self.shared.close()


def rows_of(url: str, node: str = "node", folder: str = "folder", lease: float = LEASE) -> FleetRows:
    return FleetRows(url, node, folder, lease, since_boot)


@pytest.fixture(params=["shared memory", "postgres", "postgres with a target"])
def crew(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Crew]:
    if request.param == "shared memory":
        made: LocalCrew | FleetCrew = LocalCrew(tmp_path)
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
    assert not any(worker.is_sole_worker for worker in crew.workers)
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


def test_a_worker_continues_the_files_of_one_earlier_worker_and_of_no_other(crew: Crew) -> None:
    ids = [worker.worker for worker in crew.workers]
    assert [[worker.recovers(number) for number in ids] for worker in crew.workers] == [
        [True, False, False],
        [False, True, False],
        [False, False, True],
    ]


def test_the_shares_of_a_dead_worker_are_owned_and_its_last_requests_waited_for(crew: Crew) -> None:
    dead, before = crew.workers[0], settled(crew)
    assert not any(worker.inherited() for worker in crew.workers)
    crew.die(0)
    owned = settled(crew)
    assert sum(map(len, owned)) == len(frozenset().union(*owned)) == SHARES
    inherited = frozenset().union(*(worker.inherited() for worker in crew.workers))
    assert inherited == (before[0] if dead.has_lease else frozenset()), "without a lease, its replacement is told"
    for worker in crew.workers:
        worker.clear_inherited(worker.inherited())
    crew.exchange()
    assert not any(worker.inherited() for worker in crew.workers), "the requests have ended"


def test_a_worker_writes_with_its_lease_and_not_without(crew: Crew) -> None:
    dead, other = crew.workers[:2]
    with closing(crew.catalog()) as catalog, closing(crew.catalog()) as catalog_of_other:
        dead.fence(catalog)
        other.fence(catalog_of_other)
        catalog.pack_seen()
        crew.die(0)
        if dead.has_lease:
            with pytest.raises(LeaseLost):
                catalog.begin_run({})
        else:
            catalog.begin_run({})
        catalog_of_other.begin_run({})


def test_a_worker_with_a_lease_stops_when_it_may_have_expired(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    later = since_boot() + 2 * LEASE
    monkeypatch.setattr("periplus.crawl.coordination.fleet_coordination.since_boot", lambda: later)
    assert [worker.may_send() for worker in crew.workers] == [not worker.has_lease for worker in crew.workers]


def test_ids_grow_with_the_time_of_the_commit_if_the_coordination_says_so(crew: Crew) -> None:
    earlier, later = (ForwardedUrl(1, f"https://{name}.test/", 0, Reason.LINK, "", 0) for name in "ab")

    def add(catalog: Catalog, url: ForwardedUrl) -> None:
        catalog._database.many("add_forwarded_url", [url])

    def commit(catalog: Catalog, url: ForwardedUrl) -> None:
        with catalog._database.transaction():
            add(catalog, url)

    with closing(crew.catalog()) as first, closing(crew.catalog()) as second, ThreadPoolExecutor(1) as thread:
        with first._database.transaction():
            add(first, earlier)
            other = thread.submit(commit, second, later)
            if not crew.workers[0].commits_in_order:
                other.result(timeout=30)  # the greater id is committed first
        other.result(timeout=30)
        assert [url.url for _, url in first.forwarded_urls(0, 10)] == [earlier.url, later.url]


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


def test_the_owner_of_a_share_that_is_lent_sends_nothing_to_it_after_the_notice(
    crew: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    borrower, owner, _ = crew.workers
    borrower.borrow(7, 600.0)
    if owner.loan_notice:
        end = since_boot() + owner.loan_notice
        monkeypatch.setattr("periplus.crawl.coordination.fleet_coordination.since_boot", lambda: end)
        assert not owner.may_send(), "it has not read of the loan"
    else:
        assert owner.borrower(7) == borrower.worker, "at once"


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


def test_pages_that_are_committed_are_claimed_no_more_and_fill_the_collection(crew: Crew) -> None:
    assert claimed(crew, 0) == PAGES
    assert not any(worker.is_target_reached for worker in crew.workers)
    crew.store_pages(PAGES)
    crew.workers[0].committed(PAGES)
    crew.exchange()
    assert crew.shared.all(Metric.COMMITS) == [1, 0, 0], "its supervisor knows that it is not stuck"
    assert claimed(crew, 1) == 0
    assert {worker.is_target_reached for worker in crew.workers} == {crew.has_target}


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
            worker.heartbeat()
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


# -- the contract -------------------------------------------------------------------------------------------------


def test_every_method_of_the_port_has_a_test() -> None:
    functions = [node for node in ast.parse(Path(__file__).read_text()).body if isinstance(node, ast.FunctionDef)]
    called = {part.attr for node in functions for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    names = {name for name in vars(Coordination) if not name.startswith("_")} - {"close"}  # the fixture calls it
    assert names - called == set()
