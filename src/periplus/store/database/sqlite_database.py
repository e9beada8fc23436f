"""Opens and migrates an SQLite file, such as the catalog, and runs its named statements."""

from __future__ import annotations

import fcntl
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import lru_cache
from importlib import resources
from pathlib import Path
from threading import Event, Timer
from typing import Any

from periplus.errors import CollectionError, DamagedFile, DiskFull, NewerFormat
from periplus.store.block_list import BlockList, read_block_list, write_block_list
from periplus.store.database.database import CATALOG_FILES, Answer, SqlFiles
from periplus.store.database.sql_files import read_statements

DatabaseError = sqlite3.Error  # raised unchanged for bugs in our own code, which say nothing about the file

logger = logging.getLogger("periplus.store")

_BUSY_TIMEOUT = 30.0  # seconds to wait while another program locks the file
_CHECK_SECONDS = 5.0  # for the quick check; `periplus verify` checks everything
_LONG_WAIT = 10.0  # seconds to wait for other writers before the log mentions it
_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = FULL",  # measured: NORMAL loses acknowledged rows at a power cut
    "cache_size = -8192",  # KiB, for each of several connections
    "temp_store = MEMORY",
    "wal_autocheckpoint = 4000",
    "mmap_size = 0",
)


_ERRORS = (sqlite3.DatabaseError, UnicodeDecodeError)  # the latter when SQLite quotes damaged text in its message

# Every statement fits the schema of its version, so a name that is missing there was damaged.
_DAMAGED_SCHEMA = ("no such column", "no such table", "has no column named")

# A file that may not grow fails with one of these write errors; read errors mean something else.
_WRITE_ERRORS = ("SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_TRUNCATE", "SQLITE_IOERR_SHMSIZE")


@lru_cache(maxsize=8)
def _migrations(package: str) -> list[tuple[int, str]]:
    folder = resources.files(package).joinpath("migrations")
    files = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [(int(name[:4]), folder.joinpath(name).read_text(encoding="utf-8")) for name in files]


class SqliteDatabase:
    """A connection to an SQLite file; see `Database`."""

    def __init__(
        self, path: Path, *, create: bool = False, read_only: bool = False, files: SqlFiles = CATALOG_FILES
    ) -> None:
        """Open *path* and migrate it to the schema of this release; *create* allows a missing file.

        *read_only*: never writes. A file with an older schema is refused then. *files*: those of the catalog, or of
        another database.
        """
        if not create and not (path.exists() and path.stat().st_size):
            raise DamagedFile(
                f"{path} is missing or empty",
                "the collection has no catalog",
                "`periplus repair` restores it from the archive; `periplus crawl URL` starts a new one.",
            )
        self._path, self._package = path, files.package
        self._guard: Callable[[], None] = lambda: None
        self._sql = {
            name: text for file in files.statements for name, text in read_statements(files.package, file).items()
        }
        address = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
        try:
            self._connection = sqlite3.connect(
                address, uri=True, isolation_level=None, check_same_thread=False, timeout=_BUSY_TIMEOUT
            )
        except _ERRORS as error:
            raise _failure(self._path, error) from error
        with ExitStack() as undo:
            undo.callback(self.close)
            if read_only:
                self._require_current_schema()
            else:
                self._prepare()
            undo.pop_all()

    def _require_current_schema(self) -> None:
        latest = _migrations(self._package)[-1][0]
        try:
            version = _schema_of(self._connection, self._path, latest)
        except _ERRORS as error:
            raise _failure(self._path, error) from error
        if version < latest:
            raise CollectionError(
                f"{self._path} has schema {version}",
                f"this release reads schema {latest}",
                "`periplus status` migrates it.",
            )

    def _prepare(self) -> None:
        try:
            for pragma in _PRAGMAS:
                self._connection.execute(f"PRAGMA {pragma}").fetchone()
            _migrate(self._connection, self._path, self._package)
        except _ERRORS as error:
            raise _failure(self._path, error) from error

    @property
    def place(self) -> str:
        """The path of the file."""
        return str(self._path)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def transaction(self, undo: Callable[[], None] | None = None) -> Iterator[None]:
        """Run the block as one durable transaction; *undo* clears cached state after a rollback."""
        with _write_lock(self._path), self._rollback_on_error(undo):
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._guard()
            self._connection.execute("COMMIT")

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Run the block in a transaction, and undo all its changes."""
        with _write_lock(self._path), self._rollback_on_error(None):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def _rollback_on_error(self, undo: Callable[[], None] | None) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            if self._connection.in_transaction:  # SQLite rolls back by itself after some errors
                self._connection.rollback()
            if undo is not None:
                undo()
            if isinstance(error, _ERRORS):
                raise _failure(self._path, error) from error
            raise

    def retry(self, work: Callable[[], Answer]) -> Answer:
        """Run a function once: a transaction of SQLite is never lost."""
        return work()

    def guard(self, check: Callable[[], None]) -> None:
        """Call *check* at the end of every later transaction; an error that it raises undoes the transaction."""
        self._guard = check

    def fence(self, worker: int, token: int, on_commit: Callable[[], None]) -> None:
        """Does nothing: workers of one machine have no leases."""

    def run(self, name: str, *values: Any) -> sqlite3.Cursor:
        """Run one statement."""
        try:
            return self._connection.execute(self._sql[name], values)
        except _ERRORS as error:
            raise _failure(self._path, error) from error

    def many(self, name: str, rows: Iterable[tuple[Any, ...]]) -> int:
        """Run one statement for every row; returns the number of changed rows."""
        try:
            return max(self._connection.executemany(self._sql[name], rows).rowcount, 0)
        except _ERRORS as error:
            raise _failure(self._path, error) from error

    def ids(self, find: str, add: str, rows: Mapping[str, tuple[Any, ...]]) -> dict[str, int]:
        """The ids of named rows, found by one statement or added with their other values by another one."""
        return {name: (self.row(find, name) or self.row(add, name, *values))[0] for name, values in rows.items()}

    def row(self, name: str, *values: Any) -> Any:
        """The first row of the result, or None."""
        return self.run(name, *values).fetchone()

    def rows(self, name: str, *values: Any) -> Iterator[Any]:
        """Stream the rows of the result."""
        yield from self._result(self.run(name, *values))

    def record(self, name: str, *values: Any) -> dict[str, Any] | None:
        """The first row of the result as a dictionary, or None."""
        return next(self.records(name, *values), None)

    def records(self, name: str, *values: Any) -> Iterator[dict[str, Any]]:
        """Stream the rows of the result as dictionaries."""
        cursor = self.run(name, *values)
        names = [column[0] for column in cursor.description]
        return (dict(zip(names, row, strict=True)) for row in self._result(cursor))

    def _result(self, cursor: sqlite3.Cursor) -> Iterator[Any]:
        try:
            yield from cursor
        except _ERRORS as error:
            raise _failure(self._path, error) from error

    def block_list(self) -> BlockList:
        """The URLs and hosts of the collection that must not come back."""
        return read_block_list(self._path.parent)

    def set_block_list(self, blocked: BlockList) -> None:
        """Replace the block list, durably."""
        write_block_list(self._path.parent, blocked)

    def define_forgotten(self, blocked: BlockList) -> None:
        """Let statements call `forgotten`, `forgotten_host`, `forgotten_origin` and `scrubbed` of a block list."""
        functions: dict[str, Callable[[str], str | bool]] = {
            "forgotten": blocked.blocks,
            "forgotten_host": blocked.blocks_host,
            "forgotten_origin": blocked.blocks_host_of,
            "scrubbed": blocked.scrubbed,
        }
        for name, function in functions.items():
            self._connection.create_function(name, 1, function, deterministic=True)

    def erase_deleted(self) -> bool:
        """Rewrite the file without any deleted row, and empty its log; False: another process reads old rows.

        `secure_delete` overwrites what is deleted from now on. Rows that were deleted or moved before may be left in
        free pages, so the whole file is rewritten.
        """
        try:
            for pragma in ("secure_delete = ON", "temp_store = FILE"):
                self._connection.execute(f"PRAGMA {pragma}").fetchone()
            with _write_lock(self._path):
                self._connection.execute("VACUUM")
                (is_busy, *_) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except _ERRORS as error:
            raise _failure(self._path, error) from error
        return not is_busy

    def text_columns(self) -> list[tuple[str, str]]:
        """Table and name of every column with text."""
        return [*self.rows("text_columns")]

    def count_where(self, table: str, condition: str) -> int:
        """The number of rows of a table that meet a condition."""
        try:
            ((count,),) = self._connection.execute(f"SELECT count(*) FROM {table} WHERE {condition}").fetchall()
        except _ERRORS as error:
            raise _failure(self._path, error) from error
        return int(count)

    def check(self) -> list[str]:
        """The problems that SQLite's integrity check finds."""
        try:
            rows = self._connection.execute("PRAGMA integrity_check(10)").fetchall()
        except _ERRORS as error:
            return [str(error)]
        return [str(text) for (text,) in rows if text != "ok"]


def _failure(path: Path, error: sqlite3.DatabaseError | UnicodeDecodeError) -> CollectionError | DiskFull:
    if isinstance(error, sqlite3.ProgrammingError):
        raise error  # a bug in our code, not a problem of the file
    text, name = str(error), getattr(error, "sqlite_errorname", "")
    if name == "SQLITE_FULL" or name.startswith(_WRITE_ERRORS):
        return DiskFull(
            f"no space left to write {path}",
            text,
            "Acknowledged pages are safe: free some space and run the same command again.",
        )
    if isinstance(error, sqlite3.OperationalError) and not any(sign in text for sign in _DAMAGED_SCHEMA):
        return CollectionError(f"{path} cannot be used", text)
    return DamagedFile(f"{path} is damaged", text)


def require_sound(path: Path, seconds: float = _CHECK_SECONDS) -> None:
    """Raise `DamagedFile` when SQLite's quick check of a database finds damage.

    Opens the file read-only, so a damaged file is not written; except after a kill, when SQLite must first undo an
    unfinished transaction. The check takes 3 ms per MB, and ends without a finding after *seconds*. Skips a missing or
    empty file.
    """
    if not path.exists() or not path.stat().st_size:
        return
    try:
        problem = _quick_check(path, "ro", seconds)
    except _ERRORS as error:
        raise _failure(path, error) from error
    if problem != "ok":
        raise DamagedFile(f"{path} is damaged", problem)


def _quick_check(path: Path, mode: str, seconds: float) -> str:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True)) as connection:
            return _first_problem(connection, seconds)
    except sqlite3.OperationalError as error:
        if mode == "rw" or not error.sqlite_errorname.startswith("SQLITE_READONLY"):
            raise
        return _quick_check(path, "rw", seconds)


def _first_problem(connection: sqlite3.Connection, seconds: float) -> str:
    """The first problem, or "ok"; also when the check was interrupted, which may call unread pages unused."""
    with _interrupted_after(connection, seconds) as is_late:
        try:
            ((found,),) = connection.execute("PRAGMA quick_check(1)").fetchall()
        except _ERRORS:
            if not is_late():
                raise
    return "ok" if is_late() else str(found)


@contextmanager
def _interrupted_after(connection: sqlite3.Connection, seconds: float) -> Iterator[Callable[[], bool]]:
    """Interrupts the statement that the block runs; yields a function that says whether that has happened."""
    late = Event()

    def interrupt() -> None:
        late.set()
        connection.interrupt()

    timer = Timer(seconds, interrupt)
    timer.start()
    try:
        yield late.is_set
    finally:
        timer.cancel()
        timer.join()  # the crawl forks its workers next, which no thread may survive


@contextmanager
def _write_lock(path: Path) -> Iterator[None]:
    """Hold the lock of all Periplus processes that write the database *path*; waits without a limit.

    SQLite itself polls with longer and longer pauses, so one of many writers may wait for minutes and then fail. With
    flock the kernel wakes the next writer at once, and releases the lock of a killed one. The lock is on the folder:
    closing a second descriptor of the database file would drop SQLite's own locks.
    """
    folder, began = os.open(path.parent, os.O_RDONLY), time.monotonic()
    try:
        with suppress(OSError):  # a file system without locks: rely on SQLite's polling
            fcntl.flock(folder, fcntl.LOCK_EX)
        if (waited := time.monotonic() - began) > _LONG_WAIT:
            logger.warning("waited %.0f s for other processes to write %s", waited, path)
        yield
    finally:
        os.close(folder)


def _migrate(connection: sqlite3.Connection, path: Path, package: str) -> None:
    migrations = _migrations(package)
    latest = migrations[-1][0]
    if _schema_of(connection, path, latest) == latest:
        return  # the usual case needs no lock
    with _write_lock(path), connection:  # the connection commits or rolls back
        connection.execute("BEGIN IMMEDIATE")
        version = _schema_of(connection, path, latest)  # another process may have migrated meanwhile
        for number, script in migrations:
            if number > version:
                for statement in _statements(script):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {number}")


def _schema_of(connection: sqlite3.Connection, path: Path, latest: int) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > latest:
        raise NewerFormat(
            f"{path} has schema {version}", f"this release supports schemas up to {latest}", "Use a later release."
        )
    return int(version)


def _statements(script: str) -> Iterator[str]:
    """Split a script into statements; `executescript` would commit before the first one."""
    statement = ""
    for part in script.split(";"):
        statement += f"{part};"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
