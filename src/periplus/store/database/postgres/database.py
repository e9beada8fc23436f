"""Runs the named statements of the catalog in PostgreSQL; see `Database`.

A connection that is lost outside of a transaction is opened again. A transaction that is lost is raised as
`TransactionLost`, and `retry` runs it again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from itertools import islice
from typing import Any, TypeVar

import psycopg

from periplus.errors import DatabaseUnavailable, LeaseLost
from periplus.store.block_list import NOTHING_BLOCKED, Blocked, BlockList
from periplus.store.database.postgres import forgetting
from periplus.store.database.postgres.bulk import BulkWriter
from periplus.store.database.postgres.commit_log import CommitLog
from periplus.store.database.postgres.connection import Connection, connect, failure, is_lost, place_of
from periplus.store.database.postgres.dialect import statements, translated
from periplus.store.database.postgres.migrate import migrate, require_current_schema
from periplus.store.database.postgres.pool import POOL

logger = logging.getLogger("periplus.store")

Answer = TypeVar("Answer")
_PATIENCE = 60.0  # seconds to wait for a server that does not answer
_POLL = 0.2  # seconds between two attempts to connect
_ROWS_AT_ONCE = 20_000  # of `many`, in memory
_FETCHED_AT_ONCE = 5_000  # rows of a streamed result
_STREAMED = frozenset(  # statements whose results may have millions of rows; the others are read at once
    {
        "archived_fetches",
        "domain_sizes",
        "fetches_of_archive",
        "hosts",
        "imported_out_of_scope",
        "known_urls",
        "packed_seen",
        "queued_hosts",
        "redirects",
        "referred_contents",
        "seen",
        "vanished",
        "waiting_hosts",
    }
)
_BLOCK_KEY = "key"  # the kind of the row with the key of the hashes of the block list
_AGAIN = (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure)


class TransactionLost(DatabaseUnavailable):
    """A transaction was undone through no fault of its statements; it may be run again."""


class PostgresDatabase:
    """A connection to a PostgreSQL database; see `Database`. One thread at a time may use it."""

    def __init__(self, url: str, *, create: bool = False, read_only: bool = False, patience: float = _PATIENCE) -> None:
        """Connect and migrate the tables to the schema of this release; *create* allows a database without tables.

        *read_only*: never writes, and refuses an older schema. *patience*: seconds to wait for a lost server.
        """
        self._url, self._read_only, self._patience = url, read_only, patience
        self._sql, self._log = statements(), CommitLog()
        self._is_open = False  # a transaction
        self._fence: tuple[int, int, Callable[[], None]] | None = None  # worker, token, what to call after a commit
        self._guard: Callable[[], None] = lambda: None
        self._has_session_state = False  # temporary functions, which a new connection does not have
        if (kept := POOL.take(url, read_only=read_only)) is None:
            self._use(connect(url, read_only=read_only))
        else:
            self._use(kept)
        try:
            self._check_schema(create=create)
        except psycopg.Error as error:
            self._connection.close()
            if kept is None or not is_lost(kept):
                raise failure(url, error) from error
            self._use(connect(url, read_only=read_only))  # the server has closed the kept one
            try:
                self._check_schema(create=create)
            except psycopg.Error as again:
                self._connection.close()
                raise failure(url, again) from again
        except BaseException:
            self._connection.close()
            raise

    @property
    def place(self) -> str:
        """The address of the database, without the password."""
        return place_of(self._url)

    def close(self) -> None:
        """Close the connection, or keep it for the next user of the database in this process."""
        with suppress(psycopg.Error):
            self._log.remove(self._connection)
        if self._has_session_state or self._fence is not None:
            self._connection.close()
        else:
            POOL.put(self._url, self._connection, read_only=self._read_only)

    # -- connection -----------------------------------------------------------------------------------------------

    def _use(self, connection: Connection) -> None:
        self._connection, self._bulk = connection, BulkWriter(connection)

    def _check_schema(self, *, create: bool) -> None:
        if self._read_only:
            require_current_schema(self._connection, self.place)
        else:
            migrate(self._connection, self.place, create=create)

    def _reconnect(self) -> None:
        """Connect again; waits for the server up to the patience."""
        began, is_reported = time.monotonic(), False
        self._connection.close()
        while True:
            try:
                self._use(connect(self._url, read_only=self._read_only))
            except DatabaseUnavailable as error:
                if time.monotonic() - began > self._patience:
                    raise
                if not is_reported:
                    logger.warning("%s; trying again for %.0f s", error.sentence, self._patience)
                    is_reported = True
                time.sleep(_POLL)
            else:
                return

    def _repeated(self, act: Callable[[], Answer]) -> Answer:
        """Run a statement; outside of a transaction again when the connection was lost."""
        while True:
            try:
                return act()
            except psycopg.Error as error:
                if self._is_open:
                    raise  # the transaction translates it
                if not is_lost(self._connection) or self._has_session_state:
                    raise failure(self._url, error) from error
                self._reconnect()

    # -- transactions ---------------------------------------------------------------------------------------------

    @contextmanager
    def transaction(self, undo: Callable[[], None] | None = None) -> Iterator[None]:
        """Run the block as one durable transaction; *undo* clears cached state after a rollback."""
        self._begin()
        with self._rollback_on_error(undo):
            self._check_fence()
            yield
            self._guard()
            self._commit()
        if self._fence is not None:
            self._fence[2]()

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Run the block in a transaction, and undo all its changes."""
        self._begin()
        with self._rollback_on_error(None):
            yield
            self._rollback()

    def fence(self, worker: int, token: int, on_commit: Callable[[], None]) -> None:
        """Refuse every later transaction with `LeaseLost` when the worker has another token by then."""
        self._fence = worker, token, on_commit

    def guard(self, check: Callable[[], None]) -> None:
        """Call *check* at the end of every later transaction; an error that it raises undoes the transaction."""
        self._guard = check

    def _check_fence(self) -> None:
        if self._fence is None:
            return
        worker, token, _ = self._fence
        if self.row("fence", worker, token) is None:
            raise lease_lost(worker)
        self.run("count_commits", worker)

    def retry(self, work: Callable[[], Answer]) -> Answer:
        """Run a function that runs one transaction, again when it was lost through no fault of its own."""
        latest = time.monotonic() + self._patience
        while True:
            try:
                return work()
            except TransactionLost as error:
                if time.monotonic() > latest:
                    raise
                logger.warning("%s; the transaction is run again", error.sentence)

    def _begin(self) -> None:
        try:
            self._repeated(lambda: self._log.begin(self._connection))
        except BaseException:
            self._rollback()  # the transaction may have begun before its first statement failed
            raise
        self._is_open = True

    def _commit(self) -> None:
        try:
            status = self._connection.execute("COMMIT").statusmessage
        except psycopg.OperationalError as error:
            if not is_lost(self._connection):
                raise
            if self._has_session_state or not self._has_committed():
                raise TransactionLost(f"{self.place} has undone a transaction", str(error)) from error
            return
        self._is_open = False
        if status != "COMMIT":
            raise AssertionError(f"a transaction ended with {status}")  # a statement failed, and its error was ignored

    def _has_committed(self) -> bool:
        """Whether the transaction was committed whose connection was lost at its end."""
        self._is_open = False
        return self._repeated(lambda: self._log.has_committed(self._connection, self._patience))

    def _rollback(self) -> None:
        self._is_open = False
        self._bulk = BulkWriter(self._connection)  # the temporary tables of the transaction are gone
        with suppress(psycopg.OperationalError):  # a lost connection has rolled back
            self._connection.execute("ROLLBACK")

    @contextmanager
    def _rollback_on_error(self, undo: Callable[[], None] | None) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self._rollback()
            if undo is not None:
                undo()
            if isinstance(error, psycopg.Error):
                raise self._undone(error) from error
            raise

    def _undone(self, error: psycopg.Error) -> Exception:
        if isinstance(error, _AGAIN) or (is_lost(self._connection) and not self._has_session_state):
            return TransactionLost(f"{self.place} has undone a transaction", str(error))
        return failure(self._url, error)

    # -- statements -----------------------------------------------------------------------------------------------

    def run(self, name: str, *values: Any) -> psycopg.Cursor[tuple[Any, ...]]:
        """Run one statement."""
        return self._repeated(lambda: self._connection.execute(self._sql[name].encode(), _storable(values)))

    def many(self, name: str, rows: Iterable[tuple[Any, ...]]) -> int:
        """Run one statement for every row; returns the number of changed rows."""
        changed, remaining = 0, iter(rows)
        while part := list(map(_storable, islice(remaining, _ROWS_AT_ONCE))):
            changed += self._repeated(lambda part=part: self._many(name, part))  # type: ignore[misc]
        return changed

    def _many(self, name: str, rows: list[tuple[Any, ...]]) -> int:
        if self._is_open and (number := self._bulk.write(name, rows)) is not None:
            return number
        cursor = self._connection.cursor()
        cursor.executemany(self._sql[name].encode(), rows)
        return max(cursor.rowcount, 0)

    def ids(self, find: str, add: str, rows: Mapping[str, tuple[Any, ...]]) -> dict[str, int]:
        """The ids of named rows, found by one statement or added with their other values; both for many rows."""
        found = dict(self.run(f"{find}_many", list(rows)))
        if new := sorted(rows.keys() - found.keys()):
            found.update(self.run(f"{add}_many", new, *map(list, zip(*(rows[name] for name in new), strict=True))))
        return found

    def row(self, name: str, *values: Any) -> Any:
        """The first row of the result, or None."""
        return self.run(name, *values).fetchone()

    def rows(self, name: str, *values: Any) -> Iterator[Any]:
        """Stream the rows of the result."""
        if name in _STREAMED:
            yield from self._streamed(name, values)
        else:
            yield from self.run(name, *values)

    def _streamed(self, name: str, values: tuple[Any, ...]) -> Iterator[Any]:
        """Read a large result in parts: inside a transaction by a cursor, otherwise over a connection of its own."""
        if self._is_open:
            yield from self._parts(self._connection, name, values)
            return
        with closing(self._repeated(lambda: connect(self._url, read_only=True))) as connection:
            try:
                with connection.transaction():
                    yield from self._parts(connection, name, values)
            except psycopg.Error as error:
                raise failure(self._url, error) from error

    def _parts(self, connection: Connection, name: str, values: tuple[Any, ...]) -> Iterator[Any]:
        cursor = psycopg.RawServerCursor(connection, f"{name}_{id(values)}")
        with closing(cursor):
            cursor.itersize = _FETCHED_AT_ONCE
            cursor.execute(self._sql[name].encode(), _storable(values))
            yield from cursor

    def record(self, name: str, *values: Any) -> dict[str, Any] | None:
        """The first row of the result as a dictionary, or None."""
        return next(self.records(name, *values), None)

    def records(self, name: str, *values: Any) -> Iterator[dict[str, Any]]:
        """The rows of the result as dictionaries."""
        cursor = self.run(name, *values)
        names = [column.name for column in cursor.description or ()]
        return (dict(zip(names, row, strict=True)) for row in cursor)

    # -- the whole database ---------------------------------------------------------------------------------------

    def check(self) -> list[str]:
        """No problems: PostgreSQL checks its own pages."""
        self._repeated(lambda: self._connection.execute("SELECT 1"))
        return []

    def block_list(self) -> BlockList:
        """The URLs and hosts of the fleet that must not come back."""
        return _block_list(self.rows("block_list"))

    def set_block_list(self, blocked: BlockList) -> None:
        """Replace the block list of the fleet."""
        with self.transaction():
            self.run("clear_block_list")
            self.many("add_block", _block_rows(blocked))

    def define_forgotten(self, blocked: BlockList) -> None:
        """Let statements call `forgotten`, `forgotten_host`, `forgotten_origin` and `scrubbed` of a block list."""
        self._has_session_state = True
        with closing(connect(self._url, read_only=True)) as reader:
            self._repeated(lambda: forgetting.define(self._connection, reader, self.text_columns(), blocked))

    def erase_deleted(self) -> bool:
        """Rewrite the tables without any deleted row; False: another process reads old rows."""
        return self._repeated(lambda: forgetting.erase_deleted(self._connection))

    def text_columns(self) -> list[tuple[str, str]]:
        """Table and name of every column with text."""
        return [*self.rows("text_columns")]

    def count_where(self, table: str, condition: str) -> int:
        """The number of rows of a table that meet a condition."""
        statement = f"SELECT count(*) FROM {table} WHERE {translated(condition)}"
        (count,) = self._repeated(lambda: self._connection.execute(statement.encode()).fetchone()) or (0,)
        return int(count)


def lease_lost(worker: int) -> LeaseLost:
    """The error of a worker whose lease another worker has taken."""
    return LeaseLost(f"worker {worker} has lost its lease", "it was silent for longer than `fleet.lease_seconds`")


def _storable(row: Iterable[Any]) -> tuple[Any, ...]:
    """The values without the character NUL, which PostgreSQL cannot store."""
    return tuple(
        [value.replace("\0", "\ufffd") if isinstance(value, str) and "\0" in value else value for value in row]
    )


def _block_list(rows: Iterable[tuple[str, str]]) -> BlockList:
    """The block list in the rows; without any, nothing is blocked."""
    found = [Blocked(*row) for row in rows]
    keys = [entry.hash for entry in found if entry.kind == _BLOCK_KEY]
    if not keys:
        return NOTHING_BLOCKED
    return BlockList(bytes.fromhex(keys[0]), frozenset(entry for entry in found if entry.kind != _BLOCK_KEY))


def _block_rows(blocked: BlockList) -> Iterator[tuple[str, str]]:
    """The rows of a block list."""
    yield _BLOCK_KEY, blocked.key.hex()
    yield from sorted(blocked.entries)
