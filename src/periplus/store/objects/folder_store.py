"""An object store in a folder, for example a network file system that every node has mounted."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import xxhash

from periplus.errors import ObjectChanged, ObjectMissing, StorageUnavailable, UsageError
from periplus.store.durable import move_into_place, reporting_full_disk
from periplus.store.objects.object_store import Content, ObjectFacts

_LOCK = ".lock"  # held by conditional writers
_UNFINISHED = ".tmp"
_PART = 8 << 20  # bytes
_HINT = "Check that the folder exists and is mounted, and that this user may write it."


class FolderObjectStore:
    """Objects as files of one folder."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self._folder = url, folder

    def put(self, name: str, data: bytes) -> None:
        """Write an object, durably."""
        with self._reporting(name), self._written(name) as unfinished:
            unfinished.write_bytes(data)

    def put_file(self, name: str, path: Path) -> None:
        """Write an object with the content of a file."""
        with self._reporting(name), self._written(name) as unfinished:
            shutil.copyfile(path, unfinished)

    def put_if(self, name: str, data: bytes, tag: str | None) -> str:
        """Write an object if its present tag is *tag*."""
        with self._reporting(name), (self._folder / _LOCK).open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                present: Content | None = self.get(name)
            except ObjectMissing:
                present = None
            if present is None or present.data != data:
                if tag != (present.tag if present else None):
                    raise ObjectChanged(f"another process has written {name}")
                self.put(name, data)
        return _tag(data)

    def get(self, name: str) -> Content:
        """Read a small object."""
        with self._reporting(name):
            data = self._path(name).read_bytes()
        return Content(data, _tag(data))

    def get_file(self, name: str, path: Path, go_on: Callable[[], object] = bool) -> None:
        """Write the content of an object to a file."""
        with self._reporting(name):
            source = self._path(name).open("rb", buffering=0)
        with source, reporting_full_disk(path.parent), path.open("wb", buffering=0) as file:
            go_on()
            while os.sendfile(file.fileno(), source.fileno(), None, _PART):
                go_on()

    def read_range(self, name: str, offset: int, length: int) -> bytes:
        """Read bytes of an object."""
        with self._reporting(name), self._path(name).open("rb", buffering=0) as file:
            return os.pread(file.fileno(), length, offset)

    def list(self, folder: str) -> Iterator[ObjectFacts]:
        """Every object of a folder and its sub-folders."""
        for path in sorted(self._path(folder).rglob("*")):
            if path.is_file() and not path.name.endswith(_UNFINISHED):
                facts = path.stat()
                yield ObjectFacts(path.relative_to(self._folder).as_posix(), facts.st_size, facts.st_mtime)

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects."""
        for name in names:
            with self._reporting(name):
                self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        if not all(part.strip(".") for part in name.split("/")):
            raise UsageError(f"{name!r} is not the name of an object")
        return self._folder / name

    @contextmanager
    def _written(self, name: str) -> Iterator[Path]:
        """A file to write; it becomes the object at the end of the block."""
        final = self._path(name)
        if not self._folder.is_dir():  # a folder that is not mounted is not created
            raise FileNotFoundError
        final.parent.mkdir(parents=True, exist_ok=True)
        unfinished = final.with_name(f".{final.name}-{uuid4().hex}{_UNFINISHED}")
        try:
            yield unfinished
            move_into_place(unfinished, final)
        finally:
            unfinished.unlink(missing_ok=True)

    @contextmanager
    def _reporting(self, name: str) -> Iterator[None]:
        try:
            with reporting_full_disk(self._folder):
                yield
        except OSError as error:
            if not self._folder.is_dir():
                raise StorageUnavailable(f"{self.url} cannot be used", "there is no such folder", _HINT) from error
            if isinstance(error, (FileNotFoundError, IsADirectoryError, NotADirectoryError)):
                raise ObjectMissing(f"{self.url} has no object {name}") from error
            raise StorageUnavailable(f"{self.url} cannot be used", f"{name}: {error.strerror}", _HINT) from error


def _tag(data: bytes) -> str:
    return xxhash.xxh3_128_hexdigest(data)
