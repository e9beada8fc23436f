"""Writes an archive file without some of its records, and the segments that refer to it with the new offsets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from periplus.errors import DamagedFile
from periplus.store.archive.archive_scan import Damage, Intact, scan
from periplus.store.archive.warc_files import archive_name, archive_revision, parse_archive_name
from periplus.store.catalog.batch import ArchiveFile
from periplus.store.catalog.prune_catalog import PruneCatalog, Replacement
from periplus.store.collection import Collection
from periplus.store.durable import move_into_place
from periplus.store.manifest import SealedSegment
from periplus.store.segments.segment_rewrite import PairChange, segment_pairs, write_successors

UNFINISHED = ".tmp"  # suffix of a file that is being written


def write_without(folder: Path, file: ArchiveFile, dropped: frozenset[int]) -> Replacement:
    """Write the next revision of an archive file, without the records at these offsets, their requests and fillers."""
    path, moved, size = folder / file.name, [], 0
    final = folder / archive_name(*parse_archive_name(file.name), archive_revision(file.name) + 1)
    unfinished = final.with_name(final.name + UNFINISHED)
    try:
        with path.open("rb") as source, unfinished.open("wb") as target:
            for part in _kept(path, file.committed, dropped):
                if part.record is not None:
                    moved.append((part.start, size))
                source.seek(part.start)
                size += target.write(source.read(part.end - part.start))
        move_into_place(unfinished, final)
    finally:
        unfinished.unlink(missing_ok=True)  # exists only after an error
    return Replacement(file, final.name, size, dropped, moved)


def _kept(path: Path, end: int, dropped: frozenset[int]) -> Iterator[Intact]:
    """The records that stay, in order; a request goes with its response."""
    request: Intact | None = None
    for part in scan(path):
        if part.start >= end:
            break
        if isinstance(part, Damage):
            raise DamagedFile(f"{path} is damaged", f"no readable record at {part.start}")
        is_dropped = part.start in dropped or part.is_filler
        if request is not None and not is_dropped:
            yield request
        request = part if part.is_request else None
        if not is_dropped and not part.is_request:
            yield part
    if request is not None:
        yield request


class SegmentMover:
    """Changes the rows of segments that refer to a replaced archive file."""

    def __init__(self, new: Replacement) -> None:
        self._new, self._moved = new, dict(new.moved)
        self._gone: set[tuple[bytes, float]] = set()  # URL id and time of the pages whose records are dropped

    def successors(self, collection: Collection, catalog: PruneCatalog) -> Iterator[tuple[str, SealedSegment]]:
        """Write the successors of all segments that refer to the file."""
        for pair in segment_pairs(catalog):
            table = parquet.read_table(
                collection.segments / pair.pages.name, columns=["archive", "offset", "url_id", "fetched_at"]
            )
            rows = zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
            here = [row for row in rows if row[0] == self._new.file.name]
            if here:
                self._gone = {(identity, at) for _, offset, identity, at in here if offset in self._new.dropped}
                yield from write_successors(collection.segments, pair, PairChange(self._pages, self._links))

    def _pages(self, table: pa.Table) -> pa.Table:
        names, offsets = table["archive"].to_pylist(), table["offset"].to_pylist()
        is_here = [name == self._new.file.name for name in names]
        is_kept = [not here or offset in self._moved for here, offset in zip(is_here, offsets, strict=True)]
        names = [self._new.name if here else name for here, name in zip(is_here, names, strict=True)]
        offsets = [self._moved.get(at, at) if here else at for here, at in zip(is_here, offsets, strict=True)]
        for column, values in (("archive", names), ("offset", offsets)):
            field = table.schema.field(column)
            table = table.set_column(table.schema.get_field_index(column), field, pa.array(values, field.type))
        return table.filter(pa.array(is_kept))

    def _links(self, table: pa.Table) -> pa.Table:
        if not self._gone:
            return table
        sources = zip(table["source_id"].to_pylist(), table["fetched_at"].to_pylist(), strict=True)
        return table.filter(pa.array([source not in self._gone for source in sources], pa.bool_()))
