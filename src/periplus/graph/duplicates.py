"""Finds the URLs that are one page, and merges them.

A redirect may lead to any host. rel=canonical counts only within the registrable domain of the page: otherwise a page
could take over the links of another site. Pages of one host with the same bytes are one page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import pyarrow as pa

from periplus.graph.sql_tables import Tables
from periplus.url import host_of, registrable_domain, url_id

_ID = pa.binary(16)
CANONICALS = pa.schema([("url_id", _ID), ("target_id", _ID), ("url", pa.string()), ("host", pa.string())])
REDIRECTS = CANONICALS.append(pa.field("seen_at", pa.float64()))
_ROWS_AT_ONCE = 1 << 16
_HOPS = 5  # each doubles the distance, so chains of up to 32 redirects are followed

Redirect = tuple[str, str, float]  # URL, target, time


def merge_duplicates(tables: Tables, redirects: Iterable[Redirect]) -> None:
    """Create `merged`, the URLs that are merged into others, and `own`, `copies`, `voting` and `merge_targets`."""
    tables.take("redirects", pa.RecordBatchReader.from_batches(REDIRECTS, _redirect_batches(redirects)))
    tables.make("latest")
    _follow(tables, "redirecting", "moved")
    tables.make("standing")
    canonicals = _canonical_batches(tables.stream("canonical_links"))
    tables.take("canonicals", pa.RecordBatchReader.from_batches(CANONICALS, canonicals))
    _follow(tables, "preferring", "preferred")
    for name in ("renamed", "own", "copies", "merged", "voting", "merge_targets"):
        tables.make(name)
    tables.drop("latest", "standing", "redirects", "canonicals", "moved", "preferred", "renamed")


def _follow(tables: Tables, start: str, result: str) -> None:
    """Replace every target by the end of its chain of redirects."""
    tables.make("merges", start)
    for _ in range(_HOPS):
        tables.make("further", "next_hop")
        tables.rename("further", "merges")
    tables.make(result, "chain_ends")
    tables.drop("merges")


def _redirect_batches(redirects: Iterable[Redirect]) -> Iterator[pa.RecordBatch]:
    waiting = iter(redirects)
    while some := list(islice(waiting, _ROWS_AT_ONCE)):
        rows = [(url_id(url), url_id(target), target, host_of(target), at) for url, target, at in some]
        yield _batch(rows, REDIRECTS)


def _canonical_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        found = zip(*(batch.column(name).to_pylist() for name in ("url_id", "host", "canonical")), strict=True)
        rows = [(page, url_id(url), url, host_of(url)) for page, host, url in found if _is_same_domain(host, url)]
        yield _batch(rows, CANONICALS)


def _batch(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    return pa.record_batch(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema
    )


def _is_same_domain(host: str, canonical: str) -> bool:
    return registrable_domain(host) == registrable_domain(host_of(canonical))
