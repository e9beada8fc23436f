"""Stores what results show of a page, by document number.

Two memory-mapped files: heads are small and read for every candidate; texts are compressed and read for shown results.
Every record ends with a checksum of its document number and its content. So a damaged offset, which leads to the record
of another page or to a part of a record, is noticed.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np
import orjson
import xxhash
from isal import isal_zlib

from periplus.errors import DamagedFile
from periplus.index.arrays import load_array, save_array
from periplus.model import ArchivePosition

_LEVEL = 2
_CHECKSUM_BYTES = 4


@dataclass(frozen=True, slots=True)
class Head:
    """The small part of a page."""

    url: str
    host: str
    title: str
    description: str
    opening: str  # the first words of the text
    mime: str
    language: str
    fetched_at: float
    headings: tuple[str, ...]
    archive: ArchivePosition | None
    same_content: tuple[str, ...]  # other URLs of the same document


class PageStoreWriter:
    """Appends pages in the order of their document numbers."""

    def __init__(self, folder: Path) -> None:
        self._heads = _TableWriter(folder / "heads")
        self._texts = _TableWriter(folder / "texts")

    def add(self, head: Head, text: str) -> None:
        """Append the page with the next document number."""
        archive = head.archive
        position = (archive.name, archive.offset, archive.length) if archive else None
        row = (head.url, head.host, head.title, head.description, head.opening, head.mime, head.language)
        self._heads.add(orjson.dumps((*row, head.fetched_at, head.headings, position, head.same_content)))
        self._texts.add(isal_zlib.compress(text.encode(), _LEVEL))

    def finish(self) -> None:
        """Write the offsets."""
        self._heads.finish()
        self._texts.finish()

    def close(self) -> None:
        """Close the files; unfinished files cannot be read."""
        try:
            self._heads.close()
        finally:  # closing the first fails on a full disk
            self._texts.close()


class PageStore:
    """Reads pages by document number."""

    def __init__(self, folder: Path) -> None:
        self._heads = _Table(folder / "heads")
        self._texts = _Table(folder / "texts")

    def __len__(self) -> int:
        return len(self._heads)

    def __enter__(self) -> PageStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def head(self, number: int) -> Head:
        """The small part of a page."""
        try:
            row = orjson.loads(self._heads[number])
            url, host, title, description, opening, mime, language, fetched_at, headings, position, same = row
            archive = ArchivePosition(*position) if position else None
            page = (url, host, title, description, opening, mime, language, fetched_at, tuple(headings))
            return Head(*page, archive, tuple(same))
        except (ValueError, TypeError) as error:
            raise self._heads.damaged(number) from error

    def text(self, number: int) -> str:
        """The text of a page."""
        try:
            return isal_zlib.decompress(self._texts[number]).decode()
        except (isal_zlib.error, ValueError) as error:  # type: ignore[misc]  # its stubs call the class an instance
            raise self._texts.damaged(number) from error

    def close(self) -> None:
        """Close the files."""
        self._heads.close()
        self._texts.close()


def _checksum(record: bytes, number: int) -> bytes:
    return xxhash.xxh3_64_digest(record, seed=number)[:_CHECKSUM_BYTES]


class _TableWriter:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.with_suffix(".dat").open("wb")
        self._offsets = [0]

    def add(self, record: bytes) -> None:
        self._file.write(record)
        self._file.write(_checksum(record, len(self._offsets) - 1))
        self._offsets.append(self._offsets[-1] + len(record) + _CHECKSUM_BYTES)

    def finish(self) -> None:
        self._file.flush()
        save_array(self._path.with_suffix(".npy"), self._offsets, np.uint64)

    def close(self) -> None:
        self._file.close()


class _Table:
    """Records of any length, concatenated, and their offsets."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_suffix(".dat")
        self._offsets = load_array(path.with_suffix(".npy"), np.uint64)
        end = int(self._offsets[-1]) if len(self._offsets) else -1
        try:
            with self._path.open("rb") as handle:
                size = self._path.stat().st_size
                self._data = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) if size else None
        except (OSError, ValueError) as error:
            raise DamagedFile(f"{self._path} cannot be read", str(error)) from error
        if size != end:
            raise DamagedFile(f"{self._path} is damaged", f"it has {size} bytes instead of {end}")

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, number: int) -> bytes:
        start, end = int(self._offsets[number]), int(self._offsets[number + 1])
        whole = self._data[start:end] if self._data is not None else b""
        record = whole[:-_CHECKSUM_BYTES]
        if whole[-_CHECKSUM_BYTES:] != _checksum(record, number):
            raise self.damaged(number)
        return record

    def damaged(self, number: int) -> DamagedFile:
        return DamagedFile(f"{self._path} is damaged", f"record {number} cannot be read")

    def close(self) -> None:
        if self._data is not None:
            self._data.close()
