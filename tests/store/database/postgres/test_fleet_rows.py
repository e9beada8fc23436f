"""A worker owns its shares until its lease ends, and writes nothing afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import psycopg
import pytest

from periplus.crawl.coordination.fleet_coordination import since_boot
from periplus.errors import DatabaseUnavailable, LeaseLost, UsageError
from periplus.store.archive.warc_files import archive_name
from periplus.store.catalog.batch import Batch, Written
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.live_state import LiveState, NodeRow
from periplus.store.database.fleet import FleetView, Heartbeat, Identity
from periplus.store.database.postgres.database import PostgresDatabase
from periplus.store.database.postgres.fleet_rows import FleetRows
from periplus.store.fleet_files.lost_files import LostFiles
from periplus.store.fleet_files.upload_rows import CatalogUploadRows
from periplus.store.fleet_files.uploads import ARCHIVE, Mark, WaitingFile
from periplus.store.shares import SHARES
from store.records import WRITTEN, batch_of, queued

LEASE = 0.6  # seconds
ASK = Heartbeat(wants_shares=True, may_revoke_leases=True)


class Node:
    """A process of a node, driven by the test."""

    def __init__(self, url: str, node: str, number: int = 0, folder: str = "") -> None:
        self.rows = FleetRows(url, node, folder or node, LEASE, since_boot)
        with ExitStack() as undo:
            undo.callback(self.rows.close)
            self.me: Identity = self.rows.join(number, 1)
            undo.pop_all()
        self.catalog = Catalog(PostgresDatabase(url, patience=0.0))
        self.catalog.fence(self.me.worker, self.me.token, lambda: None)

    def heartbeat(self, message: Heartbeat = ASK) -> FleetView:
        return self.rows.heartbeat(self.me, message)

    def commit(self, url: str) -> None:
        self.catalog.commit(batch_of(queued(url)), WRITTEN, 1, {})

    def close(self) -> None:
        self.rows.close()
        self.catalog.close()


Start = Callable[..., Node]


@pytest.fixture
def start(postgres: str) -> Iterator[Start]:
    PostgresDatabase(postgres, create=True).close()
    with ExitStack() as ended:
        yield lambda *name: ended.enter_context(closing(Node(postgres, *name)))


def outlive(node: Node) -> FleetView:
    """Exchange until the leases of silent workers have ended and been taken."""
    for _ in range(6):
        time.sleep(LEASE / 4)
        node.heartbeat()
    return node.heartbeat()


def test_a_silent_worker_loses_its_shares_and_whatever_it_writes_is_refused(start: Start) -> None:
    silent, other = start("a"), start("b")
    assert len(silent.heartbeat().owned) == len(other.heartbeat().owned) == SHARES / 2
    silent.commit("https://example.org/before")
    view = outlive(other)
    assert len(view.owned) == SHARES
    assert len(view.inherited) == SHARES / 2, "its last requests are not recorded"
    with pytest.raises(LeaseLost, match="worker 1000 has lost its lease"):
        silent.commit("https://example.org/after")
    with pytest.raises(LeaseLost):
        silent.catalog.seal(1000, 1, [], {})
    with pytest.raises(LeaseLost):
        silent.heartbeat()
    assert [*other.catalog.known_urls()] == ["https://example.org/before"]


def test_only_the_silent_of_several_workers_loses_its_lease(start: Start, postgres: str) -> None:
    silent, live, other = start("a"), start("b"), start("c")
    silent.heartbeat()
    live.heartbeat()
    with psycopg.connect(postgres) as connection:
        connection.execute("UPDATE periplus.leases SET ends = clock_timestamp() + interval '1 hour'")
        ended = "UPDATE periplus.leases SET ends = clock_timestamp() - interval '1 hour' WHERE worker_id = %s"
        connection.execute(ended, (silent.me.worker,))
    other.heartbeat()
    live.commit("https://example.org/")
    with pytest.raises(LeaseLost):
        silent.commit("https://example.org/")


def test_a_lease_counts_from_before_it_is_asked_for(start: Start, postgres: str) -> None:
    node = start("a")
    view = node.heartbeat()
    with psycopg.connect(postgres) as connection:
        row = connection.execute("SELECT extract(epoch FROM ends - clock_timestamp())::float8 FROM periplus.leases")
        (left,) = row.fetchone() or (0.0,)
    assert view.asked + LEASE - since_boot() < left, "for the worker it ends earlier than for the database"


def test_a_late_renewal_counts_while_no_other_worker_has_taken_the_lease(start: Start) -> None:
    late = start("a")
    owned = late.heartbeat().owned
    time.sleep(1.5 * LEASE)
    assert late.heartbeat().owned == owned
    late.commit("https://example.org/")


def test_a_worker_that_is_stopped_within_a_transaction_does_not_keep_its_lease(start: Start) -> None:
    stopped, other = start("a"), start("b")
    stopped.heartbeat()
    with ExitStack() as transaction:
        transaction.enter_context(stopped.catalog._database.transaction())
        assert len(outlive(other).owned) == SHARES
        with pytest.raises(DatabaseUnavailable):
            transaction.close()
    with pytest.raises(LeaseLost):
        stopped.commit("https://example.org/")


def test_a_worker_that_was_cut_off_itself_takes_no_lease(start: Start) -> None:
    silent, other = start("a"), start("b")
    mine = silent.heartbeat().owned
    time.sleep(1.5 * LEASE)
    assert not other.heartbeat(Heartbeat(wants_shares=True)).owned & mine
    assert silent.heartbeat().owned == mine


def test_the_same_worker_of_a_node_keeps_its_id_and_fences_off_the_process_before(start: Start) -> None:
    first = start("a")
    first.heartbeat()
    second, elsewhere = start("a"), start("b")
    assert first.me.worker == second.me.worker == 1000
    assert elsewhere.me.worker > 1000
    assert second.me.token > first.me.token
    assert second.me.announced > first.me.announced, "others look for what it forwarded last"
    with pytest.raises(LeaseLost):
        first.commit("https://example.org/")
    assert len(second.heartbeat().owned) == SHARES, "its shares stayed its own"


def test_the_shares_of_a_worker_that_leaves_are_free_at_once(start: Start) -> None:
    leaving, other = start("a"), start("b")
    leaving.heartbeat()
    leaving.rows.leave(leaving.me)
    view = other.heartbeat()
    assert len(view.owned) == SHARES
    assert not view.inherited, "it has recorded all its requests"
    with pytest.raises(LeaseLost):
        leaving.commit("https://example.org/")


def test_two_live_folders_cannot_have_one_node_name(start: Start) -> None:
    start("a", 0, "one")
    with pytest.raises(UsageError, match="the fleet has a node a already"):
        start("a", 0, "two")
    time.sleep(1.5 * LEASE)
    start("a", 0, "two")


def test_a_process_that_is_stopped_while_it_joins_does_not_keep_the_others_out(start: Start) -> None:
    joining = start("a").rows._database
    with ExitStack() as transaction:
        transaction.enter_context(joining.transaction())
        joining.run("lock_nodes")
        start("b")
        with pytest.raises(DatabaseUnavailable):
            transaction.close()


def test_a_folder_that_takes_the_place_of_a_lost_one_has_workers_of_its_own(start: Start) -> None:
    lost = start("a", 0, "one")
    time.sleep(1.5 * LEASE)
    new = start("a", 0, "two")
    assert new.me.worker != lost.me.worker, "files of the lost folder are not expected in the new one"
    assert lost.me.worker not in new.me.earlier


def test_a_folder_keeps_its_workers_under_another_name(start: Start) -> None:
    before = start("a", 0, "one")
    before.rows.leave(before.me)
    after = start("b", 0, "one")
    assert after.me.worker == before.me.worker
    assert before.me.worker in after.me.earlier


def test_a_copy_of_the_folder_of_a_live_node_is_refused(start: Start) -> None:
    start("a", 0, "one")
    with pytest.raises(UsageError, match="it has the id of the folder of the live node a"):
        start("b", 0, "one")


def registered(postgres: str) -> list[NodeRow]:
    with closing(LiveState(PostgresDatabase(postgres, read_only=True))) as live:
        return live.nodes()


def test_nodes_are_registered_with_their_leases_until_they_leave(start: Start, postgres: str) -> None:
    a, b = start("a"), start("b")
    a.heartbeat()
    b.heartbeat()
    nodes = registered(postgres)
    assert [(node.name, node.workers, node.shares) for node in nodes] == [("a", 1, SHARES / 2), ("b", 1, SHARES / 2)]
    assert all(node.is_live and node.joined <= node.seen for node in nodes)
    a.rows.leave(a.me)
    assert [node.name for node in registered(postgres)] == ["b"]


def test_a_silent_node_stays_registered_until_its_grace_time_is_over(start: Start, postgres: str) -> None:
    start("a")
    other = start("b")
    outlive(other)
    silent = registered(postgres)[0]
    assert (silent.name, silent.workers, silent.is_live) == ("a", 0, False)
    with closing(LostFiles(PostgresDatabase(postgres))) as files:
        assert files.remove_lost_nodes(60.0) == []
        other.heartbeat()
        assert files.remove_lost_nodes(LEASE / 4) == ["a"]
    assert [node.name for node in registered(postgres)] == ["b"]


def test_a_crawl_is_not_finished_while_a_forwarded_url_waits_or_after_a_commit(start: Start) -> None:
    node = start("a")
    node.heartbeat()
    idle = Heartbeat(wants_shares=True, loaded=SHARES, idle_commits=node.me.commits)
    assert node.heartbeat(idle).is_finished
    node.commit("https://example.org/")
    assert not node.heartbeat(idle).is_finished, "what it committed may have given it something to do"
    idle = Heartbeat(wants_shares=True, loaded=SHARES, idle_commits=node.me.commits + 1)
    assert node.heartbeat(idle).is_finished
    with node.rows._database.transaction():
        node.rows._database.run("add_forwarded_url", 7, "https://example.org/a", 1, "link", "", 0)
    assert not node.heartbeat(idle).is_finished


def test_a_crawl_is_not_finished_while_pages_of_a_node_that_is_gone_wait_for_their_upload(
    start: Start, postgres: str
) -> None:
    node, gone = start("a"), start("b")
    archive = Written(gone.me.worker, archive_name(gone.me.worker, 1), 10, waits=True)
    archive_id = gone.catalog.commit(Batch(), archive, 1, {})
    gone.rows.leave(gone.me)
    node.heartbeat()
    idle = Heartbeat(wants_shares=True, loaded=SHARES, idle_commits=node.me.commits)
    assert not node.heartbeat(idle).is_finished, "they will be queued again"
    with closing(CatalogUploadRows(PostgresDatabase(postgres), gone.me.worker)) as rows:
        assert rows.mark_stored(WaitingFile(ARCHIVE, archive.name, 10)) is Mark.STORED
    assert not node.heartbeat(idle).is_finished, "they will be parsed again"
    with closing(Catalog(PostgresDatabase(postgres))) as catalog:
        catalog.seal(gone.me.worker, 0, [], {archive_id: 10})
    assert node.heartbeat(idle).is_finished


def test_a_crawl_without_an_object_store_is_finished_when_a_node_is_gone(start: Start) -> None:
    node, gone = start("a"), start("b")
    gone.catalog.commit(Batch(), Written(gone.me.worker, archive_name(gone.me.worker, 1), 10), 1, {})
    gone.rows.leave(gone.me)
    node.heartbeat()
    assert node.heartbeat(Heartbeat(wants_shares=True, loaded=SHARES, idle_commits=node.me.commits)).is_finished


def test_a_share_that_is_given_to_a_worker_that_is_gone_is_free(start: Start) -> None:
    giver, gone = start("a"), start("b")
    giver.heartbeat()
    gone.rows.leave(gone.me)
    view = giver.heartbeat(Heartbeat(share_transfers=((gone.me.worker, (1, 2)),)))
    assert len(view.owned) == SHARES / 2 - 2
    assert len(giver.heartbeat().owned) == SHARES


def heir_of_a_dead_worker(start: Start) -> tuple[Node, Node, frozenset[int]]:
    """A worker that has just inherited shares, another one, and these shares."""
    dead, heir, other = start("a"), start("b"), start("c")
    for node in (dead, heir, other):
        node.heartbeat()
    with psycopg.connect(heir.rows._database._url) as connection:
        ended = "UPDATE periplus.leases SET ends = clock_timestamp() - interval '1 hour' WHERE worker_id = %s"
        connection.execute(ended, (dead.me.worker,))
    other.heartbeat(Heartbeat())
    heir.heartbeat()
    inherited = heir.heartbeat().inherited
    assert inherited
    return heir, other, inherited


def test_a_share_of_a_dead_worker_that_is_given_on_at_once_stays_inherited(start: Start) -> None:
    heir, other, inherited = heir_of_a_dead_worker(start)
    first, second, *_ = sorted(inherited)
    heir.heartbeat(Heartbeat(cleared=frozenset({first}), share_transfers=((other.me.worker, (first, second)),)))
    view = other.heartbeat(Heartbeat())
    assert {first, second} <= view.owned
    assert second in view.inherited, "the last request of the dead worker may still be under way"
    assert first not in view.inherited, "the giver has waited for it"


def test_a_share_of_a_dead_worker_stays_inherited_when_its_heir_leaves_at_once(start: Start) -> None:
    heir, other, inherited = heir_of_a_dead_worker(start)
    heir.heartbeat(Heartbeat(cleared=inherited - {min(inherited)}))
    heir.rows.leave(heir.me)
    other.heartbeat()
    assert other.heartbeat().inherited & inherited == {min(inherited)}


def test_two_workers_never_wait_for_a_loan_of_each_other(start: Start, postgres: str) -> None:
    node = start("a")
    node.heartbeat(Heartbeat(loans={3: 60.0, 5: 60.0}))
    with psycopg.connect(postgres, options="-c search_path=periplus") as other, ThreadPoolExecutor(1) as thread:
        other.execute("SELECT 1 FROM loans WHERE share = 3 FOR UPDATE")
        exchange = thread.submit(node.heartbeat, Heartbeat(loans={5: 60.0}, ended_loans={3: 0.0}))
        waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        while other.execute(waiting).fetchone() is None:
            assert not exchange.done()
        other.execute("SELECT 1 FROM loans WHERE share = 5 FOR UPDATE NOWAIT")
        other.rollback()
        exchange.result(timeout=30)


def test_a_node_whose_clock_is_off_is_told_so(
    postgres: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    PostgresDatabase(postgres, create=True).close()
    now = time.time
    for ahead, warnings in ((2.0, 0), (-30.0, 1)):
        monkeypatch.setattr("periplus.store.database.postgres.fleet_rows.time.time", lambda ahead=ahead: now() + ahead)
        with closing(FleetRows(postgres, "a", "a", 60.0, time.monotonic)) as rows:
            rows.join(0, 1)
        assert caplog.text.count("the clock of this machine is 30 s behind that of the server") == warnings
