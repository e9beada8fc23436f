"""Replaces damaged segments: their pages are parsed from the archive again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from pyarrow import ArrowException

from periplus.config import Storage
from periplus.errors import DamagedFile
from periplus.inspector.verify import file_problems, positions_in
from periplus.model import COULD_NOT_BE_READ, Fetch
from periplus.parse.reader import PageReader
from periplus.store.archive.warc_files import read_response
from periplus.store.catalog.repair_catalog import RepairCatalog
from periplus.store.collection import Collection
from periplus.store.durable import reporting_full_disk
from periplus.store.manifest import PageRow, Place, SealedSegment, place_of
from periplus.store.segments.segment_writer import SegmentStream

_AT_ONCE = 256  # pages
_REPORTED = 10_240  # pages between two progress reports

OnProgress = Callable[[int, int], None]  # called with the pages parsed and the pages in total


class SegmentRepair(NamedTuple):
    """What was done: the segments that were dropped, and the number of pages that were parsed again."""

    dropped: list[str]
    pages: int


class SegmentRepairer:
    """Makes the segments of a collection contain every page version of the catalog exactly once."""

    def __init__(
        self,
        collection: Collection,
        catalog: RepairCatalog,
        settings: Storage,
        reader: PageReader,
        on_progress: OnProgress = lambda _done, _total: None,
    ) -> None:
        self._collection, self._catalog, self._settings, self._reader = collection, catalog, settings, reader
        self._on_progress = on_progress
        self._missing = {
            (fetch.position.name, fetch.position.offset)
            for file in catalog.archives()
            for fetch in catalog.fetches_in(file.archive_id)
            if fetch.is_version and fetch.position is not None
        }
        self._pages = 0

    def run(self) -> SegmentRepair:
        """Drop segments that are damaged or disagree with the catalog, and write their pages anew."""
        self._collection.segments.mkdir(exist_ok=True)
        dropped = [segment.name for pair in self._pairs() if not self._is_right(pair) for segment in pair]
        with reporting_full_disk(self._collection.home):
            for worker in self._catalog.archive_workers():
                self._write_missing(worker)
        self._catalog.drop_segments(dropped)
        self._remove_unlisted()
        return SegmentRepair(dropped, self._pages)

    def _pairs(self) -> Iterable[list[SealedSegment]]:
        """The two files of each segment, pages and links."""
        pairs: dict[Place, list[SealedSegment]] = defaultdict(list)
        for segment in self._catalog.segments():
            pairs[place_of(segment.name)].append(segment)
        return pairs.values()

    def _is_right(self, pair: list[SealedSegment]) -> bool:
        """Whether both files are undamaged, and their pages are in the catalog and in no other segment."""
        folder = self._collection.segments
        names = {segment.kind: segment.name for segment in pair}
        try:
            if len(names) < 2 or any(any(file_problems(folder / segment.name, segment)) for segment in pair):
                return False
            positions = list(positions_in(folder / names["pages"]))
        except (OSError, ArrowException):
            return False
        if len(set(positions)) < len(positions) or not self._missing.issuperset(positions):
            return False
        self._missing.difference_update(positions)
        return True

    def _write_missing(self, worker: int) -> None:
        """Parse the pages of a worker that no segment has, and write them into new segments."""
        total = len(self._missing)
        stream = SegmentStream(self._catalog, self._collection.segments, self._settings, worker)
        try:
            for file in self._catalog.archives(worker):
                for fetches in _groups(self._missing_in(file.archive_id)):
                    position = fetches[-1].position
                    assert position is not None
                    stream.add([self._row(fetch) for fetch in fetches], file.archive_id, position.offset)
                    if self._pages % _REPORTED == 0:
                        self._on_progress(self._pages, total)
                    self._pages += len(fetches)
                stream.add([], file.archive_id, file.committed)
            stream.seal()
        finally:
            stream.discard()

    def _missing_in(self, archive_id: int) -> Iterator[Fetch]:
        for fetch in list(self._catalog.fetches_in(archive_id)):
            position = fetch.position
            if fetch.is_version and position is not None and (position.name, position.offset) in self._missing:
                yield fetch

    def _row(self, fetch: Fetch) -> PageRow:
        assert fetch.position is not None
        response = read_response(self._collection.archive, fetch.position)
        sandboxed = self._reader.needs_sandbox(response) or fetch.decision.reason in COULD_NOT_BE_READ
        return PageRow(fetch, self._reader.parse(response, sandboxed=sandboxed))

    def _remove_unlisted(self) -> None:
        """Remove files that are in no manifest: all their pages are in other segments."""
        listed = {segment.name for segment in self._catalog.segments()}
        for path in self._collection.segments.glob("*.parquet"):
            if path.name not in listed and _is_segment(path.name):
                path.unlink()


def _groups(fetches: Iterator[Fetch]) -> Iterator[list[Fetch]]:
    group: list[Fetch] = []
    for fetch in fetches:
        group.append(fetch)
        if len(group) == _AT_ONCE:
            yield group
            group = []
    if group:
        yield group


def _is_segment(name: str) -> bool:
    try:
        place_of(name)
    except DamagedFile:
        return False
    return True
