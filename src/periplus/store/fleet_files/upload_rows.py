"""The rows of the catalog that say which files of a worker wait for their upload; only a fleet has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection
from periplus.store.database.database import Database
from periplus.store.fleet_files.uploads import ARCHIVE, SEGMENTS, Mark, Uploader, WaitingFile, is_complete
from periplus.store.objects.open_store import open_store


class CatalogUploadRows:
    """The rows of one worker in the database of the fleet, and of former workers of its node."""

    def __init__(self, database: Database, worker: int, former: Iterable[int] = ()) -> None:
        self._database, self._worker, self._workers = database, worker, [worker, *former]

    def waiting(self, growing: str) -> list[WaitingFile]:
        """The files that are not in the object store; of segments those whose archive files are there."""
        archives = [WaitingFile(ARCHIVE, *row) for row in self._database.rows("waiting_archives", self._workers)]
        segments = [
            WaitingFile(SEGMENTS, name, size, bytes(digest))
            for name, size, digest in self._database.rows("waiting_segments", self._workers)
        ]
        return [file for file in archives if is_complete(file.name, growing)] + segments

    def mark_stored(self, file: WaitingFile) -> Mark:
        """Record that a file is in the object store.

        One statement without a transaction: a process that is stopped here keeps no lock that `give_up` waits for.
        """
        if file.folder == ARCHIVE:
            row = self._database.row("store_archive", file.name, file.size)
        else:
            row = self._database.row("store_segment", file.name, file.digest)
        return Mark.GIVEN_UP if row is None else Mark.STORED if row[0] else Mark.GROWN

    def is_removable(self, folder: str, name: str) -> bool:
        """Whether the local file is not needed any more."""
        statement = "is_archive_removable" if folder == ARCHIVE else "is_segment_removable"
        return self._database.row(statement, name) is not None

    def extend_grace(self) -> None:
        """Let the grace time of the node begin anew: it has no lease any more, and still uploads."""
        self._database.run("extend_grace", self._workers)

    def leave(self) -> None:
        """Remove the node from the list of nodes when it is done."""
        self._database.run("leave_uploaded_node", self._worker)

    def close(self) -> None:
        """Close the connection."""
        self._database.close()


def uploading(collection: Collection, worker: int, growing: Callable[[], str], former: Sequence[int] = ()) -> Uploader:
    """Begin to upload the complete files of a worker; *growing* names its first archive file that is not complete.

    *former*: workers that the node has no more, and whose files this worker uploads.
    """
    # The store is opened here: its library cannot be used before and after a fork.
    rows = open_catalog(collection, partial(CatalogUploadRows, worker=worker, former=former))
    uploader = Uploader(collection, open_store(collection.storage), rows, (worker, *former), growing)
    uploader.start()
    return uploader
