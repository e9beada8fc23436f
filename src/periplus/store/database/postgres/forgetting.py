"""Gives `periplus forget` its functions in PostgreSQL, and erases what it has deleted.

The server cannot test whether a text is on the block list: the list has keyed hashes. So this process reads every text
once, and writes those that are forgotten into temporary tables, which the functions look up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing

import psycopg

from periplus.store.block_list import BlockList
from periplus.store.database.postgres.connection import Connection, identifier

_TABLES = (
    'CREATE TEMP TABLE IF NOT EXISTS forgotten_names (kind text, name text COLLATE "C", PRIMARY KEY (kind, name))',
    "CREATE TEMP TABLE IF NOT EXISTS scrubbed_texts (digest bytea PRIMARY KEY, scrubbed text)",
    "TRUNCATE forgotten_names, scrubbed_texts",
)
_FUNCTIONS = (
    *(
        f"""CREATE OR REPLACE FUNCTION pg_temp.{name}(given text) RETURNS boolean LANGUAGE sql STABLE AS
        $$ SELECT EXISTS (SELECT 1 FROM pg_temp.forgotten_names WHERE kind = '{kind}' AND name = given) $$"""
        for name, kind in (("forgotten", "url"), ("forgotten_host", "host"), ("forgotten_origin", "origin"))
    ),
    """CREATE OR REPLACE FUNCTION pg_temp.scrubbed(given text) RETURNS text LANGUAGE sql STABLE AS
    $$ SELECT coalesce((SELECT scrubbed FROM pg_temp.scrubbed_texts
                        WHERE digest = sha256(convert_to(given, 'UTF8'))), given) $$""",
)
_ROWS_AT_ONCE = 5_000
_WAIT = "10s"  # for a process that reads a table


def define(connection: Connection, reader: Connection, columns: Iterable[tuple[str, str]], blocked: BlockList) -> None:
    """Create the functions of a block list for this connection; *reader* reads every text of the database."""
    for statement in _TABLES:
        connection.execute(statement.encode())
    for table, column in columns:
        _add(connection, _texts(reader, table, column), column, blocked)
    connection.execute("ANALYZE forgotten_names; ANALYZE scrubbed_texts")
    for statement in _FUNCTIONS:
        connection.execute(statement.encode())


def _texts(reader: Connection, table: str, column: str) -> Iterator[str]:
    statement = f"SELECT {identifier(column)} FROM {identifier(table)} WHERE {identifier(column)} <> ''"
    with reader.transaction(), closing(psycopg.RawServerCursor(reader, "texts")) as cursor:
        cursor.itersize = _ROWS_AT_ONCE
        for (text,) in cursor.execute(statement.encode()):
            yield text


def _add(connection: Connection, texts: Iterable[str], column: str, blocked: BlockList) -> None:
    """Add the forgotten ones of the texts of a column."""
    for text in texts:
        scrubbed = blocked.scrubbed(text)
        if scrubbed != text:
            connection.execute(
                "INSERT INTO scrubbed_texts VALUES (sha256(convert_to($1, 'UTF8')), $2) ON CONFLICT DO NOTHING",
                (text, scrubbed),
            )
        for kind in _kinds(text, column, blocked):
            connection.execute("INSERT INTO forgotten_names VALUES ($1, $2) ON CONFLICT DO NOTHING", (kind, text))


def _kinds(text: str, column: str, blocked: BlockList) -> Iterator[str]:
    """As what a text is forgotten."""
    if column == "host" and blocked.blocks_host(text):
        yield "host"
    if column == "origin" and "://" in text and blocked.blocks_host_of(text):
        yield "origin"
    if text.startswith(("http://", "https://")) and blocked.blocks(text):
        yield "url"


def erase_deleted(connection: Connection) -> bool:
    """Rewrite every table; False: a process still reads the old rows of one."""
    tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()").fetchall()
    try:
        connection.execute(f"SET lock_timeout = '{_WAIT}'".encode())
        for (table,) in tables:
            connection.execute(f"VACUUM (FULL) {identifier(table)}".encode())
        connection.execute("RESET lock_timeout")
    except psycopg.errors.LockNotAvailable:
        return False
    return True
