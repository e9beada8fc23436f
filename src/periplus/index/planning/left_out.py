"""Which pages are left out of the index, and why?

Pages that are gone, redirected, or refused by their site or the SSRF guard, according to the catalog; pages that the
current scope refuses, except those imported in spite of it; and pages with `noindex`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from itertools import islice
from typing import Protocol

import duckdb
import pyarrow as pa

from periplus.model import Decision
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection
from periplus.url import url_id

_AT_ONCE = 50_000  # rows between Python and Arrow
_WITH_REASON = pa.schema([("url_id", pa.binary(16)), ("reason", pa.string())])
_VANISHED = pa.schema([("url_id", pa.binary(16)), ("visited", pa.float64()), ("reason", pa.string())])
_HOSTS = pa.schema([("host", pa.string()), ("reason", pa.string())])
_IDS = pa.schema([("url_id", pa.binary(16))])


class PageRules(Protocol):
    """Decides which pages may be indexed. The scope implements it; a refused page is left out."""

    def host_refusal(self, host: str) -> Decision | None:
        """Why no page of a host may be indexed, or None."""
        ...

    def refusal(self, url: str, host: str, depth: int) -> Decision | None:
        """Why a page may not be indexed, or None."""
        ...


def prepare(
    database: duckdb.DuckDBPyConnection, sql: Mapping[str, str], collection: Collection, rules: PageRules | None
) -> dict[str, int]:
    """Create the table `left_out` from `pages` and `versions`; returns the number of pages left out, by reason."""
    with closing(open_catalog(collection)) as catalog:
        blocked = catalog.block_list()  # also excludes what was imported in spite of the scope
        vanished = ((url_id(url), visited, reason) for url, visited, reason in catalog.vanished())
        database.register("vanished", _table(_VANISHED, vanished))
        imported = ((url_id(url),) for url in catalog.imported_out_of_scope() if not blocked.blocks(url))
        database.register("imported", _table(_IDS, imported))
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
    """Refused URLs of the hosts that are not refused; takes 2 µs per page."""
    for url, host in _rows(database, sql["newest"]):
        if (refusal := rules.refusal(url, host, 0)) is not None:
            yield url_id(url), refusal.reason.value


def _rows(database: duckdb.DuckDBPyConnection, query: str) -> Iterator[tuple[str, ...]]:
    for batch in database.sql(query).to_arrow_reader(_AT_ONCE):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _table(schema: pa.Schema, rows: Iterable[tuple[object, ...]]) -> pa.Table:
    """Convert the rows to a table in batches, to limit the memory for Python objects."""
    rows, batches = iter(rows), []
    while some := list(islice(rows, _AT_ONCE)):
        columns = [pa.array(values, kind) for values, kind in zip(zip(*some, strict=True), schema.types, strict=True)]
        batches.append(pa.record_batch(columns, schema=schema))
    return pa.Table.from_batches(batches, schema)
