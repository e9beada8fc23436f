"""Every statement of the catalog is one of PostgreSQL, too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from periplus.store.block_list import new_block_list
from periplus.store.database.postgres.bulk import BulkWriter
from periplus.store.database.postgres.database import _STREAMED, PostgresDatabase
from periplus.store.database.postgres.dialect import bulk_statements, statements, translated

_DEFINITIONS = {"keep_bodies", "drop_kept_bodies"}  # of temporary tables: they cannot be prepared


@pytest.fixture
def database(postgres: str) -> Iterator[PostgresDatabase]:
    with closing(PostgresDatabase(postgres, create=True)) as found:
        yield found


def test_every_statement_fits_the_tables(database: PostgresDatabase) -> None:
    database.define_forgotten(new_block_list())
    for name in ("drop_kept_bodies", "keep_bodies"):
        database.run(name)
    wrong = {}
    for name, text in statements().items():
        if name not in _DEFINITIONS:
            try:
                database._connection.execute(f"PREPARE p_{name} AS {text}".encode())
            except psycopg.Error as error:
                wrong[name] = str(error)
    assert not wrong
    assert len(statements()) > 150


def test_every_statement_for_many_rows_has_the_columns_of_the_one_for_one_row(database: PostgresDatabase) -> None:
    writer = BulkWriter(database._connection)
    for name, bulk in bulk_statements().items():
        writer._create(bulk)
        database._connection.execute(f"PREPARE bulk_{name} AS {bulk.statement}".encode())
        database._connection.execute(f"PREPARE one_{name} AS {statements()[name]}".encode())
        columns = database._connection.execute(f"SELECT * FROM {bulk.table}".encode()).description
        rows = database._connection.execute(
            "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = $1", (f"one_{name}",)
        ).fetchone()
        assert columns is not None
        assert rows == (len(columns),), name


def test_every_result_that_is_streamed_is_one_of_a_statement() -> None:
    assert set(statements()) >= _STREAMED


def test_placeholders_with_and_without_numbers_are_translated() -> None:
    assert translated("SELECT ?, ? -- what?\n, ?") == "SELECT $1, $2 \n, $3"
    assert translated("SELECT ?2, ?1, ?2") == "SELECT $2, $1, $2"
    assert translated("instr(a, b) > 0 AND due < 9e999") == "strpos(a, b) > 0 AND due < 'infinity'::float8"
