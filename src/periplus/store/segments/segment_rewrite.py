"""Writes the successor of a segment with some rows removed or changed.

The successor has the next revision in its name. It becomes live when the catalog replaces the segment by it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pyarrow import parquet

from periplus.store.catalog.queries import Queries
from periplus.store.checksums import segment_file
from periplus.store.manifest import UNFINISHED_AGAIN, Place, SealedSegment, place_of, segment_name
from periplus.store.segments.segment_writer import open_writer, sealed

Change = Callable[[pa.Table], pa.Table]


class SegmentPair(NamedTuple):
    """The two files of a segment."""

    pages: SealedSegment
    links: SealedSegment


class PairChange(NamedTuple):
    """What happens to the rows of the two files of a segment."""

    pages: Change
    links: Change


def segment_pairs(catalog: Queries) -> list[SegmentPair]:
    """The live segments, each with both files."""
    files: dict[Place, dict[str, SealedSegment]] = defaultdict(dict)
    for segment in catalog.segments():
        files[place_of(segment.name)][segment.kind] = segment
    return [
        SegmentPair(pair["pages"], pair["links"]) for pair in files.values() if len(pair) == len(SegmentPair._fields)
    ]


def write_successors(folder: Path, pair: SegmentPair, change: PairChange) -> list[tuple[str, SealedSegment]]:
    """Write the successors of both files of a segment; returns the name of each file, and its successor."""
    return [(file.name, _successor(folder, file, how)) for file, how in zip(pair, change, strict=True)]


def _successor(folder: Path, segment: SealedSegment, change: Change) -> SealedSegment:
    segment_file(folder, segment).require_intact()
    place = place_of(segment.name)
    final = folder / segment_name(segment.kind, place.worker, place.number, place.revision + 1, place.last)
    unfinished = final.with_name(final.name + UNFINISHED_AGAIN)
    try:
        rows = _write(folder / segment.name, unfinished, segment.kind, change)
        return sealed(segment.kind, unfinished, final, rows)
    finally:
        unfinished.unlink(missing_ok=True)  # exists only after an error


def _write(source: Path, target: Path, kind: str, change: Change) -> int:
    rows = 0
    with parquet.ParquetFile(source) as file:
        writer = open_writer(target, kind, file.schema_arrow)
        try:
            for number in range(file.num_row_groups):
                table = change(file.read_row_group(number))
                if table.num_rows:
                    writer.write_table(table)
                rows += table.num_rows
            writer.close()
        finally:
            with suppress(OSError):  # on a full disk the footer cannot be written either
                writer.close()
            writer.is_open = False  # otherwise its destructor closes it again and raises
    return rows
