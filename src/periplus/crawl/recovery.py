"""What did the last run leave unfinished?

A run that was killed leaves three things: archive bytes that were never acknowledged (cut off), temporary segment
files (removed), and acknowledged pages that no segment holds yet (parsed again). More archive bytes than a kill can
leave mean that the catalog is an older copy: they are kept aside.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from periplus.config import Storage
from periplus.crawl.commit import SegmentStream
from periplus.crawl.newer import KEPT, is_of_newer_catalog, set_aside
from periplus.crawl.reading import PageReader
from periplus.model import COULD_NOT_BE_READ
from periplus.store.archive import SUFFIX, numbered, read_response
from periplus.store.catalog import Catalog
from periplus.store.collection import Collection
from periplus.store.durable import reporting_full_disk
from periplus.store.manifest import UNFINISHED, place_of

_AT_ONCE = 256
_BEGUN_AT_ONCE = 2  # files past the last acknowledged one: one that is full but not committed, and its successor


def clear_leftovers(collection: Collection, catalog: Catalog, dead: int | None = None) -> list[Path]:
    """Remove what a killed run was writing, whichever of its workers, or only what one *dead* worker was writing.

    Nobody else writes there now. Returns the files in which pages were kept that a newer catalog may know.
    """
    for leftover in collection.segments.glob(f"*{UNFINISHED}"):
        if dead is None or place_of(leftover.name.removesuffix(UNFINISHED))[0] == dead:
            leftover.unlink()
    acknowledged = {file.name: file.committed for file in catalog.archives(dead)}
    last = Counter(worker for worker, _ in map(numbered, acknowledged))
    kept = []
    for path in sorted(collection.archive.glob(f"*{SUFFIX}")):
        worker, number = numbered(path.name)
        is_begun = last[worker] < number <= last[worker] + _BEGUN_AT_ONCE
        start = acknowledged.get(path.name, 0)
        if dead not in (None, worker) or (path.name not in acknowledged and number <= last[worker]):
            continue
        if path.stat().st_size > start and is_of_newer_catalog(path, start, alone=not start and not is_begun):
            kept.append(set_aside(path, start, collection.home / KEPT))
            is_begun = is_begun or not start
        if path.name in acknowledged:
            os.truncate(path, min(start, path.stat().st_size))
        elif is_begun:
            path.unlink()
    return kept


def recover(collection: Collection, catalog: Catalog, settings: Storage, reader: PageReader, worker: int) -> int:
    """Bring the segments of a worker up to its archive; returns how many pages were parsed again."""
    stream = SegmentStream(catalog, collection.segments, settings, worker)
    try:
        with reporting_full_disk(collection.home):
            return _catch_up(collection, catalog, stream, reader, worker)
    finally:
        stream.discard()


def _catch_up(collection: Collection, catalog: Catalog, stream: SegmentStream, reader: PageReader, worker: int) -> int:
    parsed = 0
    for file in catalog.archives(worker):
        if file.sealed >= file.committed:
            continue
        rows = []
        for fetch in list(catalog.fetches_in(file.archive_id, file.sealed)):
            if not fetch.is_version or fetch.position is None:
                continue
            response = read_response(collection.archive, fetch.position)
            aside = reader.is_read_aside(response) or fetch.decision.reason in COULD_NOT_BE_READ
            rows.append(reader.row(fetch, reader.parse(response, aside=aside)))
            if len(rows) >= _AT_ONCE:
                parsed += len(rows)
                stream.add(rows, file.archive_id, fetch.position.offset + fetch.position.length)
                rows = []
        parsed += len(rows)
        stream.add(rows, file.archive_id, file.committed)
    stream.seal()
    return parsed
