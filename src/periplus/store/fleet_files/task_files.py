"""Gives the tasks of a cluster the files of a collection: from a shared folder, or else from the object store.

The objects of this module travel to other machines, so they hold names only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from periplus.store.checksums import StoredFile
from periplus.store.collection import Collection
from periplus.store.fleet_files.uploads import SEGMENTS
from periplus.store.objects.open_store import open_store
from periplus.store.objects.scratch import SCRATCH, new_job, remove_scratch
from periplus.store.objects.transfers import download_checked


@dataclass(frozen=True, slots=True)
class SegmentFiles:
    """Opens segments on any node."""

    storage: str  # address of the object store; empty: there is none

    @contextmanager
    def opened(self, file: StoredFile) -> Iterator[Path]:
        """The path of a segment: in its folder, or of a checked copy that is removed after the block."""
        if file.path.exists() or not self.storage:
            yield file.path
            return
        with TemporaryDirectory(prefix="periplus-") as folder:
            copy = file._replace(path=Path(folder, file.path.name))
            download_checked(open_store(self.storage), f"{SEGMENTS}/{copy.path.name}", copy)
            yield copy.path

    def check(self, file: StoredFile) -> None:
        """Raise `DamagedFile` when the file in the folder is damaged; a copy is checked when it is opened."""
        if file.path.exists() or not self.storage:
            file.require_intact()


@dataclass(frozen=True, slots=True)
class ScratchFiles:
    """Temporary files of one job that every node can read."""

    folder: Path
    storage: str
    job: str  # its folder in the object store

    def write(self, name: str, data: bytes) -> None:
        """Write a file."""
        if self.storage:
            open_store(self.storage).put(f"{SCRATCH}/{self.job}/{name}", data)
        else:
            (self.folder / name).write_bytes(data)

    def read(self, name: str) -> bytes:
        """Read a file."""
        if self.storage:
            return open_store(self.storage).get(f"{SCRATCH}/{self.job}/{name}").data
        return (self.folder / name).read_bytes()

    def remove(self) -> None:
        """Remove the files in the object store, and those of jobs that were killed long ago."""
        if self.storage:
            remove_scratch(open_store(self.storage), self.job)


@contextmanager
def scratch_files(collection: Collection, folder: Path) -> Iterator[ScratchFiles]:
    """Temporary files of a job, in *folder* or in the object store; they are removed after the block."""
    files = ScratchFiles(folder, collection.storage, new_job("blocks"))
    try:
        yield files
    finally:
        files.remove()
