"""Which links are on a page?

The links of one segment are grouped by page, a part of the file at a time: DuckDB cannot move the groups to disk. Only
the first links of every page are held in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

_LINKS = 10  # links per page
_PART_ROWS = 100_000  # links that are grouped at once, in less than 64 MB
_NONE = pa.table(
    {
        "source_id": pa.array([], pa.binary()),
        "fetched_at": pa.array([], pa.float64()),
        "link_count": pa.array([], pa.int64()),
        "links": pa.array([], pa.list_(pa.string())),
    }
)


class OutLinks:
    """The number of links of every page of one segment, and the first of them."""

    def __init__(self, database: duckdb.DuckDBPyConnection, statement: str, path: Path | None) -> None:
        """*statement* is `links` in plan.sql; *path* is the segment of links, or None when there is none."""
        parts = [_NONE] if path is None else [_NONE, *_grouped(database, statement, path)]
        self._table = pa.concat_tables(parts, promote_options="permissive").combine_chunks()  # `take` copies chunks
        self._rows: dict[tuple[bytes, float], int] = {}
        self._continued: dict[int, list[int]] = {}  # row -> rows of the same page in later parts
        keys = (self._table[name].to_pylist() for name in ("source_id", "fetched_at"))
        for row, key in enumerate(zip(*keys, strict=True)):
            if (first := self._rows.setdefault(key, row)) != row:
                self._continued.setdefault(first, []).append(row)

    def of(self, pages: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """The columns `link_count` and `links` of each of these pages."""
        rows = [self._rows.get((page["url_id"], page["fetched_at"])) for page in pages]
        for row, first in zip(rows, self._values(rows), strict=True):
            continued = self._continued.get(row) if row is not None else None
            parts = [first, *self._values(continued)] if continued else [first]
            links = chain.from_iterable(links for _, links in parts)
            yield {"link_count": sum(count for count, _ in parts), "links": [*islice(links, _LINKS)]}

    def _values(self, rows: Sequence[int | None]) -> Iterator[tuple[int, list[str]]]:
        wanted = pa.array(rows, pa.int64())
        counts, links = (self._table[name].take(wanted).to_pylist() for name in ("link_count", "links"))
        return ((count or 0, first or []) for count, first in zip(counts, links, strict=True))


def _grouped(database: duckdb.DuckDBPyConnection, statement: str, path: Path) -> Iterator[pa.Table]:
    """The links of a segment by page, in parts; a page at the end of one part may go on in the next."""
    with pq.ParquetFile(path) as file, database.cursor() as cursor:  # the query of *database* itself is streamed
        for batch in file.iter_batches(_PART_ROWS, columns=["source_id", "fetched_at", "target"]):
            places = pa.array(np.arange(len(batch), dtype=np.int64))
            cursor.register("links_part", pa.Table.from_batches([batch]).append_column("place", places))
            yield cursor.sql(statement, params=[_LINKS]).to_arrow_table()
