"""Which files of a fleet are not in the object store yet, and which node has them?

Jobs that read or change the files of all nodes ask. On one machine there are none.
"""

from __future__ import annotations

from contextlib import closing
from typing import NamedTuple

from periplus.store.archive.warc_files import SUFFIX
from periplus.store.catalog.open_catalog import open_database
from periplus.store.collection import Collection, folder_id


class UnstoredFile(NamedTuple):
    """An archive file or a segment that only the folder of one node has."""

    name: str
    worker: int
    node: str  # that has it

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
