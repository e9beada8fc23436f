"""Passes input files to the tasks of a distributed job, and collects the files that tasks have written.

Every attempt of a task writes under a name of its own. The driver learns this name from the result of the task, so what
a failed, repeated or late attempt has written is never read. It is removed when the job ends.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol
from uuid import uuid4

from periplus.errors import DamagedFile
from periplus.store.checksums import StoredFile, file_digest, wrong_size
from periplus.store.cleanup import remove_scratch_folders
from periplus.store.collection import Collection
from periplus.store.fleet_files.job_files import bring_segments
from periplus.store.manifest import SealedSegment
from periplus.store.objects.open_store import open_store
from periplus.store.objects.scratch import SCRATCH, new_job, remove_scratch
from periplus.store.objects.transfers import PARALLEL_TRANSFERS, download_checked

_INPUTS, _OUTPUTS = "inputs", "outputs"


class OutputFile(NamedTuple):
    """A file that a task has written."""

    name: str  # in the folder of the attempt
    size: int
    digest: bytes  # empty in a folder that the driver reads itself


class TaskOutput(NamedTuple):
    """The files of the attempt of a task that succeeded."""

    attempt: str
    files: tuple[OutputFile, ...]


class TaskFolders(NamedTuple):
    """The folders of one attempt of a task."""

    inputs: Path  # what the driver has published
    outputs: Path  # to write to
    attempt: str


class JobStaging(Protocol):
    """The files of one job. The driver and the tasks have equal copies of it."""

    def inputs_of(self, task: str) -> Path:
        """Driver: create a folder for the input of a task."""
        ...

    def publish_input(self, task: str) -> None:
        """Driver: let tasks read a folder of input, which is complete."""
        ...

    def task_folders(self, task: str) -> AbstractContextManager[TaskFolders]:
        """Task: have the folders of an attempt in the block."""
        ...

    def collection_with(self, segments: Iterable[SealedSegment]) -> AbstractContextManager[Collection]:
        """Task: have a collection with at least these segments in the block; its archive may be in the object store."""
        ...

    def publish_output(self, folders: TaskFolders) -> TaskOutput:
        """Task: let the driver read what the attempt has written; the result of the task names it."""
        ...

    def collect_output(self, output: TaskOutput) -> Path:
        """Driver: the folder of an attempt that succeeded, after a check of its files."""
        ...


@dataclass(frozen=True, slots=True)
class FolderStaging:
    """A folder of the collection, which the driver and all tasks reach under the same path."""

    folder: Path
    home: Path  # of the collection

    def inputs_of(self, task: str) -> Path:
        """Create the folder for the input of a task."""
        return _created(self.folder / _INPUTS / task)

    def publish_input(self, task: str) -> None:
        """Do nothing: tasks read the folder itself."""

    @contextmanager
    def task_folders(self, task: str) -> Iterator[TaskFolders]:
        """Create a folder for the output; it is removed when the block fails. After the end of the job, it fails."""
        attempt = _attempt_of(task)
        outputs = _created(self.folder / _OUTPUTS / attempt)
        try:
            yield TaskFolders(self.folder / _INPUTS / task, outputs, attempt)
        except BaseException:
            shutil.rmtree(outputs, ignore_errors=True)
            raise

    @contextmanager
    def collection_with(self, segments: Iterable[SealedSegment]) -> Iterator[Collection]:  # noqa: ARG002  # all are there
        """The collection itself, without its catalog."""
        yield Collection(self.home)

    def publish_output(self, folders: TaskFolders) -> TaskOutput:
        """List the files."""
        files = (OutputFile(name, path.stat().st_size, b"") for name, path in _files(folders.outputs))
        return TaskOutput(folders.attempt, tuple(files))

    def collect_output(self, output: TaskOutput) -> Path:
        """The folder of the attempt itself, after a check of the sizes."""
        folder = self.folder / _OUTPUTS / output.attempt
        for file in output.files:
            if (problem := wrong_size(folder / file.name, file.size)) is not None:
                raise DamagedFile(f"{folder / file.name} is damaged", problem)
        return folder


@dataclass(frozen=True, slots=True)
class StoreStaging:
    """Objects under a prefix, for executors on other machines; each side keeps files in a folder of its own."""

    folder: Path  # of the driver
    url: str  # of the object store
    prefix: str

    def inputs_of(self, task: str) -> Path:
        """Create the folder for the input of a task."""
        return _created(self.folder / _INPUTS / task)

    def publish_input(self, task: str) -> None:
        """Upload the folder."""
        store, name = open_store(self.url), f"{self.prefix}/{_INPUTS}/{task}"
        for file, path in _files(self.folder / _INPUTS / task):
            store.put_file(f"{name}/{file}", path)

    @contextmanager
    def task_folders(self, task: str) -> Iterator[TaskFolders]:
        """Download the input; all folders are removed at the end."""
        store, prefix = open_store(self.url), f"{self.prefix}/{_INPUTS}/{task}/"
        with tempfile.TemporaryDirectory(prefix="periplus-task-") as folder:
            inputs, outputs = _created(Path(folder, _INPUTS)), _created(Path(folder, _OUTPUTS))
            for found in list(store.list(prefix.rstrip("/"))):
                store.get_file(found.name, inputs / found.name.removeprefix(prefix))
            yield TaskFolders(inputs, outputs, _attempt_of(task))

    @contextmanager
    def collection_with(self, segments: Iterable[SealedSegment]) -> Iterator[Collection]:
        """Download the segments into a new folder; it is removed at the end."""
        with tempfile.TemporaryDirectory(prefix="periplus-task-") as folder:
            collection = Collection(Path(folder), storage=self.url)
            collection.segments.mkdir()
            bring_segments(collection, segments)
            yield collection

    def publish_output(self, folders: TaskFolders) -> TaskOutput:
        """Upload what was written."""
        store, prefix = open_store(self.url), f"{self.prefix}/{_OUTPUTS}/{folders.attempt}"

        def upload(file: tuple[str, Path]) -> OutputFile:
            name, path = file
            store.put_file(f"{prefix}/{name}", path)
            return OutputFile(name, path.stat().st_size, file_digest(path))

        with ThreadPoolExecutor(PARALLEL_TRANSFERS, "uploads") as threads:
            return TaskOutput(folders.attempt, tuple(threads.map(upload, _files(folders.outputs))))

    def collect_output(self, output: TaskOutput) -> Path:
        """Download the files of the attempt, and check every byte."""
        store, prefix = open_store(self.url), f"{self.prefix}/{_OUTPUTS}/{output.attempt}"
        folder = _created(self.folder / _OUTPUTS / output.attempt)

        def download(file: OutputFile) -> None:
            path = folder / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            download_checked(store, f"{prefix}/{file.name}", StoredFile(path, file.size, file.digest))

        with ThreadPoolExecutor(PARALLEL_TRANSFERS, "downloads") as threads:
            for _ in threads.map(download, output.files):
                pass
        return folder


@contextmanager
def job_staging(collection: Collection, kind: str) -> Iterator[JobStaging]:
    """The files of one job, in `scratch/` of the collection and of the object store; they are removed at the end.

    Without an object store, the tasks must reach the collection under the same path.
    """
    job = new_job(kind)
    folder = collection.scratch / job
    for name in (_INPUTS, _OUTPUTS):
        (folder / name).mkdir(parents=True)
    try:
        if collection.storage:
            yield StoreStaging(folder, collection.storage, f"{SCRATCH}/{job}")
        else:
            yield FolderStaging(folder, collection.home)
    finally:
        remove_scratch_folders(collection, job)
        if collection.storage:
            remove_scratch(open_store(collection.storage), job)


def _attempt_of(task: str) -> str:
    return f"{task}-{uuid4().hex}"


def _created(folder: Path) -> Path:
    """Create a folder; an attempt that begins after its job has ended finds no parent, and fails."""
    folder.mkdir()
    return folder


def _files(folder: Path) -> list[tuple[str, Path]]:
    return [(str(path.relative_to(folder)), path) for path in sorted(folder.rglob("*")) if path.is_file()]
