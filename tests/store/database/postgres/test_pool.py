"""Connections are kept for the next user in the same process."""

from __future__ import annotations

import os
import signal
from contextlib import closing

import pytest

from periplus.errors import DatabaseUnavailable
from periplus.store.database.postgres import database, pool
from periplus.store.database.postgres.connection import Connection, connect
from periplus.store.database.postgres.database import PostgresDatabase
from periplus.store.database.postgres.pool import POOL, ConnectionPool
from postgres_server import PostgresServer


def backend(database: PostgresDatabase) -> int:
    return database._connection.info.backend_pid


@pytest.fixture
def url(postgres: str) -> str:
    PostgresDatabase(postgres, create=True).close()
    return postgres


def test_the_next_user_gets_the_same_connection(url: str) -> None:
    with closing(PostgresDatabase(url)) as first:
        number = backend(first)
        with closing(PostgresDatabase(url)) as second:
            assert backend(second) != number, "one user at a time"
        with closing(PostgresDatabase(url, read_only=True)) as reader:
            assert backend(reader) not in (number, backend(second)), "a reader cannot write"
    with closing(PostgresDatabase(url)) as third:
        assert backend(third) == number


def test_nothing_of_a_user_is_left_for_the_next(url: str) -> None:
    with closing(PostgresDatabase(url)) as first:
        first._connection.execute("SET application_name = 'first'")
        first._connection.execute("CREATE TEMP TABLE mine (x INTEGER)")
        number = backend(first)
    with closing(PostgresDatabase(url)) as second:
        assert backend(second) == number
        assert second._connection.execute("SHOW application_name").fetchone() == ("periplus",)
        assert second._connection.execute("SELECT to_regclass('mine')").fetchone() == (None,)
        assert second._connection.execute("SELECT current_schema()").fetchone() == ("periplus",)


def test_a_connection_of_a_worker_is_not_kept(url: str) -> None:
    with closing(PostgresDatabase(url)) as worker:
        worker.fence(1000, 1, lambda: None)
        number = backend(worker)
    with closing(PostgresDatabase(url)) as other:
        assert backend(other) != number


def test_a_connection_within_a_transaction_is_not_kept(url: str) -> None:
    connections = ConnectionPool()
    connection = connect(url)
    connection.execute("BEGIN")
    connections.put(url, connection, read_only=False)
    assert connection.closed
    assert connections.take(url, read_only=False) is None


def test_a_connection_that_the_server_has_closed_is_replaced(own_postgres: PostgresServer) -> None:
    url = own_postgres.url(own_postgres.create_database())
    PostgresDatabase(url, create=True).close()
    own_postgres.stop(signal.SIGINT)
    own_postgres.start()
    with closing(PostgresDatabase(url)) as database:
        assert database.row("last_command") == (0,)


def test_a_server_that_goes_away_again_is_reported_as_away(
    own_postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = own_postgres.url(own_postgres.create_database())
    PostgresDatabase(url, create=True).close()
    own_postgres.stop(signal.SIGINT)
    own_postgres.start()

    def connect_to_one_that_stops(url: str, *, read_only: bool) -> Connection:
        connection = connect(url, read_only=read_only)
        own_postgres.stop(signal.SIGQUIT)
        return connection

    monkeypatch.setattr(database, "connect", connect_to_one_that_stops)
    with pytest.raises(DatabaseUnavailable, match="does not answer"):
        PostgresDatabase(url)


def test_idle_connections_are_few_and_closed_after_a_while(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    connections = ConnectionPool()
    opened = [connect(url) for _ in range(pool._MOST + 2)]
    for connection in opened:
        connections.put(url, connection, read_only=False)
    assert sum(connection.closed for connection in opened) == 2
    monkeypatch.setattr(ConnectionPool._close_old, "__defaults__", (0.0,))
    assert connections.take(url, read_only=False) is None
    assert all(connection.closed for connection in opened)


def test_a_forked_process_does_not_use_connections_of_its_parent(url: str) -> None:
    PostgresDatabase(url).close()
    child = os.fork()
    if child == 0:
        os._exit(0 if POOL.take(url, read_only=False) is None else 1)
    assert os.waitpid(child, 0)[1] == 0
