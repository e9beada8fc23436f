"""Stores results of searches, so that a repeated search is not computed again.

The processes of `periplus serve` share one SQLite file, which survives restarts. The key of an entry includes the
generation of the index, the weights and the release. So a new index never gets results of an earlier one. Every entry
has a digest. A damaged file is deleted, and a search that cannot use the cache is computed.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import orjson
import xxhash

from periplus import __version__
from periplus.config import Ranking
from periplus.model import Hit, Results
from periplus.store.generations import META
from periplus.store.sql_files import read_statements

_Answer = TypeVar("_Answer")

logger = logging.getLogger("periplus.search")

_PRAGMAS = ("journal_mode = WAL", "synchronous = OFF", "mmap_size = 0")  # a cache may lose results in a power cut
_LARGEST_SHARE = 4  # an entry takes at most 1/4 of the limit
_ENTRY_BYTES = 6 * 4096  # pages of the table and the index of keys that a new entry may add
_REMOVED_AT_ONCE = 16  # entries
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


class SearchRequest(NamedTuple):
    """The arguments of a search; all of them are part of the key."""

    query: str
    page: int = 1
    size: int = 15
    explain: bool = False
    mode: str = "auto"
    verbatim: bool = False


class CacheScope:
    """What all results of one open generation have in common; makes their keys."""

    def __init__(self, folder: Path, weights: Ranking) -> None:
        self.generation = generation_id(folder)
        self._common = sha256(orjson.dumps([__version__, self.generation, weights.model_dump(mode="json")]))

    def key(self, request: SearchRequest) -> bytes:
        """The key of the results of a request."""
        digest = self._common.copy()
        digest.update(orjson.dumps([request.query.encode("utf-8", "surrogatepass").hex(), *request[1:]]))
        return digest.digest()


def generation_id(folder: Path) -> str:
    """Identifies a generation by its name and its `meta.json`, which has the digests of all its files."""
    return sha256(folder.name.encode() + b"\n" + (folder / META).read_bytes()).hexdigest()


class _EntryError(Exception):
    """An entry is damaged."""


class ResultCache:
    """Results in an SQLite file of limited size; safe to share between threads."""

    def __init__(self, path: Path, limit: int) -> None:
        """*limit* in bytes. The file is opened when it is needed first."""
        self._path, self._limit = path, limit
        self._sql = read_statements("periplus.search", "result_cache.sql")
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._last_problem = ""

    def answer(self, scope: CacheScope, request: SearchRequest, search: Callable[[], Results]) -> Results:
        """The stored results of a request; otherwise those of *search*, which are stored."""
        started = time.perf_counter()
        key = scope.key(request)
        found = self.read(key)
        seconds = time.perf_counter() - started
        if found is not None:
            return replace(found, seconds=seconds, steps={"cache": seconds})
        computed = search()
        self._write(key, scope.generation, computed)
        return replace(computed, seconds=computed.seconds + seconds, steps={"cache": seconds, **computed.steps})

    def read(self, key: bytes) -> Results | None:
        """The stored results, or None."""

        def read(connection: sqlite3.Connection) -> Results | None:
            row = connection.execute(self._sql["read"], (key,)).fetchone()
            return None if row is None else _decoded(key, *row)

        return self._attempt(read)

    def keep_only(self, generations: Sequence[str]) -> None:
        """Removes the results of all other generations."""
        kept = orjson.dumps(generations).decode()
        self._attempt(lambda connection: connection.execute(self._sql["remove_other_generations"], (kept,)))

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._disconnect()

    def _write(self, key: bytes, generation: str, results: Results) -> None:
        content = orjson.dumps(results)
        if len(content) * _LARGEST_SHARE > self._limit:
            return
        entry = (key, generation, _digest(key, content), content)

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            self._make_room(connection, len(content) + _ENTRY_BYTES)
            connection.execute(self._sql["write"], entry)
            connection.execute("COMMIT")

        self._attempt(write)

    def _make_room(self, connection: sqlite3.Connection, size: int) -> None:
        """Removes the oldest entries until *size* more bytes fit."""
        while connection.execute(self._sql["used_bytes"]).fetchone()[0] + size > self._limit:
            if not connection.execute(self._sql["remove_oldest"], (_REMOVED_AT_ONCE,)).rowcount:
                break

    # -- the file -------------------------------------------------------------------------------------------------

    def _attempt(self, work: Callable[[sqlite3.Connection], _Answer]) -> _Answer | None:
        """Uses the file, one thread at a time; None, without an error, when that fails."""
        with self._lock:
            try:
                return work(self._connected())
            except (sqlite3.Error, _EntryError, UnicodeDecodeError) as error:  # the last: SQLite quotes damaged text
                self._recover(error)
            except OSError as error:
                self._report(error)
        return None

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(exist_ok=True)
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))  # it contains searches of users
            self._connection = sqlite3.connect(self._path, timeout=0, isolation_level=None, check_same_thread=False)
            for pragma in _PRAGMAS:
                self._connection.execute(f"PRAGMA {pragma}").fetchone()
            self._connection.execute(self._sql["create"])
            if self._path.stat().st_size > self._limit:  # the setting was lowered
                self._connection.execute(self._sql["remove_all"])
                self._connection.execute("VACUUM")
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
            logger.warning("the result cache cannot be used: %s", error)


def _digest(key: bytes, content: bytes) -> bytes:
    return xxhash.xxh3_128_digest(key + content)


def _decoded(key: bytes, digest: Any, content: Any) -> Results:
    if not isinstance(content, bytes) or digest != _digest(key, content):
        raise _EntryError("an entry does not match its digest")
    try:
        found = orjson.loads(content)
        lists = {name: tuple(found[name]) for name in ("hints", "excluded", "left_out")}
        return Results(**found | lists | {"hits": tuple(map(_hit, found["hits"]))})
    except (KeyError, TypeError, ValueError) as error:
        raise _EntryError(f"an entry cannot be read: {error}") from error


def _hit(found: dict[str, Any]) -> Hit:
    highlights = tuple((start, end) for start, end in found["highlights"])
    lists = {name: tuple(found[name]) for name in ("same_content", "missing")}
    return Hit(**found | lists | {"highlights": highlights})
