"""Creates and migrates the tables of the catalog in PostgreSQL; one process at a time."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import Any

from periplus.errors import CollectionError, NewerFormat, NoCollection
from periplus.store.database.postgres.connection import Connection, identifier
from periplus.store.database.postgres.dialect import PACKAGE

_VERSION_TABLE = "schema_version"
_MAY_CREATE = "has_database_privilege(current_database(), 'CREATE')"
# A schema of the search path in which this user sees no table, because he may not look into it.
_HIDDEN = """SELECT nspname FROM pg_namespace WHERE NOT has_schema_privilege(oid, 'USAGE')
AND nspname = ANY(string_to_array(replace(replace(current_setting('search_path'), '"', ''), ' ', ''), ',')) LIMIT 1"""
_GRANT = "Grant the user CREATE on the database and all rights on its schema."
# Workers of the release before must not write the new tables. Batches under way end first; later ones are refused.
_FENCE_OFF = """UPDATE fleet_workers SET token = token + 1;
UPDATE leases SET token = token + 1, is_live = 0, ends = least(ends, clock_timestamp());
UPDATE shares SET owner = NULL, after_kill = 1 WHERE owner IS NOT NULL"""


@lru_cache(maxsize=1)
def _migrations() -> list[tuple[int, str]]:
    folder = resources.files(PACKAGE).joinpath("migrations")
    files = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [(int(name[:4]), folder.joinpath(name).read_text(encoding="utf-8")) for name in files]


def migrate(connection: Connection, place: str, *, create: bool) -> None:
    """Bring the tables to the schema of this release; *create* allows a database without them.

    Workers of an earlier release lose their leases, and end: their release refuses the new schema.
    """
    latest = _migrations()[-1][0]
    if _schema_of(connection, place) == latest:
        return  # the usual case needs no lock
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtext('periplus.migrate'))")
        version = _schema_of(connection, place)  # another process may have migrated meanwhile
        if not version and not create:
            raise _no_catalog(place)
        _run(connection, version)


def _run(connection: Connection, version: int) -> None:
    if not version:
        _create_schema(connection)
        connection.execute(f"CREATE TABLE {_VERSION_TABLE} (version INTEGER NOT NULL)".encode())
        connection.execute(f"INSERT INTO {_VERSION_TABLE} VALUES (0)".encode())
    elif _value(connection, "SELECT to_regclass('fleet_workers')") is not None:
        connection.execute(_FENCE_OFF.encode())
    for number, script in _migrations():
        if number > version:
            connection.execute(script.encode())
            connection.execute(f"UPDATE {_VERSION_TABLE} SET version = $1".encode(), (number,))


def _create_schema(connection: Connection) -> None:
    """Create the schema of the search path, which may be one that only its owner can create."""
    if _value(connection, "SELECT current_schema()") is None:
        path = str(_value(connection, "SELECT current_setting('search_path')"))
        name = path.split(",", maxsplit=1)[0].strip(' "')
        connection.execute(f"CREATE SCHEMA {identifier(name)}".encode())


def require_current_schema(connection: Connection, place: str) -> None:
    """Refuse the tables of another release."""
    version, latest = _schema_of(connection, place), _migrations()[-1][0]
    if not version:
        raise _no_catalog(place)
    if version < latest:
        raise CollectionError(
            f"{place} has schema {version}", f"this release reads schema {latest}", "`periplus status` migrates it."
        )


def tables_state(connection: Connection, place: str) -> str:
    """The version of the tables in a few words; raises an error when this release or this user cannot write them."""
    version, latest = _schema_of(connection, place), _migrations()[-1][0]
    may_write = "has_table_privilege('urls', 'INSERT, UPDATE, DELETE')" if version else _MAY_CREATE
    if not _value(connection, f"SELECT {may_write} AND NOT pg_is_in_recovery()"):
        raise CollectionError(
            f"{place} cannot be written",
            "the user has no right to, or the server is a standby",
            f"{_GRANT[:-1]}, or name the primary server.",
        )
    if not version:
        return "reachable, no tables yet"
    return f"reachable, schema {version}" + (f", to be migrated to {latest}" if version < latest else "")


def _schema_of(connection: Connection, place: str) -> int:
    """The version of the tables; 0: there are none."""
    if _value(connection, f"SELECT to_regclass('{_VERSION_TABLE}')") is None:
        if _value(connection, _HIDDEN):
            raise CollectionError(f"{place} cannot be read", "the user may not use its schema", _GRANT)
        return 0
    version, latest = int(_value(connection, f"SELECT version FROM {_VERSION_TABLE}")), _migrations()[-1][0]
    if version > latest:
        raise NewerFormat(
            f"{place} has schema {version}", f"this release supports schemas up to {latest}", "Use a later release."
        )
    return version


def _no_catalog(place: str) -> NoCollection:
    return NoCollection(
        f"{place} has no catalog", "its tables do not exist", "`periplus crawl URL` or `periplus up` creates them."
    )


def _value(connection: Connection, statement: str) -> Any:
    row = connection.execute(statement.encode()).fetchone()
    return None if row is None else row[0]
