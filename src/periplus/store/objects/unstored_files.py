"""Which files of a fleet are not in the object store yet, and which node has them?

Jobs that read or change the files of all nodes ask. On one machine there are none.
"""

from __future__ import annotations

from collections.abc import Collection as Many
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from periplus.errors import CollectionError
from periplus.store.archive import IMPORTS, SUFFIX, parse_archive_name
from periplus.store.collection import Collection, folder_id
from periplus.store.open_catalog import open_database


class UnstoredFile(NamedTuple):
    """An archive file or a segment that only the folder of one node has."""

    name: str
    worker: int
    node: str  # empty: a node that has imported pages

    @property
    def is_archive(self) -> bool:
        """Whether it is an archive file; otherwise a segment."""
        return self.name.endswith(SUFFIX)

    def is_in(self, collection: Collection) -> bool:
        """Whether it is in the folder of this node."""
        return ((collection.archive if self.is_archive else collection.segments) / self.name).exists()


def unstored_files(collection: Collection) -> list[UnstoredFile]:
    """The acknowledged files that wait for their upload."""
    if not collection.uploads_files:
        return []
    with closing(open_database(collection, read_only=True)) as database:
        return [UnstoredFile(*row) for row in database.rows("unstored_files")]


def crawling_nodes(collection: Collection) -> list[str]:
    """The other nodes whose workers have a lease now."""
    if not collection.database:
        return []
    with closing(open_database(collection, read_only=True)) as database:
        return [node for (node,) in database.rows("crawling_nodes", folder_id(collection))]


def require_known_files(collection: Collection, acknowledged: Many[str]) -> None:
    """Refuse a folder with archive files of another database: they would be removed as unacknowledged ones.

    *acknowledged*: the archive files of the fleet.
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
        f"{place} does not know {min(unknown)}",
        "Use a new folder, or the database that this node has worked for; `periplus import` reads its archive files.",
    )


def _is_foreign(path: Path, acknowledged: Many[str]) -> bool:
    return path.name not in acknowledged and parse_archive_name(path.name)[0] != IMPORTS and path.stat().st_size > 0
