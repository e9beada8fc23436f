"""Removes what a killed run left behind: unacknowledged archive bytes, temporary and replaced segment files.

More archive bytes than a kill can leave mean that `crawl.db` is a restored older copy. Those bytes are moved to
`kept/`.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Collection as Many
from collections.abc import Mapping
from contextlib import closing, suppress
from functools import cache
from itertools import count
from pathlib import Path

from periplus.errors import CollectionError, DamagedFile
from periplus.store.archive.import_worker import import_workers
from periplus.store.archive.warc_files import IMPORTS, SUFFIX, parse_archive_name, responses
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.open_catalog import open_database
from periplus.store.checksums import segment_file
from periplus.store.collection import Collection, folder_id
from periplus.store.durable import move_into_place, reporting_full_disk, sync_directory
from periplus.store.manifest import UNFINISHED, UNFINISHED_AGAIN, place_of

KEPT = "kept"  # folder in the collection
_LONGEST_BATCH = 60.0  # maximum seconds between the first and the last page of one batch


def _is_of_newer_catalog(path: Path, start: int, imports: Many[int], *, alone: bool) -> bool:
    """Whether the bytes of a file from *start* on are from more than one commit, so that a newer catalog wrote them.

    *imports*: workers of imported pages. *alone*: a kill cannot leave such a file at all, so one page is proof.
    """
    if parse_archive_name(path.name)[0] in imports:
        return False  # imported pages have old dates, and can be imported again
    first = None
    with suppress(DamagedFile, OSError, ValueError):  # the last record may be incomplete
        for record in responses(path.parent, path.name, start, path.stat().st_size):
            first = record.response.fetched_at if first is None else first
            if alone or abs(record.response.fetched_at - first) > _LONGEST_BATCH:
                return True
    return False


def keep_newer_pages(path: Path, start: int, folder: Path) -> Path:
    """Copy the bytes from *start* on to a new WARC file, which `periplus import` can read; returns its path."""
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


_UNCOMMITTED_FILES = 2  # files past the last acknowledged one: a full one that is not committed, and its successor


def remove_unacknowledged(collection: Collection, catalog: Catalog, dead: int | None = None) -> list[Path]:
    """Remove what the workers of a killed run were writing, or only what one *dead* worker was writing.

    No other process may be writing there. Returns the files to which pages of a newer catalog were moved.
    """
    acknowledged = {file.name: file.committed for file in catalog.archives(dead)}
    if dead is None:
        _require_known_files(collection, acknowledged)
    _remove_unfinished_segments(collection, dead)
    imports = import_workers(collection) if dead is None else {IMPORTS}
    last = Counter(worker for worker, _ in map(parse_archive_name, acknowledged))
    kept = []
    for path in sorted(collection.archive.glob(f"*{SUFFIX}")):
        worker, number = parse_archive_name(path.name)
        is_begun = last[worker] < number <= last[worker] + _UNCOMMITTED_FILES
        start = acknowledged.get(path.name, 0)
        if dead not in (None, worker) or (path.name not in acknowledged and number <= last[worker]):
            continue
        if _size(path) > start and _is_of_newer_catalog(path, start, imports, alone=not start and not is_begun):
            kept.append(keep_newer_pages(path, start, collection.home / KEPT))
            is_begun = is_begun or not start
        if path.name in acknowledged:
            with suppress(FileNotFoundError):  # replaced by `periplus prune` meanwhile
                os.truncate(path, min(start, path.stat().st_size))
        elif is_begun:
            path.unlink()
    return kept


def _remove_unfinished_segments(collection: Collection, dead: int | None) -> None:
    """Remove the segments that a *dead* worker was writing; None: those of all workers."""
    for leftover in collection.segments.glob(f"*{UNFINISHED}"):
        if dead is None or place_of(leftover.name.removesuffix(UNFINISHED))[0] == dead:
            leftover.unlink()


def _require_known_files(collection: Collection, acknowledged: Mapping[str, int]) -> None:
    """Refuse a folder with archive files of another database: they would be removed or cut as unacknowledged ones.

    *acknowledged*: the archive files of the fleet and their sizes. All fleets give their files the same names.
    """
    if not collection.database:
        return
    unknown = [path.name for path in collection.archive.glob(f"*{SUFFIX}") if _is_foreign(path, acknowledged)]
    if not unknown:
        return
    with closing(open_database(collection, read_only=True)) as database:
        if any(database.rows("workers_of_folder", folder_id(collection))):
            return
        place = database.place
    raise CollectionError(
        f"{collection.home} belongs to another fleet",
        f"{place} does not know this folder, nor this file as {min(unknown)}",
        "Use a new folder, or the database that this node has worked for; `periplus import` reads its archive files.",
    )


def _is_foreign(path: Path, acknowledged: Mapping[str, int]) -> bool:
    """Whether a file is neither empty, nor imported, nor a copy of a file of the fleet that a job has downloaded."""
    is_copy = path.stat().st_size in (0, acknowledged.get(path.name))
    return not is_copy and parse_archive_name(path.name)[0] != IMPORTS


def _size(path: Path) -> int:
    """The size of a file; 0 when `periplus prune` has replaced it meanwhile."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def remove_replaced_archives(collection: Collection, catalog: Catalog) -> None:
    """Remove archive files that `periplus prune` has replaced, or was writing when it was killed.

    Only beside the complete file that the catalog lists: after a restored older catalog, another one may be needed.
    """
    listed = {parse_archive_name(file.name): file for file in catalog.archives()}
    for other in collection.archive.glob(f"*{SUFFIX}"):
        file = listed.get(parse_archive_name(other.name))
        if file is None or file.name == other.name:
            continue
        if _size(collection.archive / file.name) >= file.committed:
            other.unlink()


def remove_unfinished(collection: Collection) -> None:
    """Remove incomplete and temporary files of a reparse or a merge; no other process may be writing them."""
    remove_scratch_folders(collection, "reparse", "compact")
    for leftover in collection.segments.glob(f"*{UNFINISHED_AGAIN}"):
        leftover.unlink()


def remove_scratch_folders(collection: Collection, *kinds: str) -> None:
    """Remove the temporary files of jobs of some kinds, or of one named job, from the folder; none of them may run."""
    for kind in kinds:
        for folder in collection.scratch.glob(f"{kind}*"):
            shutil.rmtree(folder, ignore_errors=True)  # a late task may still write: the next job removes the rest


def remove_replaced(collection: Collection, catalog: Catalog) -> None:
    """Remove the files of segments that a reparse or a merge has replaced, unless a process may be reading them.

    The predecessors of a damaged segment are kept, because it can be mended from them.
    """
    with collection.without_segment_readers() as is_unused:
        if not is_unused:
            return
        live = [(place_of(segment.name), segment) for segment in catalog.segments()]
        listed = {segment.name for _, segment in live}
        is_intact = cache(lambda segment: segment_file(collection.segments, segment).damage() is None)
        for file in collection.segments.glob("*.parquet"):
            if file.name in listed:
                continue
            with suppress(DamagedFile):  # it is not the name of a segment
                kind, place = file.name.partition("-")[0], place_of(file.name)
                covering = [segment for other, segment in live if segment.kind == kind and other.covers(place)]
                if covering and all(map(is_intact, covering)):
                    file.unlink()
