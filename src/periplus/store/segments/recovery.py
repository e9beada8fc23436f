"""Adds acknowledged pages that are in no segment yet, because the run that fetched them was killed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from periplus.config import Storage
from periplus.model import COULD_NOT_BE_READ, Page, Response
from periplus.store.archive.archive_lookup import read_archived
from periplus.store.archive.warc_files import parse_archive_name
from periplus.store.catalog.batch import ArchiveFile
from periplus.store.catalog.catalog import Catalog
from periplus.store.collection import Collection
from periplus.store.durable import reporting_full_disk
from periplus.store.manifest import PageRow
from periplus.store.segments.segment_writer import SegmentStream

_AT_ONCE = 256


class Reader(Protocol):
    """Parses archived responses again."""

    def needs_sandbox(self, response: Response) -> bool:
        """Whether the sandbox parses a response."""
        ...

    def parse(self, response: Response, *, sandboxed: bool) -> Page:
        """Parse a response, in the sandbox or here."""
        ...


def recover(collection: Collection, catalog: Catalog, settings: Storage, reader: Reader, worker: int) -> int:
    """Write segments for all acknowledged pages of a worker; returns the number of parsed pages."""
    stream = SegmentStream(catalog, collection.segments, settings, worker, is_stored=not collection.uploads_files)
    try:
        with reporting_full_disk(collection.home):
            return _catch_up(collection, catalog, stream, reader, worker)
    finally:
        stream.discard()


def _catch_up(collection: Collection, catalog: Catalog, stream: SegmentStream, reader: Reader, worker: int) -> int:
    parsed = 0
    for file in catalog.unsealed_archives(worker):
        if parse_archive_name(file.name)[0] != worker:
            continue  # of a lost worker: see `crawl/coordination/lost_nodes.py`
        for rows, size in unsealed_pages(collection, catalog, reader, file):
            parsed += len(rows)
            stream.add(rows, file.archive_id, size)
    stream.seal()
    return parsed


def unsealed_pages(
    collection: Collection, catalog: Catalog, reader: Reader, file: ArchiveFile
) -> Iterator[tuple[list[PageRow], int]]:
    """Parse the acknowledged pages of an archive file that are in no segment.

    Returns them in batches, each with the size of the file up to its last page.
    """
    rows = []
    for fetch in list(catalog.fetches_in(file.archive_id, file.sealed)):
        if not fetch.is_version or fetch.position is None:
            continue
        response = read_archived(collection, fetch.position)
        sandboxed = reader.needs_sandbox(response) or fetch.decision.reason in COULD_NOT_BE_READ
        rows.append(PageRow(fetch, reader.parse(response, sandboxed=sandboxed)))
        if len(rows) >= _AT_ONCE:
            yield rows, fetch.position.offset + fetch.position.length
            rows = []
    yield rows, file.committed
