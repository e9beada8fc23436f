"""Hands files to the tasks of a distributed job, and brings back those that tasks have written.

Every attempt of a task writes under a name of its own. The driver learns this name from the result of the task, so what
a failed, repeated or late attempt has written is never read. It is removed when the job ends.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol
from uuid import uuid4

from periplus.errors import DamagedFile
from periplus.store.checksums import file_digest, wrong_content, wrong_size
from periplus.store.collection import Collection
from periplus.store.manifest import SealedSegment
from periplus.store.objects.job_files import AT_ONCE, bring_segments
from periplus.store.objects.open_store import open_store

_SCRATCH = "scratch"  # folder of the object store
_INPUTS, _OUTPUTS = "inputs", "outputs"
_ABANDONED = 7 * 86400.0  # seconds; a job whose files are older was killed


class DeliveredFile(NamedTuple):
    """A file that a task has written."""

    name: str  # in the folder of the attempt
    size: int
    digest: bytes  # empty in a folder that the driver reads itself


class Delivery(NamedTuple):
    """The files of the attempt of a task that succeeded."""

    attempt: str
    files: tuple[DeliveredFile, ...]


class TaskFolders(NamedTuple):
    """The folders of one attempt of a task."""

    inputs: Path  # what the driver has offered
    outputs: Path  # to write to
    attempt: str


class Handover(Protocol):
    """The files of one job. The driver and the tasks have equal copies of it."""

    def inputs_of(self, task: str) -> Path:
        """Driver: a new folder for the input of a task."""
        ...

    def offer(self, task: str) -> None:
        """Driver: let tasks read a folder of input, which is complete."""
        ...

    def working(self, task: str) -> AbstractContextManager[TaskFolders]:
        """Task: have the folders of an attempt in the block."""
        ...

    def reading(self, segments: Iterable[SealedSegment]) -> AbstractContextManager[Collection]:
        """Task: have a collection with at least these segments in the block; its archive may be in the object store."""
        ...

    def deliver(self, folders: TaskFolders) -> Delivery:
        """Task: hand over what the attempt has written; the result of the task names it."""
        ...

    def receive(self, delivery: Delivery) -> Path:
        """Driver: the folder of an attempt that succeeded, after a check of its files."""
        ...

    def remove(self) -> None:
        """Driver: remove all files of the job."""
        ...


@dataclass(frozen=True, slots=True)
class FolderHandover:
    """A folder of the collection, which the driver and all tasks reach under the same path."""

    folder: Path
    home: Path  # of the collection

    def inputs_of(self, task: str) -> Path:
        """Create the folder for the input of a task."""
        return _created(self.folder / _INPUTS / task)

    def offer(self, task: str) -> None:
        """Do nothing: tasks read the folder itself."""

    @contextmanager
    def working(self, task: str) -> Iterator[TaskFolders]:
        """Create a folder for the output; it is removed when the block fails."""
        attempt = _attempt_of(task)
        outputs = _created(self.folder / _OUTPUTS / attempt)
        try:
            yield TaskFolders(self.folder / _INPUTS / task, outputs, attempt)
        except BaseException:
            shutil.rmtree(outputs, ignore_errors=True)
            raise

    @contextmanager
    def reading(self, segments: Iterable[SealedSegment]) -> Iterator[Collection]:  # noqa: ARG002  # all are there
        """The collection itself, without its catalog."""
        yield Collection(self.home)

    def deliver(self, folders: TaskFolders) -> Delivery:
        """List the files."""
        files = (DeliveredFile(name, path.stat().st_size, b"") for name, path in _files(folders.outputs))
        return Delivery(folders.attempt, tuple(files))

    def receive(self, delivery: Delivery) -> Path:
        """The folder of the attempt itself, after a check of the sizes."""
        folder = self.folder / _OUTPUTS / delivery.attempt
        for file in delivery.files:
            if (problem := wrong_size(folder / file.name, file.size)) is not None:
                raise DamagedFile(f"{folder / file.name} is damaged", problem)
        return folder

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class StoreHandover:
    """Objects under a prefix, for executors on other machines; each side keeps files in a folder of its own."""

    folder: Path  # of the driver
    url: str  # of the object store
    prefix: str

    def inputs_of(self, task: str) -> Path:
        """Create the folder for the input of a task."""
        return _created(self.folder / _INPUTS / task)

    def offer(self, task: str) -> None:
        """Upload the folder."""
        store, name = open_store(self.url), f"{self.prefix}/{_INPUTS}/{task}"
        for file, path in _files(self.folder / _INPUTS / task):
            store.put_file(f"{name}/{file}", path)

    @contextmanager
    def working(self, task: str) -> Iterator[TaskFolders]:
        """Download the input; all folders are removed at the end."""
        store, prefix = open_store(self.url), f"{self.prefix}/{_INPUTS}/{task}/"
        with tempfile.TemporaryDirectory(prefix="periplus-task-") as folder:
            inputs, outputs = _created(Path(folder, _INPUTS)), _created(Path(folder, _OUTPUTS))
            for found in list(store.list(prefix.rstrip("/"))):
                store.get_file(found.name, inputs / found.name.removeprefix(prefix))
            yield TaskFolders(inputs, outputs, _attempt_of(task))

    @contextmanager
    def reading(self, segments: Iterable[SealedSegment]) -> Iterator[Collection]:
        """Download the segments into a new folder; it is removed at the end."""
        with tempfile.TemporaryDirectory(prefix="periplus-task-") as folder:
            collection = Collection(Path(folder), storage=self.url)
            collection.segments.mkdir()
            bring_segments(collection, segments)
            yield collection

    def deliver(self, folders: TaskFolders) -> Delivery:
        """Upload what was written."""
        store, prefix = open_store(self.url), f"{self.prefix}/{_OUTPUTS}/{folders.attempt}"

        def upload(file: tuple[str, Path]) -> DeliveredFile:
            name, path = file
            store.put_file(f"{prefix}/{name}", path)
            return DeliveredFile(name, path.stat().st_size, file_digest(path))

        with ThreadPoolExecutor(AT_ONCE, "uploads") as threads:
            return Delivery(folders.attempt, tuple(threads.map(upload, _files(folders.outputs))))

    def receive(self, delivery: Delivery) -> Path:
        """Download the files of the attempt, and check every byte."""
        store, prefix = open_store(self.url), f"{self.prefix}/{_OUTPUTS}/{delivery.attempt}"
        folder = _created(self.folder / _OUTPUTS / delivery.attempt)

        def download(file: DeliveredFile) -> None:
            path = folder / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            store.get_file(f"{prefix}/{file.name}", path)
            if (problem := wrong_content(path, file.size, file.digest)) is not None:
                raise DamagedFile(f"{self.url}/{prefix}/{file.name} is damaged", problem)

        with ThreadPoolExecutor(AT_ONCE, "downloads") as threads:
            for _ in threads.map(download, delivery.files):
                pass
        return folder

    def remove(self) -> None:
        """Delete the objects and the folder of the driver; also the objects of jobs that were killed long ago."""
        shutil.rmtree(self.folder, ignore_errors=True)
        store, before = open_store(self.url), time.time() - _ABANDONED
        names = (one for one in store.list(_SCRATCH) if one.name.startswith(f"{self.prefix}/") or one.changed < before)
        store.delete([one.name for one in names])


@contextmanager
def handing_over(collection: Collection, folder: Path, job: str) -> Iterator[Handover]:
    """The files of one job, which are removed at the end; *folder* is new.

    Without an object store, the tasks must reach it and the collection under the same paths.
    """
    handover: Handover = FolderHandover(folder, collection.home)
    if collection.storage:
        handover = StoreHandover(folder, collection.storage, f"{_SCRATCH}/{job}-{uuid4().hex}")
    try:
        yield handover
    finally:
        handover.remove()


def _attempt_of(task: str) -> str:
    return f"{task}-{uuid4().hex}"


def _created(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _files(folder: Path) -> list[tuple[str, Path]]:
    return [(str(path.relative_to(folder)), path) for path in sorted(folder.rglob("*")) if path.is_file()]
