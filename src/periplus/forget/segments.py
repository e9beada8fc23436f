"""Finds forgotten URLs in segments, and writes the segments without them.

Rows of forgotten pages and of their links go, and so do the links of other pages to them, with their anchor texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import compute as pc
from pyarrow import parquet

from periplus.store.block_list import BlockList
from periplus.store.catalog.queries import Queries
from periplus.store.collection import Collection
from periplus.store.manifest import SealedSegment
from periplus.store.segments.segment_rewrite import PairChange, segment_pairs, write_successors

_LISTS = ("images", "videos", "listed")  # columns with lists of records that have a URL


class SegmentEraser:
    """Removes the rows and values of segments that name what the block list blocks."""

    def __init__(self, blocked: BlockList) -> None:
        self._blocked = blocked

    def count(self, folder: Path, name: str) -> Counter[str]:
        """The number of pages, links and other values in a segment file that have to go."""
        found: Counter[str] = Counter()
        is_pages = name.startswith("pages")
        with parquet.ParquetFile(folder / name) as file:
            wanted = {"url", "canonical", *_LISTS} if is_pages else {"source_id", "source_host", "target"}
            columns = [column for column in file.schema_arrow.names if column in wanted]
            for number in range(file.num_row_groups):
                table = file.read_row_group(number, columns)
                if is_pages:
                    found["pages"] += _true(self._is_page(table))
                    found["mentions"] += self._mentions(table)
                else:
                    found["links"] += _true(self._is_link(table))
        return +found

    def successors(self, collection: Collection, catalog: Queries) -> Iterator[tuple[str, SealedSegment]]:
        """Write the successors of all segments that have something to remove."""
        for pair in segment_pairs(catalog):
            if any(self.count(collection.segments, file.name) for file in pair):
                yield from write_successors(collection.segments, pair, PairChange(self._pages, self._links))

    # -- pages ------------------------------------------------------------------------------------------------------

    def _is_page(self, table: pa.Table) -> pa.ChunkedArray:
        return _where(table["url"], self._blocked.blocks)

    def _mentions(self, table: pa.Table) -> int:
        """The number of canonical URLs, images, videos and feed entries that are forgotten."""
        found = _true(_where(table["canonical"], self._blocks))
        for column in self._lists_of(table):
            found += _true(_where(_urls_in(table[column]), self._blocks))
        return found

    def _lists_of(self, table: pa.Table) -> list[str]:
        return [column for column in _LISTS if column in table.column_names]

    def _blocks(self, url: str | None) -> bool:
        return bool(url) and self._blocked.blocks(str(url))

    def _pages(self, table: pa.Table) -> pa.Table:
        table = table.filter(pc.invert(self._is_page(table)))
        canonical = _where(table["canonical"], self._blocks)
        if _true(canonical):
            table = _with(table, "canonical", pc.if_else(canonical, "", table["canonical"]))
        for column in self._lists_of(table):
            if _true(_where(_urls_in(table[column]), self._blocks)):
                table = _with(table, column, self._filtered(table[column]))
        return table

    def _filtered(self, lists: pa.ChunkedArray) -> pa.Array:
        kept = ([one for one in row or () if not self._blocks(one["url"])] for row in lists.to_pylist())
        return pa.array(kept, lists.type)

    # -- links ------------------------------------------------------------------------------------------------------

    def _is_link(self, table: pa.Table) -> pa.ChunkedArray:
        """Whether each link is of a forgotten page, or leads to one."""
        of_page = pc.or_(
            _where(table["source_id"], self._blocked.blocks_id), _where(table["source_host"], self._blocked.blocks_host)
        )
        return pc.or_(of_page, _where(table["target"], self._blocked.blocks))

    def _links(self, table: pa.Table) -> pa.Table:
        return table.filter(pc.invert(self._is_link(table)))


def _where(values: pa.ChunkedArray, test: Callable[[Any], bool]) -> pa.ChunkedArray:
    """Whether each value passes a test, which is made once for each distinct value."""
    passing = [value for value in pc.unique(values).to_pylist() if value is not None and test(value)]
    return pc.is_in(values, pa.array(passing, values.type))


def _true(values: pa.ChunkedArray) -> int:
    return int(pc.sum(values).as_py() or 0)


def _urls_in(lists: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.struct_field(pc.list_flatten(lists), "url")


def _with(table: pa.Table, column: str, values: pa.Array) -> pa.Table:
    number = table.schema.get_field_index(column)
    return table.set_column(number, table.schema.field(number), values)


def count_in_segments(collection: Collection, catalog: Queries, blocked: BlockList) -> Counter[str]:
    """The rows and values of all live segments that have to go."""
    return count_in_files(collection.segments, (segment.name for segment in catalog.segments()), blocked)


def count_in_files(folder: Path, names: Iterable[str], blocked: BlockList) -> Counter[str]:
    """The rows and values of segment files that have to go."""
    eraser = SegmentEraser(blocked)
    return sum((eraser.count(folder, name) for name in names), Counter[str]())
