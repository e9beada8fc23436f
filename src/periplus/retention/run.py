"""Runs `periplus prune`: removes old versions from the archive, file by file."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Collection as Collected
from contextlib import closing
from dataclasses import dataclass
from itertools import chain

from periplus.config import Storage
from periplus.errors import DamagedFile
from periplus.reparse import rename_planned
from periplus.retention.choice import Limits, Version, surplus
from periplus.retention.rewrite import UNFINISHED, SegmentMover, write_without
from periplus.store.archive.warc_files import SUFFIX, parse_archive_name
from periplus.store.catalog.batch import ArchiveFile
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.prune_catalog import PruneCatalog
from periplus.store.cleanup import remove_replaced, remove_replaced_archives, remove_unfinished
from periplus.store.collection import Collection
from periplus.store.durable import reporting_full_disk, sync_directory
from periplus.store.fleet_files.job_files import (
    bring_archives,
    bring_segments,
    delete_archive,
    store_archive,
    store_segments,
)
from periplus.store.fleet_files.unstored_files import UnstoredFile, unstored_files

OnProgress = Callable[[int, int], None]  # called with the archive files that were looked at, and those in total


@dataclass(slots=True)
class Pruned:
    """What `prune --json` prints."""

    dry_run: bool
    versions: int = 0  # archive records that were removed: responses and revisit records
    files: int = 0  # archive files that were replaced
    waiting: int = 0  # records beyond the limits in files that are not complete or uploaded, or with few such records
    damaged: int = 0  # archive files that cannot be read completely; `periplus repair` mends them
    bytes_before: int = 0  # of all archive files
    bytes_after: int = 0
    seconds: float = 0.0


def prune(
    collection: Collection,
    settings: Storage,
    *,
    is_alone: bool = False,
    least_share: float = 0.0,
    dry_run: bool = False,
    on_progress: OnProgress = lambda _done, _total: None,
) -> Pruned:
    """Remove the versions of pages that are beyond the limits of the settings.

    A crawl may be running, unless *is_alone*: then the last file of each worker is pruned, too. A file is replaced
    when the removed records have at least *least_share* of its bytes.
    """
    started, result = time.monotonic(), Pruned(dry_run)
    with collection.locked("reparse") as require_held, closing(open_catalog(collection, PruneCatalog)) as catalog:
        catalog.guard(require_held)
        _remove_leftovers(collection, catalog)
        result.bytes_before = _size(collection)
        versions, files = _surplus(catalog, settings), {file.archive_id: file for file in catalog.archives()}
        unstored = unstored_files(collection)
        complete = {file.archive_id for file in _complete(files.values(), unstored, is_alone=is_alone)}
        chosen = _chosen(versions, {number: files[number].committed * least_share for number in complete})
        result.waiting = sum(map(len, versions)) - sum(map(len, chosen.values()))
        for done, number in enumerate(sorted(chosen, reverse=True)):  # revisit records before their responses
            on_progress(done, len(chosen))
            _prune_file(collection, catalog, files[number], frozenset(chosen[number]), result)
        if not dry_run:
            remove_replaced(collection, catalog)
    result.bytes_after = _size(collection)
    result.seconds = round(time.monotonic() - started, 3)
    return result


def _remove_leftovers(collection: Collection, catalog: PruneCatalog) -> None:
    """Remove what a killed command has left."""
    for leftover in collection.archive.glob(f"*{SUFFIX}{UNFINISHED}"):
        leftover.unlink()
    remove_unfinished(collection)
    remove_replaced_archives(collection, catalog)
    remove_replaced(collection, catalog)


def _surplus(catalog: PruneCatalog, settings: Storage) -> list[Version]:
    """The versions of all URLs that are beyond the limits."""
    limits = Limits.of(settings.keep_versions, settings.keep_days, time.time(), catalog.referred_contents())
    if not limits:
        return []
    return [
        version for records in catalog.archived_fetches() if len(records) > 1 for version in surplus(records, limits)
    ]


def _chosen(versions: list[Version], least: dict[int, float]) -> dict[int, set[int]]:
    """The offsets to remove, by archive file.

    *least*: the bytes that must be removed from each file to replace it; other files are not replaced. A version goes
    when all its records go, because a revisit record needs its response.
    """
    while True:
        whole = [version for version in versions if all(record.archive_id in least for record in version)]
        sizes: Counter[int] = Counter()
        for record in chain.from_iterable(whole):
            sizes[record.archive_id] += record.length
        if all(size >= least[number] for number, size in sizes.items()):
            break
        least = {number: size for number, size in least.items() if sizes[number] >= size}
    found: dict[int, set[int]] = defaultdict(set)
    for record in chain.from_iterable(whole):
        found[record.archive_id].add(record.offset)
    return found


def _complete(
    files: Collected[ArchiveFile], unstored: Sequence[UnstoredFile] = (), *, is_alone: bool
) -> Iterator[ArchiveFile]:
    """The files whose pages are all in segments, and to which no worker appends.

    On a fleet, files of which a part is not in the object store wait: the file itself, or segments of its worker.
    """
    waiting = {file.name for file in unstored}
    sealing = {file.worker for file in unstored if not file.is_archive}
    last: dict[int, int] = {}
    for file in files:
        worker, number = parse_archive_name(file.name)
        last[worker] = max(number, last.get(worker, 0))
    for file in files:
        worker, number = parse_archive_name(file.name)
        is_stored = file.name not in waiting and worker not in sealing
        if is_stored and file.sealed >= file.committed and (is_alone or number < last[worker]):
            yield file


def _prune_file(
    collection: Collection, catalog: PruneCatalog, file: ArchiveFile, dropped: frozenset[int], result: Pruned
) -> None:
    """Replace an archive file by one without the dropped records."""
    result.versions += len(dropped)
    result.files += 1
    if result.dry_run:
        return
    try:
        with reporting_full_disk(collection.home):
            bring_archives(collection, [file])
            bring_segments(collection, catalog.segments())
            new = write_without(collection.archive, file, dropped)
            successors = list(SegmentMover(new).successors(collection, catalog))
    except DamagedFile:
        result.versions -= len(dropped)
        result.files -= 1
        result.damaged += 1
        return
    store_archive(collection, new.name)
    store_segments(collection, [segment for _, segment in successors])
    rename_planned(collection, {old: segment.name for old, segment in successors})
    catalog.replace_archive(new, successors)
    delete_archive(collection, file.name)
    (collection.archive / file.name).unlink()
    if collection.uploads_files:  # it is in the object store
        (collection.archive / new.name).unlink()
    sync_directory(collection.archive)


def _size(collection: Collection) -> int:
    return sum(path.stat().st_size for path in collection.archive.glob(f"*{SUFFIX}"))
