"""The rows of the catalog that say which files of a worker wait for their upload; only a fleet has them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from periplus.store.collection import Collection
from periplus.store.database import Database
from periplus.store.objects.open_store import open_store, require_bucket
from periplus.store.objects.uploads import ARCHIVE, SEGMENTS, Uploader, WaitingFile
from periplus.store.open_catalog import open_catalog


class CatalogUploadRows:
    """The rows of one worker in the database of the fleet."""

    def __init__(self, database: Database, worker: int) -> None:
        self._database, self._worker = database, worker

    def waiting(self, writing: str) -> list[WaitingFile]:
        """The files that are not in the object store; segments after the archive files of their pages."""
        rows = self._database.rows("waiting_archives", self._worker, writing)
        return [WaitingFile(ARCHIVE, *row) for row in rows] or [
            WaitingFile(SEGMENTS, name, size, bytes(digest))
            for name, size, digest in self._database.rows("waiting_segments", self._worker)
        ]

    def mark_stored(self, file: WaitingFile) -> bool:
        """Record that a file is in the object store; False when its row is gone."""
        values = (file.name, file.size) if file.folder == ARCHIVE else (file.name,)
        with self._database.transaction():
            statement = "store_archive" if file.folder == ARCHIVE else "store_segment"
            return self._database.run(statement, *values).rowcount == 1

    def is_removable(self, folder: str, name: str) -> bool:
        """Whether the local file is not needed any more."""
        statement = "is_archive_removable" if folder == ARCHIVE else "is_segment_removable"
        return self._database.row(statement, name) is not None

    def close(self) -> None:
        """Close the connection."""
        self._database.close()


def uploading(collection: Collection, worker: int, writing: Callable[[], str]) -> Uploader:
    """Begin to upload the complete files of a worker; *writing* names its archive file that is not complete."""
    require_bucket(collection.storage)  # here: the library of the store cannot be used before and after a fork
    rows = open_catalog(collection, partial(CatalogUploadRows, worker=worker))
    keeps = collection.index.is_dir()  # this node builds the index
    uploader = Uploader(collection, open_store(collection.storage), rows, worker, writing, keeps_segments=keeps)
    uploader.start()
    return uploader
