"""Brings archive files and segments into the folder of a node for jobs that read them, and uploads what jobs write.

On one machine, without an object store, every function does nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from periplus.errors import DamagedFile
from periplus.store.catalog.batch import ArchiveFile
from periplus.store.checksums import StoredFile, segment_file
from periplus.store.collection import Collection
from periplus.store.durable import reporting_full_disk
from periplus.store.fleet_files.uploads import ARCHIVE, SEGMENTS
from periplus.store.manifest import Place, SealedSegment, place_of
from periplus.store.objects.open_store import open_store
from periplus.store.objects.transfers import PARALLEL_TRANSFERS, download_checked

_READ_SECONDS = 3600.0  # a job reads segments of a manifest that it has read this long ago


def bring_segments(collection: Collection, segments: Iterable[SealedSegment]) -> None:
    """Download the segments that are not in the folder, and check them."""
    _bring(collection, SEGMENTS, [segment_file(collection.segments, one) for one in segments])


def bring_archives(collection: Collection, files: Iterable[ArchiveFile]) -> None:
    """Download the archive files that are not in the folder, and check their sizes."""
    _bring(collection, ARCHIVE, [StoredFile(collection.archive / one.name, one.committed, b"") for one in files])


def store_segments(collection: Collection, segments: Iterable[SealedSegment]) -> None:
    """Upload segments that a job has written; call it before the manifest lists them."""
    _store(collection, [(f"{SEGMENTS}/{one.name}", collection.segments / one.name) for one in segments])


def store_archive(collection: Collection, name: str) -> None:
    """Upload an archive file that a job has written; call it before the catalog names the file."""
    _store(collection, [(f"{ARCHIVE}/{name}", collection.archive / name)])


@contextmanager
def borrowing_archives(collection: Collection, files: Iterable[ArchiveFile]) -> Iterator[None]:
    """Have archive files in the folder during the block; those that were not there before are removed at its end."""
    missing = [file for file in files if collection.storage and not (collection.archive / file.name).exists()]
    try:
        bring_archives(collection, missing)
        yield
    finally:
        for file in missing:
            (collection.archive / file.name).unlink(missing_ok=True)


def delete_archive(collection: Collection, name: str) -> None:
    """Delete the object of an archive file that the catalog names no more."""
    if collection.storage:
        open_store(collection.storage).delete([f"{ARCHIVE}/{name}"])


def delete_replaced_segments(collection: Collection, live: Iterable[SealedSegment]) -> None:
    """Delete the objects of segments that others have replaced an hour ago; a job may be downloading younger ones."""
    if not collection.storage:
        return
    store, before = open_store(collection.storage), time.time() - _READ_SECONDS
    present = {one.name.removeprefix(f"{SEGMENTS}/"): one.changed for one in store.list(SEGMENTS)}
    places = [(segment.kind, place_of(segment.name), segment.name) for segment in live]
    listed = {name for _, _, name in places}
    old = [(kind, place) for kind, place, name in places if present.get(name, math.inf) < before]
    store.delete([f"{SEGMENTS}/{name}" for name in present if name not in listed and _is_replaced(name, old)])


def _is_replaced(name: str, live: list[tuple[str, Place]]) -> bool:
    try:
        kind, place = name.partition("-")[0], place_of(name)
    except DamagedFile:
        return False
    return any(other == kind and successor.covers(place) for other, successor in live)


def _store(collection: Collection, files: list[tuple[str, Path]]) -> None:
    if collection.storage and files:
        store = open_store(collection.storage)
        with ThreadPoolExecutor(PARALLEL_TRANSFERS, "uploads") as threads:
            for _ in threads.map(lambda file: store.put_file(*file), files):
                pass


def _bring(collection: Collection, prefix: str, files: list[StoredFile]) -> None:
    missing = [file for file in files if collection.storage and not file.path.exists()]
    if not missing:
        return
    store = open_store(collection.storage)
    with reporting_full_disk(collection.home), ThreadPoolExecutor(PARALLEL_TRANSFERS, "downloads") as threads:
        try:
            for _ in threads.map(lambda file: download_checked(store, f"{prefix}/{file.path.name}", file), missing):
                pass
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
