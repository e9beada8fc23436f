"""An SQLite file that the processes of `periplus serve` share, for what a site can do without.

A damaged file is deleted and made again. When the file cannot be used, the site works without it.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TypeVar

_Answer = TypeVar("_Answer")

logger = logging.getLogger("periplus.search")

_PRAGMAS = ("journal_mode = WAL", "synchronous = OFF", "mmap_size = 0")  # it may lose entries in a power cut
# The file cannot be used now, but is not damaged: another writer, a full disk, or missing permission.
_UNUSABLE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_PERM,
    }
)


class DamagedEntryError(Exception):
    """An entry of the file is damaged."""


class SharedFile:
    """Opens the file when it is needed first; safe to share between threads."""

    def __init__(self, path: Path, name: str, prepare: Callable[[sqlite3.Connection], None]) -> None:
        """*name*: for messages; *prepare*: called for every new connection, creates the tables."""
        self._path, self._name, self._prepare = path, name, prepare
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._last_problem = ""

    def attempt(self, work: Callable[[sqlite3.Connection], _Answer]) -> _Answer | None:
        """Uses the file, one thread at a time; None, without an error, when that fails."""
        with self._lock:
            try:
                return work(self._connected())
            except (
                sqlite3.Error,
                DamagedEntryError,
                UnicodeDecodeError,
            ) as error:  # the last: SQLite quotes damaged text
                self._recover(error)
            except OSError as error:
                self._report(error)
        return None

    def close(self) -> None:
        """Closes the file; `attempt` would open it again."""
        with self._lock:
            self._disconnect()

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(exist_ok=True)
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))  # it contains searches of users
            self._connection = sqlite3.connect(self._path, timeout=0, isolation_level=None, check_same_thread=False)
            for pragma in _PRAGMAS:
                self._connection.execute(f"PRAGMA {pragma}").fetchone()
            self._prepare(self._connection)
        return self._connection

    def _recover(self, error: Exception) -> None:
        """Closes the file, and deletes it when it is damaged; the next search opens it again."""
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        if code == sqlite3.SQLITE_BUSY and self._connection is not None and not self._connection.in_transaction:
            return
        self._disconnect()
        if code in _UNUSABLE:
            self._report(error)
            return
        logger.warning("%s is damaged (%s); it is deleted", self._path, error)
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):
                self._path.with_name(self._path.name + suffix).unlink()

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _report(self, error: Exception) -> None:
        if str(error) != self._last_problem:
            self._last_problem = str(error)
            logger.warning("%s cannot be used: %s", self._name, error)
