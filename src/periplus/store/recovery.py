"""Adds acknowledged pages that are in no segment yet, because the run that fetched them was killed."""

from __future__ import annotations

from typing import Protocol

from periplus.config import Storage
from periplus.model import COULD_NOT_BE_READ, Page, Response
from periplus.store.archive_lookup import read_archived
from periplus.store.catalog import Catalog
from periplus.store.collection import Collection
from periplus.store.durable import reporting_full_disk
from periplus.store.manifest import PageRow
from periplus.store.segments import SegmentStream

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
    for file in catalog.archives(worker):
        if file.sealed >= file.committed:
            continue
        rows = []
        for fetch in list(catalog.fetches_in(file.archive_id, file.sealed)):
            if not fetch.is_version or fetch.position is None:
                continue
            response = read_archived(collection, fetch.position)
            sandboxed = reader.needs_sandbox(response) or fetch.decision.reason in COULD_NOT_BE_READ
            rows.append(PageRow(fetch, reader.parse(response, sandboxed=sandboxed)))
            if len(rows) >= _AT_ONCE:
                parsed += len(rows)
                stream.add(rows, file.archive_id, fetch.position.offset + fetch.position.length)
                rows = []
        parsed += len(rows)
        stream.add(rows, file.archive_id, file.committed)
    stream.seal()
    return parsed
