"""Writes many rows with one statement: they are copied into a temporary table first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

import psycopg

from periplus.store.database.postgres.connection import Connection
from periplus.store.database.postgres.dialect import Bulk, bulk_statements

_FEWEST = 12  # rows for which a copy is faster than a statement for each
# Rows are found by an index, whatever the planner guesses from old statistics. A script is planned whenever it runs, so
# no plan that was made for a small table is kept when the table is large.
_SCRIPT = """
SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
{statement};
RESET enable_seqscan; RESET enable_hashjoin; RESET enable_mergejoin;
TRUNCATE {table}
"""
_STATEMENT = 3  # its position in the script
Row = tuple[Any, ...]
Cursor = psycopg.Cursor[Row]


class BulkWriter:
    """The temporary tables of one connection; they are empty outside of a transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._created: set[str] = set()

    def write(self, name: str, rows: Sequence[Row]) -> int | None:
        """Write the rows by the statement *name*; returns the number of changed rows, or None if it cannot."""
        bulk = bulk_statements().get(name)
        if bulk is None or len(rows) < _FEWEST or not _are_distinct(bulk, rows):
            return None
        self._create(bulk)
        cursor = self._connection.cursor()
        with cursor.copy(f"COPY {bulk.table} FROM STDIN".encode()) as copy:
            for row in rows:
                copy.write_row(row)
        return _changed(cursor.execute(_SCRIPT.format(statement=bulk.statement, table=bulk.table).encode()))

    def _create(self, bulk: Bulk) -> None:
        if bulk.table not in self._created:
            self._connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS {bulk.table} ({bulk.columns})".encode())
            self._created.add(bulk.table)


def _changed(cursor: Cursor) -> int:
    """The number of rows that the statement of the script has changed."""
    for _ in range(_STATEMENT):
        cursor.nextset()
    return cursor.rowcount


def _are_distinct(bulk: Bulk, rows: Iterable[Row]) -> bool:
    if not bulk.key:
        return True
    keys = list(map(itemgetter(*bulk.key), rows))
    return len(set(keys)) == len(keys)
