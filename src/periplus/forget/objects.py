"""Removes what is forgotten from the object store of a fleet, and reads its objects for the check.

An archive file keeps its name and its length: it is downloaded, erased and uploaded again, one file at a time. Objects
of replaced segments and of older generations are deleted. On one machine every function does nothing.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path, PurePosixPath

from periplus.errors import CollectionError, CollectionLocked
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.cleanup import remove_unacknowledged
from periplus.store.collection import Collection
from periplus.store.durable import reporting_full_disk
from periplus.store.fleet_files.generation_cache import GenerationCache
from periplus.store.fleet_files.published_generations import PublishedGenerations
from periplus.store.fleet_files.shared_generations import KINDS
from periplus.store.fleet_files.unstored_files import crawling_nodes, unstored_files
from periplus.store.fleet_files.upload_rows import uploading
from periplus.store.fleet_files.uploads import ARCHIVE, SEGMENTS
from periplus.store.manifest import SealedSegment
from periplus.store.objects.open_store import open_store

_SCRATCH = "scratch"  # folder of distributed jobs in the object store; see `store/objects/scratch.py`
_DOWNLOADS = "objects.tmp"  # folder in `forgotten/`
_EVERYTHING = 1 << 62  # bytes


def require_stored_files(collection: Collection) -> None:
    """Upload what this node has not uploaded; refuses while another node crawls, or has such files."""
    if nodes := crawling_nodes(collection):
        hint = "Stop it. After a kill, wait for `fleet.lease_seconds`."
        raise CollectionLocked("the fleet is in use", f"node {nodes[0]} is crawling", hint)
    own = {file.worker for file in unstored_files(collection) if file.is_in(collection)}
    if own:
        with closing(open_catalog(collection)) as catalog:
            remove_unacknowledged(collection, catalog)
    for worker in sorted(own):
        uploading(collection, worker, str).finish()
    if left := unstored_files(collection):
        raise CollectionError(
            f"node {left[0].node} has files that are not in the object store",
            f"{left[0].name} and {len(left) - 1} others may have what is to be forgotten",
            "Start that node until it has uploaded them. If it is lost, let another node crawl for "
            "`fleet.grace_seconds`.",
        )


def erase_archives(collection: Collection, is_chosen: Callable[[str], bool], erase: Callable[[Path], int]) -> None:
    """Erase records in the chosen archive files of the object store; *erase* returns the number of records."""
    if not collection.storage:
        return
    store = open_store(collection.storage)
    for name in [facts.name for facts in store.list(ARCHIVE)]:
        if is_chosen(PurePosixPath(name).name):
            with _downloads(collection) as folder:
                path = folder / PurePosixPath(name).name
                store.get_file(name, path)
                if erase(path):
                    store.put_file(name, path)


def delete_other_segments(collection: Collection, live: Iterable[SealedSegment]) -> None:
    """Delete the objects of all segments that are not live, and what killed distributed jobs have left."""
    if not collection.storage:
        return
    store, listed = open_store(collection.storage), {f"{SEGMENTS}/{segment.name}" for segment in live}
    store.delete([facts.name for facts in store.list(SEGMENTS) if facts.name not in listed])
    store.delete([facts.name for facts in store.list(_SCRATCH)])


# -- generations -------------------------------------------------------------------------------------------------------


def has_published(collection: Collection, folder: str) -> bool:
    """Whether the object store has a generation; *folder*: `ranks` or `index`."""
    return bool(collection.storage) and bool(_published(collection, folder).generations())


def remove_older_published(collection: Collection, new: dict[str, int]) -> None:
    """Delete all generations of the object store before the new ones, or all, with their files."""
    for folder in KINDS if collection.storage else ():
        _published(collection, folder).remove_before(new.get(folder))


def _published(collection: Collection, folder: str) -> PublishedGenerations:
    return PublishedGenerations(open_store(collection.storage), folder, KINDS[folder])


# -- the check ---------------------------------------------------------------------------------------------------------


def archives_and_segments(collection: Collection, folder: str) -> Iterator[tuple[str, Path]]:
    """Every object of `archive` or `segments`: its address, and a file with its content for the next step."""
    if not collection.storage:
        return
    store = open_store(collection.storage)
    for name in [facts.name for facts in store.list(folder)]:
        with _downloads(collection) as downloads:
            path = downloads / PurePosixPath(name).name
            store.get_file(name, path)
            yield f"{store.url}/{name}", path


def generations(collection: Collection, folder: str) -> Iterator[tuple[str, Path]]:
    """Every generation of the object store: its address, and a folder with its files for the next step."""
    if not collection.storage:
        return
    published = _published(collection, folder)
    for one in published.generations():
        with _downloads(collection) as downloads:
            cache = GenerationCache(downloads, published, _EVERYTHING)
            yield f"{published.store.url}/{folder}/{one.name}", cache.bring(one)


@contextmanager
def _downloads(collection: Collection) -> Iterator[Path]:
    """An empty folder during the block; what a killed process left there is removed."""
    folder = collection.forgotten / _DOWNLOADS
    shutil.rmtree(folder, ignore_errors=True)
    with reporting_full_disk(collection.home):
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder)
