"""Uploads complete archive files and segments of a worker to the object store, and then removes the local copies.

A page is acknowledged when its local file is synced. A thread of the worker process uploads each complete file and
records it in the catalog; from then on, readers of other nodes see it. While the store cannot be used, files wait.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from collections.abc import Collection as Many
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple, Protocol

from periplus.errors import DamagedFile, PeriplusError
from periplus.store.archive.warc_files import SUFFIX, parse_archive_name
from periplus.store.checksums import wrong_content, wrong_size
from periplus.store.cleanup import KEPT
from periplus.store.collection import Collection
from periplus.store.durable import sync_directory
from periplus.store.objects.object_store import ObjectStore

logger = logging.getLogger("periplus.store")

ARCHIVE, SEGMENTS = "archive", "segments"  # folders of a collection, and of an object store
_ROUND_SECONDS = 2.0
_FETCH_AGAIN = (
    "Stop this node, remove its folder and start it again: after `fleet.grace_seconds` its pages are fetched anew."
)


class WaitingFile(NamedTuple):
    """A complete file of a worker that is not in the object store yet."""

    folder: str  # ARCHIVE or SEGMENTS
    name: str
    size: int  # acknowledged bytes
    digest: bytes = b""  # of a segment

    @property
    def object(self) -> str:
        """The name of its object."""
        return f"{self.folder}/{self.name}"


class Mark(Enum):
    """What the catalog says about a file after its upload."""

    STORED = auto()
    GROWN = auto()  # it has more acknowledged bytes than were uploaded
    GIVEN_UP = auto()  # the fleet fetches its pages again


def is_complete(name: str, growing: str) -> bool:
    """Whether nothing is added to an archive file any more: the worker began it before the file *growing*.

    *growing*: the first file of the worker whose last batch is not committed; empty: all are complete.
    """
    worker, number = parse_archive_name(growing)
    return not growing or parse_archive_name(name)[0] != worker or parse_archive_name(name)[1] < number


class UploadRows(Protocol):
    """What the catalog knows about the files of one worker; the uploader calls it from its thread."""

    def waiting(self, growing: str) -> list[WaitingFile]:
        """The files that are not in the object store, oldest first; of archive files the complete ones."""
        ...

    def mark_stored(self, file: WaitingFile) -> Mark:
        """Record that a file is in the object store, unless it has changed meanwhile."""
        ...

    def is_removable(self, folder: str, name: str) -> bool:
        """Whether a file is in the object store, and no recovery needs the local one: its pages are in segments."""
        ...

    def extend_grace(self) -> None:
        """Let the grace time of a node without a lease begin anew, so that others do not give up its files."""
        ...

    def leave(self) -> None:
        """Remove the node from the list of nodes, if all its workers have ended and all its files are uploaded."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class Uploader:
    """Uploads the files of one worker, and of former workers of its node."""

    def __init__(
        self,
        collection: Collection,
        store: ObjectStore,
        rows: UploadRows,
        workers: Many[int],
        growing: Callable[[], str],
    ) -> None:
        """*growing*: see `is_complete`."""
        self._collection, self._store, self._rows = collection, store, rows
        self._workers, self._growing = workers, growing
        self._last_error, self._damaged = "", set[str]()
        self._closed = Event()
        self._thread = Thread(target=self._run, name="uploader", daemon=True)
        self.uploaded_bytes = 0

    def start(self) -> None:
        """Upload in a thread of its own until `close`."""
        self._thread.start()

    def close(self) -> None:
        """End the thread after the file that it is uploading."""
        self._stop()
        self._rows.close()

    def finish(self) -> None:
        """Upload every file after the worker has closed them; files that cannot be uploaded now wait on the disk."""
        self._stop()
        self._growing = str
        self.upload()
        self.upload()  # segments that waited for archive files
        with suppress(PeriplusError):  # the others remove the node after the grace time
            self._rows.leave()
        self._rows.close()

    def _stop(self) -> None:
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join()

    def upload(self) -> int:
        """Upload every file that waits; returns how many still wait. Errors are logged, once."""
        try:
            left = sum(not self._upload(file) for file in self._rows.waiting(self._growing()))
            self._remove_local()
        except (PeriplusError, OSError) as error:
            if str(error) != self._last_error:
                self._last_error = str(error)
                logger.warning("files wait for their upload: %s", error)
            return 1
        self._last_error = ""
        return left

    def _run(self) -> None:
        while not self._closed.wait(_ROUND_SECONDS):
            self.upload()

    def _upload(self, file: WaitingFile) -> bool:
        """Whether a file is in the object store now."""
        self._rows.extend_grace()
        path = self._path(file)
        if not self._is_intact(file, path):
            return False
        self._store.put_file(file.object, path)
        self.uploaded_bytes += file.size
        mark = self._rows.mark_stored(file)
        if mark is Mark.GIVEN_UP:
            self._give_up(file, path)
        return mark is not Mark.GROWN

    def _is_intact(self, file: WaitingFile, path: Path) -> bool:
        """Whether a file may be uploaded; a damaged one is logged once, and its segments wait."""
        problem = wrong_content(path, file.size, file.digest) if file.digest else wrong_size(path, file.size)
        if problem is not None and file.object not in self._damaged:
            self._damaged.add(file.object)
            logger.error("%s", DamagedFile(f"{path} cannot be uploaded", problem, _FETCH_AGAIN))
        return problem is None

    def _give_up(self, file: WaitingFile, path: Path) -> None:
        """Take a file back whose URLs were queued again, because this node was silent for too long."""
        self._store.delete([file.object])
        if file.folder == SEGMENTS:
            path.unlink()
            return
        kept = self._collection.home / KEPT
        kept.mkdir(exist_ok=True)
        path.rename(kept / file.name)
        sync_directory(kept)
        logger.warning("the fleet has fetched the pages of %s again; the file is now in %s", file.name, kept)

    def _remove_local(self) -> None:
        """Remove the local copies of files in the object store; segments while no process reads them."""
        for path in self._collection.archive.glob(f"*{SUFFIX}"):
            is_own = parse_archive_name(path.name)[0] in self._workers
            if is_own and is_complete(path.name, self._growing()) and self._rows.is_removable(ARCHIVE, path.name):
                path.unlink()
        is_builder = self._collection.index.is_dir()  # this node reads segments itself
        names = [] if is_builder else [f"*-w{worker:02d}-*.parquet" for worker in self._workers]
        own = [path for name in names for path in self._collection.segments.glob(name)]
        if stored := [path for path in own if self._rows.is_removable(SEGMENTS, path.name)]:
            with self._collection.without_segment_readers() as is_unused:
                for path in stored if is_unused else ():
                    path.unlink(missing_ok=True)

    def _path(self, file: WaitingFile) -> Path:
        return (self._collection.archive if file.folder == ARCHIVE else self._collection.segments) / file.name
