"""Remembers queries that were searched on several days, for completion; off unless the owner switches it on.

The log has the text of a query, the number of days and the last day: no address, no time, no user. Only a query that
was searched on five different days is suggested, so that nobody sees what one person typed once.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from periplus.search.cache.shared_file import SharedFile
from periplus.store.database.sql_files import read_statements

QUERY = "query"  # the source of a suggestion
_LONGEST = 80  # characters
_MOST_QUERIES = 100_000
_REMOVED_AT_ONCE = 10_000
_KEPT_DAYS = 400
_DAY = 86_400  # seconds


class QueryLog:
    """Counts the days on which a query was searched; safe to share between threads and processes."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._sql, self._clock = read_statements("periplus.search.suggest", "query_log.sql"), clock
        self._file = SharedFile(path, "the query log", self._prepare)
        self._day, self._added = 0, set[str]()  # queries of this day that need not be written again

    def add(self, query: str) -> None:
        """Counts a query that has found something; at most once a day."""
        text, day = normalized(query), int(self._clock() // _DAY)
        if day != self._day or len(self._added) >= _MOST_QUERIES:
            self._day, self._added = day, set()
        if text in self._added or not 0 < len(text) <= _LONGEST:
            return
        self._added.add(text)
        self._file.attempt(lambda connection: self._write(connection, text, day))

    def beginning(self, prefix: str, most: int) -> list[str]:
        """The queries that begin with *prefix*, were searched on five days or more, and are longer; most days first."""
        text = normalized(prefix) + (" " if prefix[-1:].isspace() else "")
        rows = self._file.attempt(lambda file: file.execute(self._sql["beginning"], (text, most)).fetchall())
        return [query for (query,) in rows or ()]

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute(self._sql["create"])
        connection.execute(self._sql["create_index"])
        connection.execute(self._sql["forget_old"], (int(self._clock() // _DAY) - _KEPT_DAYS,))
        self._make_room(connection)

    def _write(self, connection: sqlite3.Connection, text: str, day: int) -> None:
        connection.execute(self._sql["add"], (text, day))
        if len(self._added) % _REMOVED_AT_ONCE == 0:
            self._make_room(connection)

    def _make_room(self, connection: sqlite3.Connection) -> None:
        if connection.execute(self._sql["count"]).fetchone()[0] > _MOST_QUERIES:
            connection.execute(self._sql["forget_rare"], (_REMOVED_AT_ONCE,))


def normalized(query: str) -> str:
    """A query in lower case, with single spaces."""
    return " ".join(query.encode("utf-8", "replace").decode().lower().split())
