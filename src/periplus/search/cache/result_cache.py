"""Stores results of searches, so that a repeated search is not computed again.

The processes of `periplus serve` share one SQLite file, which survives restarts. The key of an entry includes the
generation of the index, the weights and the release. So a new index never gets results of an earlier one. Every entry
has a digest. A search that cannot use the cache is computed.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import xxhash

from periplus import __version__
from periplus.config import Ranking
from periplus.model import Hit, Results, SiteBoosts
from periplus.search.cache.shared_file import DamagedEntryError, SharedFile
from periplus.store.database.sql_files import read_statements
from periplus.store.generations import META

_LARGEST_SHARE = 4  # an entry takes at most 1/4 of the limit
_ENTRY_BYTES = 6 * 4096  # pages of the table and the index of keys that a new entry may add
_REMOVED_AT_ONCE = 16  # entries


class SearchRequest(NamedTuple):
    """The arguments of a search; all of them are part of the key."""

    query: str
    page: int = 1
    size: int = 15
    explain: bool = False
    mode: str = "auto"
    verbatim: bool = False
    site_boosts: SiteBoosts = ()


class CacheScope:
    """What all results of one open generation have in common; makes their keys."""

    def __init__(self, folder: Path, weights: Ranking) -> None:
        self.generation = generation_id(folder)
        self._common = sha256(orjson.dumps([__version__, self.generation, weights.model_dump(mode="json")]))

    @cached_property
    def fingerprint(self) -> str:
        """Identifies what all results depend on."""
        return self._common.hexdigest()

    def key(self, request: SearchRequest) -> bytes:
        """The key of the results of a request."""
        digest = self._common.copy()
        digest.update(orjson.dumps([request.query.encode("utf-8", "surrogatepass").hex(), *request[1:]]))
        return digest.digest()


def generation_id(folder: Path) -> str:
    """Identifies a generation by its name and its `meta.json`, which has the digests of all its files."""
    return sha256(folder.name.encode() + b"\n" + (folder / META).read_bytes()).hexdigest()


class ResultCache:
    """Results in an SQLite file of limited size; safe to share between threads."""

    def __init__(self, path: Path, limit: int) -> None:
        """*limit* in bytes. The file is opened when it is needed first."""
        self._path, self._limit = path, limit
        self._sql = read_statements("periplus.search.cache", "result_cache.sql")
        self._file = SharedFile(path, "the result cache", self._prepare)

    def answer(self, scope: CacheScope, request: SearchRequest, search: Callable[[], Results]) -> Results:
        """The stored results of a request; otherwise those of *search*, which are stored."""
        started = time.perf_counter()
        key = scope.key(request)
        found = self.read(key)
        seconds = time.perf_counter() - started
        if found is not None:
            return replace(found, seconds=seconds, steps={"cache": seconds})
        computed = search()
        if not computed.missing_shards:
            self._write(key, scope.generation, computed)
        return replace(computed, seconds=computed.seconds + seconds, steps={"cache": seconds, **computed.steps})

    def read(self, key: bytes) -> Results | None:
        """The stored results, or None."""

        def read(connection: sqlite3.Connection) -> Results | None:
            row = connection.execute(self._sql["read"], (key,)).fetchone()
            return None if row is None else _decoded(key, *row)

        return self._file.attempt(read)

    def keep_only(self, generations: Sequence[str]) -> None:
        """Removes the results of all other generations."""
        kept = orjson.dumps(generations).decode()
        self._file.attempt(lambda connection: connection.execute(self._sql["remove_other_generations"], (kept,)))

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute(self._sql["create"])
        if self._path.stat().st_size > self._limit:  # the setting was lowered
            connection.execute(self._sql["remove_all"])
            connection.execute("VACUUM")

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

        self._file.attempt(write)

    def _make_room(self, connection: sqlite3.Connection, size: int) -> None:
        """Removes the oldest entries until *size* more bytes fit."""
        while connection.execute(self._sql["used_bytes"]).fetchone()[0] + size > self._limit:
            if not connection.execute(self._sql["remove_oldest"], (_REMOVED_AT_ONCE,)).rowcount:
                break


def _digest(key: bytes, content: bytes) -> bytes:
    return xxhash.xxh3_128_digest(key + content)


def _decoded(key: bytes, digest: Any, content: Any) -> Results:
    if not isinstance(content, bytes) or digest != _digest(key, content):
        raise DamagedEntryError("an entry does not match its digest")
    try:
        found = orjson.loads(content)
        lists = {name: tuple(found[name]) for name in ("hints", "excluded", "left_out", "missing_shards")}
        return Results(**found | lists | {"hits": tuple(map(_hit, found["hits"]))})
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedEntryError(f"an entry cannot be read: {error}") from error


def _hit(found: dict[str, Any]) -> Hit:
    highlights = tuple((start, end) for start, end in found["highlights"])
    lists = {name: tuple(found[name]) for name in ("same_content", "missing")}
    return Hit(**found | lists | {"highlights": highlights})
