"""A server that restarts, deadlocks or vanishes at the worst moment loses no batch and writes none twice."""

from __future__ import annotations

import multiprocessing
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import psycopg
import pytest

from periplus.errors import CollectionLocked, DatabaseUnavailable
from periplus.store.block_list import NOTHING_BLOCKED, new_block_list
from periplus.store.catalog.batch import Batch
from periplus.store.catalog.catalog import Catalog
from periplus.store.database.postgres.commit_log import CommitLog
from periplus.store.database.postgres.database import PostgresDatabase, TransactionLost
from periplus.store.database.postgres.job_lock import job_lock
from postgres_server import PostgresServer
from store.records import WRITTEN, done, error_line, queued


@pytest.fixture
def database(postgres: str) -> Iterator[PostgresDatabase]:
    with closing(PostgresDatabase(postgres, create=True)) as found:
        yield found


def seeds(database: PostgresDatabase) -> list[str]:
    return [url for (url,) in database.rows("seeds")]


def end_connection(database: PostgresDatabase) -> None:
    """End the connection of a database in the server, as a restart does."""
    with psycopg.connect(database._url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", (database._connection.info.backend_pid,))


# --- lost connections ---


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["restart", "crash"])
def test_after_a_restart_of_the_server_everything_goes_on(own_postgres: PostgresServer, how: signal.Signals) -> None:
    with closing(PostgresDatabase(own_postgres.url(), create=True)) as database:
        database.run("add_seed", "https://example.org/1", 1.0)
        own_postgres.restart(how)
        assert seeds(database) == ["https://example.org/1"]
        own_postgres.restart(how)
        with database.transaction():
            database.run("add_seed", "https://example.org/2", 2.0)
        assert seeds(database) == ["https://example.org/1", "https://example.org/2"]


def test_a_statement_waits_for_a_server_that_is_away_for_a_while(own_postgres: PostgresServer) -> None:
    with closing(PostgresDatabase(own_postgres.url(), create=True)) as database, ThreadPoolExecutor(1) as thread:
        own_postgres.stop()
        answer = thread.submit(seeds, database)
        time.sleep(0.5)
        assert not answer.done()
        own_postgres.start()
        assert answer.result(timeout=30) == []


def test_a_server_that_does_not_return_is_reported(own_postgres: PostgresServer) -> None:
    with closing(PostgresDatabase(own_postgres.url(), create=True, patience=0.3)) as database:
        own_postgres.stop()
        assert "cannot be reached" in error_line(DatabaseUnavailable, lambda: seeds(database))


def test_a_transaction_that_cannot_begin_does_not_stop_the_next_one(database: PostgresDatabase) -> None:
    database._connection.execute("SET lock_timeout = '50ms'")
    with psycopg.connect(database._url, options="-c search_path=periplus") as other:
        other.execute("LOCK TABLE transactions")
        with pytest.raises(DatabaseUnavailable), database.transaction():
            raise AssertionError("the transaction has begun")
    with database.transaction():
        database.run("add_seed", "https://example.org/1", 1.0)
    assert seeds(database) == ["https://example.org/1"]


def test_a_transaction_that_was_lost_is_run_again_as_a_whole(database: PostgresDatabase) -> None:
    attempts, undone = [], []

    def work() -> None:
        with database.transaction(undo=lambda: undone.append(1)):
            database.run("add_seed", "https://example.org/1", 1.0)
            attempts.append(1)
            if len(attempts) == 1:
                end_connection(database)
            database.run("add_seed", "https://example.org/2", 2.0)

    with pytest.raises(TransactionLost):
        work()
    assert (len(attempts), undone, seeds(database)) == (1, [1], [])
    attempts.clear()
    database.retry(work)
    assert (len(attempts), seeds(database)) == (2, ["https://example.org/1", "https://example.org/2"])


class Losing:
    """A connection that is lost with the COMMIT: before the server has received it, or before its answer arrives."""

    def __init__(self, database: PostgresDatabase, *, has_committed: bool) -> None:
        self._database, self._connection, self._has_committed = database, database._connection, has_committed
        self.losses = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: Any, *values: Any, **options: Any) -> Any:
        if statement == "COMMIT":
            self.losses += 1
            if self._has_committed:
                self._connection.execute("COMMIT")
            end_connection(self._database)
        return self._connection.execute(statement, *values, **options)


@pytest.mark.parametrize("has_committed", [True, False])
def test_a_batch_whose_acknowledgement_was_lost_is_stored_once(postgres: str, has_committed: bool) -> None:
    database = PostgresDatabase(postgres, create=True)
    with closing(Catalog(database)) as catalog:
        run_id = catalog.begin_run({})
        losing: Any = Losing(database, has_committed=has_committed)
        database._connection = losing
        items = [queued(f"https://example.org/{page}") for page in range(30)]
        batch = Batch(admitted=items, settled=[done(item) for item in items])
        batch.refused["other.example", done(items[0]).decision.reason] += 3
        catalog.commit(batch, WRITTEN, run_id, {})
        assert losing.losses == 1
        assert catalog.counters() == catalog.recount()
        assert catalog.counters()["done"] == 30
        assert list(catalog.refusals_of("other.example").values()) == [3]
        assert [len(catalog.fetches_of(item.url)) for item in items] == [1] * 30


def test_a_transaction_that_still_runs_in_the_server_is_waited_for(postgres: str, database: PostgresDatabase) -> None:
    """The network was cut after the COMMIT was sent: the server works on it while the worker asks."""
    log = CommitLog()
    with closing(psycopg.connect(postgres + "&options=-csearch_path%3Dperiplus", autocommit=True)) as other:
        log.begin(other)
        with ThreadPoolExecutor(1) as thread:
            answer = thread.submit(log.has_committed, database._connection, 20.0)
            time.sleep(0.2)
            assert not answer.done()
            other.execute("COMMIT")
            assert answer.result(timeout=20) is True
        log.begin(other)
        with ThreadPoolExecutor(1) as thread:
            answer = thread.submit(log.has_committed, database._connection, 20.0)
            time.sleep(0.1)
            other.execute("ROLLBACK")
            assert answer.result(timeout=20) is False


def test_a_session_leaves_no_row_behind(postgres: str, database: PostgresDatabase) -> None:
    with closing(PostgresDatabase(postgres)) as other, other.transaction():
        other.run("add_seed", "https://example.org/", 1.0)
    assert database._connection.execute("SELECT count(*) FROM transactions").fetchone() == (0,)


def crawl(url: str, worker: int, batches: int) -> None:
    with closing(Catalog(PostgresDatabase(url))) as catalog:
        for number in range(batches):
            items = [queued(f"https://w{worker}.example/{number}/{page}") for page in range(20)]
            batch = Batch(admitted=items, settled=[done(item) for item in items])
            for host in range(20):
                batch.refused[f"h{host * 7919 % 20}.example", done(items[0]).decision.reason] += 1
            catalog.commit(batch, WRITTEN._replace(worker=worker, name=f"{worker}", size=number), 1, {})


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["restart", "crash"])
def test_a_crawl_goes_on_when_the_server_restarts_and_every_batch_is_stored_once(
    own_postgres: PostgresServer, how: signal.Signals
) -> None:
    url = own_postgres.url()
    PostgresDatabase(url, create=True).close()
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=crawl, args=(url, worker, 60)) for worker in range(3)]
    for worker in workers:
        worker.start()
    for _ in range(4):
        time.sleep(0.4)
        own_postgres.restart(how)
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    with closing(Catalog(PostgresDatabase(url))) as catalog:
        assert catalog.counters() == catalog.recount()
        assert catalog.counters()["done"] == catalog.counters()["fetched"] == 3 * 60 * 20
        assert sum(sum(catalog.refusals_of(f"h{host}.example").values()) for host in range(20)) == 3 * 60 * 20


# --- conflicts ---


def test_two_transactions_that_wait_for_each_other_are_both_stored(postgres: str, database: PostgresDatabase) -> None:
    both = threading.Barrier(2, timeout=20)
    database.run("add_host", "a.example", "a.example", 1)
    database.run("add_host", "b.example", "b.example", 2)

    def change(used: PostgresDatabase, hosts: list[str]) -> None:
        first = iter([True])

        def work() -> None:
            with used.transaction():
                used.run("clear_failures", 1.0, 2.0, hosts[0])
                if next(first, False):
                    both.wait()
                used.run("clear_failures", 1.0, 2.0, hosts[1])
                used.run("add_to_counter", "known", 1)

        used.retry(work)

    with closing(PostgresDatabase(postgres)) as other, ThreadPoolExecutor(2) as threads:
        one = threads.submit(change, database, ["a.example", "b.example"])
        two = threads.submit(change, other, ["b.example", "a.example"])
        one.result(timeout=30)
        two.result(timeout=30)
    assert dict(database.rows("counters")) == {"known": 2}


def test_two_processes_that_start_at_the_same_time_create_the_tables_once(postgres: str) -> None:
    def look() -> list[str]:
        with closing(PostgresDatabase(postgres, create=True)) as found:
            return seeds(found)

    with ThreadPoolExecutor(4) as threads:
        found = [threads.submit(look) for _ in range(4)]
        assert [one.result(timeout=30) for one in found] == [[]] * 4


def test_commands_become_visible_in_the_order_of_their_numbers(postgres: str, database: PostgresDatabase) -> None:
    """A reader continues after the last command it has seen."""
    values = (1.0, "pause", "", "{}", "cli")
    with closing(PostgresDatabase(postgres)) as other, ThreadPoolExecutor(1) as thread:
        with database.transaction():
            first = database.row("add_command", *values)
            second = thread.submit(other.row, "add_command", *values)
            time.sleep(0.2)
            assert not second.done()
        assert second.result(timeout=20) > first


# --- results ---


def test_a_large_result_is_read_in_parts_while_other_statements_run(database: PostgresDatabase) -> None:
    items = [queued(f"https://example.org/{page:05}") for page in range(12_000)]
    with closing(Catalog(database)) as catalog:
        catalog.commit(Batch(admitted=items), WRITTEN, 1, {})
        answer = catalog.known_urls()
        first = next(answer)
        assert catalog.counters()["known"] == 12_000
        assert sorted([first, *answer]) == [item.url for item in items]
        next(catalog.known_urls())  # a result that nobody reads to its end
        with database.transaction():
            database.run("refuse_queue", "blocked", "", 1.0, "nowhere.example")
            inside = catalog.known_urls()
            next(inside)
            assert len(database.row("seen_sizes", 5)) == 2
            assert len(list(inside)) == 11_999


def test_a_trial_changes_nothing(database: PostgresDatabase) -> None:
    with database.trial():
        database.run("add_seed", "https://example.org/", 1.0)
        assert seeds(database) == ["https://example.org/"]
    assert seeds(database) == []


def test_a_bug_of_ours_is_raised_unchanged(database: PostgresDatabase) -> None:
    with pytest.raises(psycopg.errors.ProtocolViolation):
        database.run("add_seed", "https://example.org/")
    with pytest.raises(psycopg.errors.ProtocolViolation), database.transaction():
        database.run("add_seed", "https://example.org/")
    assert seeds(database) == []


def test_an_error_that_the_block_ignores_does_not_count_as_a_commit(database: PostgresDatabase) -> None:
    def work() -> None:
        with database.transaction():
            database.run("add_seed", "https://example.org/", 1.0)
            with pytest.raises(psycopg.DataError):
                database._connection.execute("SELECT 1 / 0")

    with pytest.raises(AssertionError, match="ended with ROLLBACK"):
        work()
    assert seeds(database) == []


# --- what a fleet shares ---


def test_the_block_list_is_the_same_on_every_node(postgres: str, database: PostgresDatabase) -> None:
    assert database.block_list() is NOTHING_BLOCKED
    blocked = new_block_list()
    blocked = blocked.extended(blocked.url_entry("https://example.org/secret"))
    database.set_block_list(blocked)
    with closing(PostgresDatabase(postgres, read_only=True)) as other:
        found = other.block_list()
    assert found.blocks("https://example.org/secret")
    assert not found.blocks("https://example.org/")
    database.set_block_list(found.without(found.url_entry("https://example.org/secret")))
    assert not database.block_list()
    assert database.block_list().key == blocked.key


def locks(url: str) -> dict[str, Callable[[], Any]]:
    return {
        "alone": lambda: job_lock(url, "reparse", "two"),
        "shared": lambda: job_lock(url, "reparse", "two", shared=True),
    }


def test_one_node_at_a_time_does_a_job(postgres: str) -> None:
    """Also before the tables exist: the first crawl creates them."""
    with job_lock(postgres, "reparse", "one"):
        for lock in locks(postgres).values():
            line = error_line(CollectionLocked, lock().__enter__)
            assert "is in use: `periplus reparse on one` is writing it. Wait for it to end" in line
        with job_lock(postgres, "index", "two"):
            pass
    with job_lock(postgres, "reparse", "two"):
        pass


def test_a_job_whose_lock_was_lost_writes_nothing(postgres: str, database: PostgresDatabase) -> None:
    with job_lock(postgres, "reparse", "one") as require_held, closing(Catalog(database)) as catalog:
        catalog.guard(require_held)
        catalog.begin_run({"before": 1})
        ended = "SELECT pg_terminate_backend(pid, 9000) FROM pg_stat_activity WHERE application_name LIKE '% on one'"
        with psycopg.connect(postgres, autocommit=True) as other:
            assert other.execute(ended.encode()).fetchall() == [(True,)]
        with job_lock(postgres, "reparse", "two"):  # another node takes the lock
            line = error_line(CollectionLocked, lambda: catalog.begin_run({"after": 1}))
        assert "was lost: the server has ended its connection. Run the command again" in line
        assert [run["arguments"] for run in catalog.runs(9)] == [{"before": 1}]


def test_several_nodes_share_a_job_that_none_does_alone_then(postgres: str) -> None:
    with job_lock(postgres, "reparse", "one", shared=True), locks(postgres)["shared"]():
        assert "in use" in error_line(CollectionLocked, locks(postgres)["alone"]().__enter__)
    with locks(postgres)["alone"]():
        pass
