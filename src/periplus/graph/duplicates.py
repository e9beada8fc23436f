"""Which addresses are one page?

Redirects lead anywhere. A page may name another address as its own only inside its registrable domain: anything else
would let a stranger vote in another's name. Pages of one host with the same bytes are one page.
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
_HOPS = 5  # each doubles the distance: chains of up to 32 are followed to their end

Redirect = tuple[str, str, float]  # address, where it leads, when that was seen


def merge_duplicates(tables: Tables, redirects: Iterable[Redirect]) -> None:
    """Make `folded`, every address that stands for another one; and what is left: `own`, `copies`, `introduced`."""
    tables.take("redirects", pa.RecordBatchReader.from_batches(REDIRECTS, _redirect_batches(redirects)))
    tables.make("latest")
    _follow(tables, "redirecting", "moved")
    tables.make("standing")
    wishes = _canonical_batches(tables.stream("wishes"))
    tables.take("canonicals", pa.RecordBatchReader.from_batches(CANONICALS, wishes))
    _follow(tables, "preferring", "preferred")
    for name in ("renamed", "own", "copies", "folded", "voting", "introduced"):
        tables.make(name)
    tables.drop("latest", "standing", "redirects", "canonicals", "moved", "preferred", "renamed")


def _follow(tables: Tables, start: str, result: str) -> None:
    """Replace every target by the end of its chain."""
    tables.make("folds", start)
    for _ in range(_HOPS):
        tables.make("further", "hop")
        tables.rename("further", "folds")
    tables.make(result, "arrived")
    tables.drop("folds")


def _redirect_batches(redirects: Iterable[Redirect]) -> Iterator[pa.RecordBatch]:
    waiting = iter(redirects)
    while some := list(islice(waiting, _ROWS_AT_ONCE)):
        rows = [(url_id(url), url_id(target), target, host_of(target), at) for url, target, at in some]
        yield _batch(rows, REDIRECTS)


def _canonical_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        found = zip(*(batch.column(name).to_pylist() for name in ("url_id", "host", "canonical")), strict=True)
        rows = [(page, url_id(url), url, host_of(url)) for page, host, url in found if _may_speak_for(host, url)]
        yield _batch(rows, CANONICALS)


def _batch(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    return pa.record_batch(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema
    )


def _may_speak_for(host: str, canonical: str) -> bool:
    return registrable_domain(host) == registrable_domain(host_of(canonical))
