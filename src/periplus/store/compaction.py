"""Merges small segments into larger ones.

A long crawl writes thousands of small segments, and every reader opens all of them. Neighbours of the same worker are
merged in their order, row by row, so ranks and results stay the same. A merged segment is named after the first and the
last of its segments. It replaces them in the manifest in one transaction: a kill leaves the old or the new state.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pyarrow import parquet

from periplus.store.catalog import Catalog
from periplus.store.checksums import segment_file
from periplus.store.cleanup import remove_replaced, remove_unfinished
from periplus.store.collection import Collection
from periplus.store.database import require_sound
from periplus.store.durable import reporting_full_disk
from periplus.store.manifest import UNFINISHED_AGAIN, Place, SealedSegment, place_of, segment_name
from periplus.store.segments import open_writer, sealed

SMALL = 128 << 20  # bytes of a segment; larger ones are not merged
ENOUGH = 256 << 20  # bytes of a merged segment, at least, unless its neighbours are larger
FEWEST = 8  # small neighbours that are merged although they have fewer bytes
_ROW_GROUP = 4 << 20  # bytes in memory; limits the memory for copying
_KINDS = ("pages", "links")

OnProgress = Callable[[int, int], None]  # called with the segments that were merged, and those to merge


@dataclass(frozen=True, slots=True)
class Compaction:
    """The object that `compact --json` prints."""

    merged: int  # small segments that are now parts of larger ones
    segments: int  # in the manifest now
    bytes: int  # written
    seconds: float


class _Segment(NamedTuple):
    """The two files of a segment."""

    place: Place
    files: dict[str, SealedSegment]  # by kind

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files.values())

    @property
    def is_small(self) -> bool:
        return len(self.files) == len(_KINDS) and self.size < SMALL


def compact(
    collection: Collection, *, fewest: int = FEWEST, on_progress: OnProgress = lambda _done, _total: None
) -> Compaction:
    """Merge small neighbours: *fewest* or more of them, or as many as have enough bytes."""
    started = time.monotonic()
    merged = written = done = 0
    with collection.locked("reparse"), closing(Catalog(collection.catalog)) as catalog:
        remove_unfinished(collection)
        # An interrupted `reparse --everything` continues by the names of segments, so they stay until it is complete.
        groups = [] if collection.reparse_plan.exists() else list(_groups(collection.segments, catalog, fewest))
        if groups:
            require_sound(collection.catalog)
        for group in groups:
            if size := _merge(collection, catalog, group):
                merged, written = merged + len(group), written + size
            done += len(group)
            on_progress(done, sum(map(len, groups)))
        remove_replaced(collection, catalog)
        left = len(catalog.segments("pages"))
    return Compaction(merged, left, written, round(time.monotonic() - started, 3))


def _groups(folder: Path, catalog: Catalog, fewest: int) -> Iterator[list[_Segment]]:
    """The segments to merge into one each: small neighbours of one worker, revision and schema."""
    for (_, _, is_small), neighbours in groupby(_segments(catalog), _likeness):
        if is_small and len(run := list(neighbours)) > 1:
            for _, alike in groupby(run, lambda segment: _schemas(folder, segment)):
                yield from _split(alike, fewest)


def _segments(catalog: Catalog) -> list[_Segment]:
    """All segments, by worker and number: the order in which the index reads them."""
    files: dict[Place, dict[str, SealedSegment]] = defaultdict(dict)
    for file in catalog.segments():
        files[place_of(file.name)][file.kind] = file
    return [_Segment(place, files[place]) for place in sorted(files)]


def _likeness(segment: _Segment) -> tuple[int, int, bool]:
    return segment.place.worker, segment.place.revision, segment.is_small


def _schemas(folder: Path, segment: _Segment) -> bytes:
    """The columns and versions of both files; the name of a segment that cannot be read."""
    try:
        schemas = [parquet.read_schema(folder / segment.files[kind].name) for kind in _KINDS]
    except (pa.ArrowException, OSError):
        return segment.files["pages"].name.encode()
    return b"".join(schema.serialize().to_pybytes() for schema in schemas)


def _split(segments: Iterable[_Segment], fewest: int) -> Iterator[list[_Segment]]:
    """Groups of neighbours with enough bytes; the last ones only when they are many."""
    group: list[_Segment] = []
    for segment in segments:
        group.append(segment)
        if len(group) > 1 and sum(one.size for one in group) >= ENOUGH:
            yield group
            group = []
    if len(group) >= max(fewest, 2):
        yield group


def _merge(collection: Collection, catalog: Catalog, group: list[_Segment]) -> int:
    """Replace segments by one; returns its bytes, 0 when one of them is damaged, which `repair` can mend."""
    folder, first, last = collection.segments, group[0].place, group[-1].place.last
    files = {kind: [segment.files[kind] for segment in group] for kind in _KINDS}
    if any(segment_file(folder, file).damage() for kind in _KINDS for file in files[kind]):
        return 0
    successors = []
    with reporting_full_disk(collection.home):
        for kind in _KINDS:
            final = folder / segment_name(kind, first.worker, first.number, first.revision, last)
            successors.append(_joined(kind, [folder / file.name for file in files[kind]], final))
    old = ([file.name for file in files[kind]] for kind in _KINDS)
    catalog.merge_segments(zip(old, successors, strict=True), last)
    return sum(successor.size for successor in successors)


def _joined(kind: str, sources: list[Path], final: Path) -> SealedSegment:
    """Write the rows of several files to one, in order."""
    unfinished = final.with_name(final.name + UNFINISHED_AGAIN)
    rows = 0
    writer = open_writer(unfinished, kind, parquet.read_schema(sources[0]))
    try:
        for table in _row_groups(sources):
            writer.write_table(table)
            rows += table.num_rows
        writer.close()
    except BaseException:
        with suppress(OSError):  # on a full disk the footer cannot be written either
            writer.close()
        writer.is_open = False  # otherwise its destructor closes it again and raises
        unfinished.unlink(missing_ok=True)
        raise
    return sealed(kind, unfinished, final, rows)


def _row_groups(sources: list[Path]) -> Iterator[pa.Table]:
    """All rows in order; small row groups are put together."""
    waiting: list[pa.Table] = []
    for path in sources:
        with parquet.ParquetFile(path) as file:
            for number in range(file.num_row_groups):
                waiting.append(file.read_row_group(number))
                if sum(table.nbytes for table in waiting) >= _ROW_GROUP:
                    yield pa.concat_tables(waiting).combine_chunks()
                    waiting = []
    if waiting:
        yield pa.concat_tables(waiting).combine_chunks()
