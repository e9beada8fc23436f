"""Reads an archived version of a page, also after `periplus prune` has replaced its archive file.

On a fleet, archive files are in the object store; the bytes of one record are read there.
"""

from __future__ import annotations

from contextlib import closing
from functools import lru_cache

from periplus.errors import DamagedFile, ObjectMissing
from periplus.model import ArchivePosition, Response
from periplus.store.archive.warc_files import read_response, response_of
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.queries import Queries
from periplus.store.collection import Collection
from periplus.store.objects.object_store import ObjectStore
from periplus.store.objects.open_store import open_store

_ATTEMPTS = 3  # the file may be replaced again between a look-up and the reading
_PATIENCE = 5.0  # seconds; a reader waits for the page


def read_version(collection: Collection, url: str, at: float, position: ArchivePosition) -> Response | None:
    """Read the version of a page that was fetched at a time; None when it was pruned.

    *position* may be out of date: replaced archive files have other names.
    """
    for _ in range(_ATTEMPTS):
        try:
            return read_archived(collection, position)
        except (DamagedFile, ObjectMissing):
            if (collection.archive / position.name).exists():
                raise
            found = current_position(collection, url, at)
            if found is None:
                return None
            if found == position:
                raise
            position = found
    return read_archived(collection, position)


def read_archived(collection: Collection, position: ArchivePosition) -> Response:
    """Read a response where it is: in the folder or in the object store."""
    member = stored_member(collection, position)
    return read_response(collection.archive, position) if member is None else response_of(member, position)


def stored_member(collection: Collection, position: ArchivePosition) -> bytes | None:
    """The bytes of a record in the object store; None when its file is in the folder, or there is no object store."""
    if not collection.storage or (collection.archive / position.name).exists():
        return None
    return _store(collection.storage).read_range(f"archive/{position.name}", position.offset, position.length)


@lru_cache(4)
def _store(url: str) -> ObjectStore:
    return open_store(url, patience=_PATIENCE)


def current_position(collection: Collection, url: str, at: float) -> ArchivePosition | None:
    """Where the record of a fetch is now; None when it was pruned, or there is no catalog."""
    if not collection.has_catalog:
        return None
    with closing(open_catalog(collection, Queries, read_only=True)) as catalog:
        return next((fetch.position for fetch in catalog.fetches_of(url) if fetch.at == at), None)
