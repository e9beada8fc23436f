"""Which acknowledged pages does no segment hold yet, because the run that fetched them was killed?

Were these bytes of the archive acknowledged by a catalog that is newer than ours?

Somebody may have restored an older copy of `crawl.db`. What the archive holds beyond it looks like what a kill leaves,
but for one thing: a kill leaves at most one batch of a commit, and a batch is gathered within seconds.

What did a run that was killed leave behind, beside what it acknowledged?

Archive bytes that were never acknowledged are cut off, temporary segment files removed. More archive bytes than a kill
can leave mean that the catalog is an older copy: they are kept aside.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Protocol

from periplus.config import Storage
from periplus.errors import DamagedFile
from periplus.model import COULD_NOT_BE_READ, Page, Response
from periplus.store.archive import IMPORTS, SUFFIX, numbered, read_response, responses
from periplus.store.catalog import Catalog
from periplus.store.collection import Collection
from periplus.store.durable import move_into_place, reporting_full_disk, sync_directory
from periplus.store.manifest import UNFINISHED, PageRow, place_of
from periplus.store.segments import SegmentStream

KEPT = "kept"  # the folder
_LONGEST_BATCH = 60.0  # seconds between the first and the last page of one


class Reader(Protocol):
    """Parses archived responses again."""

    def is_read_aside(self, response: Response) -> bool:
        """Whether the sandbox parses a response."""
        ...

    def parse(self, response: Response, *, aside: bool) -> Page:
        """Parse a response, in the sandbox or here."""
        ...


def is_of_newer_catalog(path: Path, start: int, *, alone: bool = False) -> bool:
    """Whether a file holds, from *start* on, what more than one commit must have written.

    *alone*: the file itself is one that no kill leaves, so a single page is proof.
    """
    if numbered(path.name)[0] == IMPORTS:
        return False  # those pages are as old as they are, and can be imported again
    first = None
    with suppress(DamagedFile, OSError, ValueError):  # the last record may be incomplete
        for record in responses(path.parent, path.name, start, path.stat().st_size):
            first = record.response.fetched_at if first is None else first
            if alone or abs(record.response.fetched_at - first) > _LONGEST_BATCH:
                return True
    return False


def set_aside(path: Path, start: int, folder: Path) -> Path:
    """Copy what lies from *start* on to a file of its own, which `periplus import` can read; returns its name."""
    with reporting_full_disk(folder.parent):
        folder.mkdir(exist_ok=True)
        sync_directory(folder.parent)
        stem = f"{path.name.removesuffix(SUFFIX)}-from-{start}"
        names = (folder / f"{stem}{f'-{number}' if number else ''}{SUFFIX}" for number in count())
        kept = next(name for name in names if not name.exists())
        temporary = kept.with_name(kept.name + ".tmp")
        with path.open("rb") as source, temporary.open("wb") as target:
            source.seek(start)
            shutil.copyfileobj(source, target, 1 << 20)
        move_into_place(temporary, kept)
    return kept


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


_AT_ONCE = 256


def recover(collection: Collection, catalog: Catalog, settings: Storage, reader: Reader, worker: int) -> int:
    """Bring the segments of a worker up to its archive; returns how many pages were parsed again."""
    stream = SegmentStream(catalog, collection.segments, settings, worker)
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
            response = read_response(collection.archive, fetch.position)
            aside = reader.is_read_aside(response) or fetch.decision.reason in COULD_NOT_BE_READ
            rows.append(PageRow(fetch, reader.parse(response, aside=aside)))
            if len(rows) >= _AT_ONCE:
                parsed += len(rows)
                stream.add(rows, file.archive_id, fetch.position.offset + fetch.position.length)
                rows = []
        parsed += len(rows)
        stream.add(rows, file.archive_id, file.committed)
    stream.seal()
    return parsed
