"""The interface of an object store: named objects, and one conditional write.

`open_store` opens one. Every implementation passes `tests/contracts/test_object_store.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol


class ObjectFacts(NamedTuple):
    """One object of a listing."""

    name: str
    size: int
    changed: float  # Unix time


class Content(NamedTuple):
    """The content of an object, and the tag that a conditional write of its successor needs."""

    data: bytes
    tag: str


class ObjectStore(Protocol):
    """Stores the files of a fleet; safe to share between threads.

    Every method repeats what a passing error has stopped, and raises `StorageUnavailable` when it gives up.
    A missing object is `ObjectMissing`.
    """

    @property
    def url(self) -> str:
        """The address that `open_store` was given, for messages."""
        ...

    def put(self, name: str, data: bytes) -> None:
        """Write an object; it replaces one of the same name."""
        ...

    def put_file(self, name: str, path: Path) -> None:
        """Write an object with the content of a file, however large."""
        ...

    def put_if(self, name: str, data: bytes, tag: str | None) -> str:
        """Write an object if its present tag is *tag* (None: if there is none); returns the new tag.

        Raises `ObjectChanged` when another writer came first. A write that had landed before may be repeated.
        """
        ...

    def get(self, name: str) -> Content:
        """Read a small object."""
        ...

    def get_file(self, name: str, path: Path, go_on: Callable[[], object] = bool) -> None:
        """Write the content of an object to the file *path*; the caller checks it and moves it into place.

        *go_on* is called before every part of some megabytes; an exception that it raises ends the download.
        """
        ...

    def read_range(self, name: str, offset: int, length: int) -> bytes:
        """Read bytes of an object; fewer at its end."""
        ...

    def list(self, folder: str) -> Iterator[ObjectFacts]:
        """Every object whose name begins with the folder and a slash."""
        ...

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects; those that do not exist are no error."""
        ...
