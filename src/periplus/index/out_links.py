"""Which links are on a page?

The links of one segment are grouped by page. Only the first links of every page are held in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

_LINKS = 10  # links per page
_NONE = pa.table({"link_count": pa.array([], pa.int64()), "links": pa.array([], pa.list_(pa.string()))})


class OutLinks:
    """The number of links of every page of one segment, and the first of them."""

    def __init__(self, database: duckdb.DuckDBPyConnection, statement: str, path: Path | None) -> None:
        """*statement* is `links` in build.sql; *path* is the segment of links, or None when there is none."""
        self._table, self._rows = _NONE, dict[tuple[bytes, float], int]()
        if path is not None:
            with database.cursor() as cursor:  # a query on *database* itself would end a query that it streams
                self._table = cursor.sql(statement, params=[_LINKS, str(path)]).to_arrow_table()
            ids, times = self._table["source_id"].to_pylist(), self._table["fetched_at"].to_pylist()
            self._rows = {key: row for row, key in enumerate(zip(ids, times, strict=True))}

    def of(self, pages: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """The columns `link_count` and `links` of each of these pages."""
        rows = pa.array([self._rows.get((page["url_id"], page["fetched_at"])) for page in pages], pa.int64())
        counts, links = (self._table[name].take(rows).to_pylist() for name in ("link_count", "links"))
        for count, first in zip(counts, links, strict=True):
            yield {"link_count": count or 0, "links": first or []}
