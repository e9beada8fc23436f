"""Which pages are left out of the index, and why?

Pages that are gone, have moved or are refused by their site or our guard, as the catalog knows; pages that the scope
refuses today, unless an import took them although the scope refused them; and pages that ask for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from itertools import islice
from typing import Protocol

import duckdb
import pyarrow as pa

from periplus.model import Decision
from periplus.store.catalog import Catalog
from periplus.store.collection import Collection
from periplus.url import url_id

_AT_ONCE = 50_000  # rows between Python and Arrow
_WITH_REASON = pa.schema([("url_id", pa.binary(16)), ("reason", pa.string())])
_VANISHED = pa.schema([("url_id", pa.binary(16)), ("visited", pa.float64()), ("reason", pa.string())])
_HOSTS = pa.schema([("host", pa.string()), ("reason", pa.string())])
_IDS = pa.schema([("url_id", pa.binary(16))])


class PageRules(Protocol):
    """Which pages may be shown: the scope, asked while an index is built. A refused page is left out."""

    def host_refusal(self, host: str) -> Decision | None:
        """Why no page of a host may be shown, or None."""
        ...

    def refusal(self, url: str, host: str, depth: int) -> Decision | None:
        """Why a page may not be shown, or None."""
        ...


def prepare(
    database: duckdb.DuckDBPyConnection, sql: Mapping[str, str], collection: Collection, rules: PageRules | None
) -> dict[str, int]:
    """Make the table `left_out` from `pages` and `versions`; returns how many pages are left out, by reason."""
    with closing(Catalog(collection.catalog)) as catalog:
        vanished = ((url_id(url), visited, reason) for url, visited, reason in catalog.vanished())
        database.register("vanished", _table(_VANISHED, vanished))
        database.register("imported", _table(_IDS, ((url_id(url),) for url in catalog.imported_out_of_scope())))
    hosts = list(_refused_hosts(database, sql, rules)) if rules is not None else []
    database.register("refused_hosts", _table(_HOSTS, hosts))
    urls = _refused_urls(database, sql, rules) if rules is not None else ()
    database.register("refused_urls", _table(_WITH_REASON, urls))
    database.execute(sql["left_out"])
    return dict(database.execute(sql["count_left_out"]).fetchall())


def _refused_hosts(
    database: duckdb.DuckDBPyConnection, sql: Mapping[str, str], rules: PageRules
) -> Iterator[tuple[str, str]]:
    for (host,) in _rows(database, sql["hosts"]):
        if (refusal := rules.host_refusal(host)) is not None:
            yield host, refusal.reason.value


def _refused_urls(
    database: duckdb.DuckDBPyConnection, sql: Mapping[str, str], rules: PageRules
) -> Iterator[tuple[bytes, str]]:
    """Of the hosts that are not refused: 2 µs a page."""
    for url, host in _rows(database, sql["newest"]):
        if (refusal := rules.refusal(url, host, 0)) is not None:
            yield url_id(url), refusal.reason.value


def _rows(database: duckdb.DuckDBPyConnection, question: str) -> Iterator[tuple[str, ...]]:
    for batch in database.sql(question).to_arrow_reader(_AT_ONCE):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _table(schema: pa.Schema, rows: Iterable[tuple[object, ...]]) -> pa.Table:
    """The rows as a table; in Python, only some of them are in memory at a time."""
    rows, batches = iter(rows), []
    while some := list(islice(rows, _AT_ONCE)):
        columns = [pa.array(values, kind) for values, kind in zip(zip(*some, strict=True), schema.types, strict=True)]
        batches.append(pa.record_batch(columns, schema=schema))
    return pa.Table.from_batches(batches, schema)
