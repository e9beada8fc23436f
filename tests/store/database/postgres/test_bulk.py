"""Many rows are written at once, with the same result as one by one, and without reading a whole table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from periplus.model import UrlState
from periplus.store.catalog.batch import Batch, admission_row, settled_row
from periplus.store.catalog.catalog import Catalog
from periplus.store.database.postgres.bulk import _SCRIPT, BulkWriter
from periplus.store.database.postgres.database import PostgresDatabase
from periplus.store.database.postgres.dialect import bulk_statements
from store.records import WRITTEN, done, queued, retried

NUMBER = 3_000
_SETTINGS = _SCRIPT.partition("{statement}")[0]


@pytest.fixture
def database(postgres: str) -> Iterator[PostgresDatabase]:
    with closing(PostgresDatabase(postgres, create=True)) as found:
        yield found


def admitted(database: PostgresDatabase, number: int) -> list[str]:
    urls = [f"https://example.org/{page:06}" for page in range(number)]
    with database.transaction():
        rows = [(*admission_row(queued(url)), 1, 5.0) for url in urls]
        assert database.many("admit", rows) == number
    return urls


@pytest.mark.parametrize("name", ["settle", "revisit", "apply_sitemap_date"])
def test_a_batch_reads_its_own_urls_and_not_the_table(database: PostgresDatabase, name: str) -> None:
    """Also before the server has counted the rows of the table: it takes nearly no URL for a queued one."""
    admitted(database, NUMBER)
    bulk, connection = bulk_statements()[name], database._connection
    BulkWriter(connection)._create(bulk)
    with connection.transaction():
        connection.execute(_SETTINGS.encode())
        plan = "\n".join(row[0] for row in connection.execute(f"EXPLAIN {bulk.statement}".encode()))
    assert "Index Scan using urls_pkey" in plan, plan


def test_a_row_that_is_there_twice_is_written_twice(database: PostgresDatabase) -> None:
    urls = admitted(database, 20)
    first = [settled_row(retried(queued(url), due=9.0), 6.0) for url in urls]
    with database.transaction():
        assert database.many("settle", [*first, settled_row(done(queued(urls[0])), 6.0)]) == 21
    states = [(database.record("url", url) or {})["state"] for url in urls[:2]]
    assert states == [UrlState.DONE, UrlState.QUEUED]


def test_few_rows_and_many_have_the_same_result(database: PostgresDatabase) -> None:
    items = [queued(f"https://a.example/{page}") for page in range(40)]
    with closing(Catalog(database)) as catalog:
        catalog.commit(Batch(admitted=items[:5], settled=list(map(done, items[:5]))), WRITTEN, 1, {})
        catalog.commit(Batch(admitted=items[5:], settled=list(map(done, items[5:]))), WRITTEN, 1, {})
        found: list[dict[str, Any]] = [catalog.url(item.url) or {} for item in (items[0], items[9])]
        fetches = [catalog.fetches_of(item.url) for item in (items[0], items[9])]
        assert catalog.counters() == catalog.recount()
        assert catalog.miscounted_hosts() == []
    own = ("url", "first_seen", "changed")
    assert [{key: value for key, value in row.items() if key not in own} for row in found][:1] * 2 == [
        {key: value for key, value in row.items() if key not in own} for row in found
    ]
    assert [len(one) for one in fetches] == [1, 1]
    same = [one[0]._replace(url="", content_id=b"") for one in fetches]
    assert same[0] == same[1]


def test_rows_of_an_undone_transaction_are_not_in_the_next_one(database: PostgresDatabase) -> None:
    rows = [(*admission_row(queued(f"https://a.example/{page}")), 1, 5.0) for page in range(30)]
    with database.trial():
        assert database.many("admit", rows) == 30
    with database.transaction():
        assert database.many("admit", rows[:15]) == 15


def test_a_character_that_postgres_cannot_store_is_replaced(database: PostgresDatabase) -> None:
    with database.transaction():
        database.run("add_seed", "https://a.example/\0", 1.0)
        rows = [(*admission_row(queued(f"https://a.example/{page}", via="a\0b")), 1, 5.0) for page in range(30)]
        assert database.many("admit", rows) == 30
    assert [*database.rows("seeds")] == [("https://a.example/\ufffd",)]
    assert (database.record("url", "https://a.example/7") or {})["via"] == "a\ufffdb"
