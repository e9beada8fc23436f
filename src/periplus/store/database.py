"""How is the catalog's SQLite file opened, brought up to date and asked?"""

from __future__ import annotations

import fcntl
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from periplus.errors import CollectionError, DamagedFile, DiskFull, NewerFormat
from periplus.store.sql_files import read_statements

DatabaseError = sqlite3.Error  # raised as it is where it says nothing about the file: a mistake in our own code

logger = logging.getLogger("periplus.store")

_BUSY = 30.0  # seconds that another program may keep the file to itself
_LONG_WAIT = 10.0  # seconds to wait for other writers before the log mentions it
_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = FULL",  # measured: NORMAL loses acknowledged rows at a power cut
    "cache_size = -8192",  # KiB; with several connections to a file
    "temp_store = MEMORY",
    "wal_autocheckpoint = 4000",
    "mmap_size = 0",
)


# A file that may not grow fails as a write error; a disk that cannot be read is another matter.
_COULD_NOT_WRITE = ("SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_TRUNCATE", "SQLITE_IOERR_SHMSIZE")


@lru_cache(maxsize=1)
def _migrations() -> list[tuple[int, str]]:
    folder = resources.files("periplus.store").joinpath("migrations")
    files = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [(int(name[:4]), folder.joinpath(name).read_text(encoding="utf-8")) for name in files]


class Database:
    """A connection to the catalog that runs named statements and speaks in our errors."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Open *path*, migrated to this release's schema; *create* allows it not to exist."""
        if not create and not (path.exists() and path.stat().st_size):
            raise DamagedFile(
                f"{path} is missing or empty", "the collection has no catalog", "`periplus crawl URL` begins a new one."
            )
        self._path = path
        self._sql = read_statements("periplus.store", "catalog.sql")
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=_BUSY)
        except sqlite3.DatabaseError as error:
            raise self._failure(error) from error
        with ExitStack() as undo:
            undo.callback(self.close)
            self._prepare()
            undo.pop_all()

    def _prepare(self) -> None:
        try:
            for pragma in _PRAGMAS:
                self._connection.execute(f"PRAGMA {pragma}").fetchone()
            _migrate(self._connection, self._path)
        except sqlite3.DatabaseError as error:
            raise self._failure(error) from error

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    @contextmanager
    def transaction(self, undo: Callable[[], None] | None = None) -> Iterator[None]:
        """All or nothing, and durable when the block is left; *undo* forgets what was remembered of a failed one."""
        with _turn_to_write(self._path), self._undone_if_it_fails(undo):
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")

    @contextmanager
    def _undone_if_it_fails(self, undo: Callable[[], None] | None) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            if self._connection.in_transaction:  # after some failures SQLite has rolled back by itself
                self._connection.rollback()
            if undo is not None:
                undo()
            if isinstance(error, sqlite3.DatabaseError):
                raise self._failure(error) from error
            raise

    def run(self, name: str, *values: Any) -> sqlite3.Cursor:
        """Run one statement."""
        try:
            return self._connection.execute(self._sql[name], values)
        except sqlite3.DatabaseError as error:
            raise self._failure(error) from error

    def many(self, name: str, rows: Iterable[tuple[Any, ...]]) -> int:
        """Run one statement for every row; returns how many rows it changed."""
        try:
            return max(self._connection.executemany(self._sql[name], rows).rowcount, 0)
        except sqlite3.DatabaseError as error:
            raise self._failure(error) from error

    def row(self, name: str, *values: Any) -> Any:
        """The first row of the answer, or None."""
        return self.run(name, *values).fetchone()

    def rows(self, name: str, *values: Any) -> Iterator[Any]:
        """The rows of the answer, as they come."""
        yield from self._answer(self.run(name, *values))

    def record(self, name: str, *values: Any) -> dict[str, Any] | None:
        """The first row of the answer with the names of its columns, or None."""
        return next(self.records(name, *values), None)

    def records(self, name: str, *values: Any) -> Iterator[dict[str, Any]]:
        """The rows of the answer with the names of its columns, as they come."""
        cursor = self.run(name, *values)
        names = [column[0] for column in cursor.description]
        return (dict(zip(names, row, strict=True)) for row in self._answer(cursor))

    def _answer(self, cursor: sqlite3.Cursor) -> Iterator[Any]:
        try:
            yield from cursor
        except sqlite3.DatabaseError as error:
            raise self._failure(error) from error

    def check(self) -> list[str]:
        """What SQLite itself finds wrong with the file."""
        try:
            rows = self._connection.execute("PRAGMA integrity_check(10)").fetchall()
        except sqlite3.DatabaseError as error:
            return [str(error)]
        return [str(text) for (text,) in rows if text != "ok"]

    def _failure(self, error: sqlite3.DatabaseError) -> CollectionError | DiskFull:
        if isinstance(error, sqlite3.ProgrammingError):
            raise error  # a mistake of ours, not of the file
        text, name = str(error), getattr(error, "sqlite_errorname", "")
        if name == "SQLITE_FULL" or name.startswith(_COULD_NOT_WRITE):
            return DiskFull(
                f"no room left to write {self._path}",
                text,
                "Everything acknowledged is safe: free some space and run the same command again.",
            )
        if isinstance(error, sqlite3.OperationalError):
            return CollectionError(f"{self._path} cannot be used", text)
        return DamagedFile(
            f"{self._path} is damaged", text, "Restore it from a copy; the archive still holds every page."
        )


@contextmanager
def _turn_to_write(path: Path) -> Iterator[None]:
    """Wait, without a limit, until no other process of ours writes the database *path*.

    SQLite's own waiting polls with longer and longer pauses, so one of many writers may wait for minutes and then fail.
    Here the kernel wakes the writers whenever one is done, and ends the turn of a writer that was killed. The lock is
    on the folder: closing a second descriptor of the database itself would drop SQLite's locks.
    """
    folder, began = os.open(path.parent, os.O_RDONLY), time.monotonic()
    try:
        with suppress(OSError):  # a file system without locks: SQLite's own waiting has to do
            fcntl.flock(folder, fcntl.LOCK_EX)
        if (waited := time.monotonic() - began) > _LONG_WAIT:
            logger.warning("waited %.0f s for other processes to write %s", waited, path)
        yield
    finally:
        os.close(folder)


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    latest = _migrations()[-1][0]
    if _schema_of(connection, path, latest) == latest:
        return  # most of the time: no need to wait for a turn
    with _turn_to_write(path), connection:  # which commits, or rolls back
        connection.execute("BEGIN IMMEDIATE")
        version = _schema_of(connection, path, latest)  # another process may have migrated meanwhile
        for number, script in _migrations():
            if number > version:
                for statement in _statements(script):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {number}")


def _schema_of(connection: sqlite3.Connection, path: Path, latest: int) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > latest:
        raise NewerFormat(
            f"{path} has schema {version}", f"this release knows schemas up to {latest}", "Use a later release."
        )
    return int(version)


def _statements(script: str) -> Iterator[str]:
    """The statements of a script one by one; `executescript` would commit before the first of them."""
    statement = ""
    for part in script.split(";"):
        statement += f"{part};"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
