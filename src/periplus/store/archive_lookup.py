"""Reads an archived version of a page, also after `periplus prune` has replaced its archive file."""

from __future__ import annotations

from contextlib import closing

from periplus.errors import DamagedFile
from periplus.model import ArchivePosition, Response
from periplus.store.archive import read_response
from periplus.store.collection import Collection
from periplus.store.queries import Queries

_ATTEMPTS = 3  # the file may be replaced again between a look-up and the reading


def read_version(collection: Collection, url: str, at: float, position: ArchivePosition) -> Response | None:
    """Read the version of a page that was fetched at a time; None when it was pruned.

    *position* may be out of date: replaced archive files have other names.
    """
    for _ in range(_ATTEMPTS):
        try:
            return read_response(collection.archive, position)
        except DamagedFile:
            if (collection.archive / position.name).exists():
                raise
            found = current_position(collection, url, at)
            if found is None:
                return None
            if found == position:
                raise
            position = found
    return read_response(collection.archive, position)


def current_position(collection: Collection, url: str, at: float) -> ArchivePosition | None:
    """Where the record of a fetch is now; None when it was pruned."""
    with closing(Queries(collection.catalog, read_only=True)) as catalog:
        return next((fetch.position for fetch in catalog.fetches_of(url) if fetch.at == at), None)
