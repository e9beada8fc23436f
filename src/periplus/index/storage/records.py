"""Stores records of any length by number, in a memory-mapped file and a file of offsets.

Every record ends with a checksum of its number and its content. So a damaged offset, which leads to another record or
to a part of a record, is noticed. The file begins with the names of the columns, so a reader finds the columns that it
knows, gives the others their defaults, and ignores columns of a later release.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import orjson
import xxhash
from isal import isal_zlib
from numpy.typing import NDArray

from periplus.errors import DamagedFile
from periplus.index.storage.arrays import load_array, save_array
from periplus.store.arrays import write_array

_CHECKSUM_BYTES = 4
_LIST = b"["  # the first byte of an uncompressed record; zlib begins with another one
_NAMES = (1 << 64) - 1  # the number of the record with the column names


def _checksum(record: bytes, number: int) -> bytes:
    return xxhash.xxh3_64_digest(record, seed=number)[:_CHECKSUM_BYTES]


class RecordWriter:
    """Appends records in the order of their numbers."""

    def __init__(self, path: Path, columns: Sequence[str], level: int | None = None, first: int = 0) -> None:
        """The files are `path.dat` and `path.npy`; *level* is that of the compression, None for none.

        *first*: the number of the first record.
        """
        self._path, self._level, self._first = path, level, first
        self._file = path.with_suffix(".dat").open("wb")
        self._offsets = [self._write(list(columns), _NAMES)]

    def add(self, values: Sequence[Any]) -> None:
        """Append the record with the next number: one value per column."""
        number = self._first + len(self._offsets) - 1
        self._offsets.append(self._offsets[-1] + self._write(values, number))

    def _write(self, values: Sequence[Any], number: int) -> int:
        """Write a record; returns its length in bytes."""
        record = orjson.dumps(values, default=tuple)  # `default`: orjson refuses named tuples
        if self._level is not None:
            record = isal_zlib.compress(record, self._level)
        self._file.write(record + _checksum(record, number))
        return len(record) + _CHECKSUM_BYTES

    def finish(self) -> None:
        """Write the offsets."""
        self._file.flush()
        save_array(self._path.with_suffix(".npy"), self._offsets, np.uint64)

    def close(self) -> None:
        """Close the file; without offsets it cannot be read."""
        self._file.close()


class Records:
    """Reads records by number."""

    def __init__(self, path: Path, defaults: dict[str, Any], *, first: int = 0) -> None:
        """*defaults*: the columns to read, in order, each with the value for files that lack it.

        *first*: the number of the first record.
        """
        self._path, self._first = path.with_suffix(".dat"), first
        self._offsets = load_array(path.with_suffix(".npy"), np.uint64)
        self._data = self._map()
        self.names = names = self._values(0, int(self._offsets[0]), _NAMES)  # of the columns in the file
        self._columns = [(names.index(name) if name in names else None, value) for name, value in defaults.items()]

    def _map(self) -> mmap.mmap:
        end = int(self._offsets[-1]) if len(self._offsets) else -1
        try:
            with self._path.open("rb") as handle:
                size = self._path.stat().st_size
                data = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)  # never empty: it has the names
        except (OSError, ValueError) as error:
            raise DamagedFile(f"{self._path} cannot be read", str(error)) from error
        if size != end:
            raise DamagedFile(f"{self._path} is damaged", f"it has {size} bytes instead of {end}")
        return data

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, number: int) -> list[Any]:
        """The values of a record, in the order of the columns that were asked for."""
        place = number - self._first
        row = self._values(int(self._offsets[place]), int(self._offsets[place + 1]), number)
        try:
            return [default if place is None else row[place] for place, default in self._columns]
        except (IndexError, TypeError) as error:
            raise self.damaged(number) from error

    def _values(self, start: int, end: int, number: int) -> list[Any]:
        whole = self._data[start:end]
        record = whole[:-_CHECKSUM_BYTES]
        if whole[-_CHECKSUM_BYTES:] != _checksum(record, number):
            raise self.damaged(number)
        try:
            values: list[Any] = orjson.loads(record if record[:1] == _LIST else isal_zlib.decompress(record))
        except (isal_zlib.error, ValueError) as error:  # type: ignore[misc]  # its stubs call the class an instance
            raise self.damaged(number) from error
        return values

    def append_names(self, file: BinaryIO) -> int:
        """Copy the record with the names of the columns to a file; returns its size."""
        return file.write(memoryview(self._data)[: int(self._offsets[0])])

    def append_to(self, file: BinaryIO, is_kept: NDArray[np.bool_]) -> NDArray[np.uint64]:
        """Copy the kept records to a file, as they are; returns the size of every record there, 0 for the others."""
        edges = np.flatnonzero(np.diff(is_kept, prepend=False, append=False)).reshape(-1, 2)
        file.writelines(memoryview(self._data)[start:end] for start, end in self._offsets[edges].tolist())
        sizes: NDArray[np.uint64] = np.diff(self._offsets) * is_kept
        return sizes

    def damaged(self, number: int) -> DamagedFile:
        """The error that names the file and a record."""
        part = "its first record" if number == _NAMES else f"record {number}"
        return DamagedFile(f"{self._path} is damaged", f"{part} cannot be read")

    def close(self) -> None:
        """Close the file."""
        self._data.close()


def merge_records(paths: Sequence[Path], target: Path, is_kept: NDArray[np.bool_]) -> None:
    """Copy the records of adjacent files, in the order of their numbers, into one file.

    *is_kept*: whether each record is kept, in the same order; the others become empty.
    """
    sizes, done = list[NDArray[np.uint64]](), 0
    with target.with_suffix(".dat").open("wb") as file:
        for path in paths:
            records = Records(path, {})
            if not sizes:
                sizes.append(np.array([records.append_names(file)], np.uint64))
            sizes.append(records.append_to(file, is_kept[done : done + len(records)]))
            done += len(records)
            records.close()
    write_array(target.with_suffix(".npy"), np.cumsum(np.concatenate(sizes), dtype=np.uint64))


def write_records(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write all records of new files, uncompressed."""
    writer = RecordWriter(path, columns)
    try:
        for row in rows:
            writer.add(row)
        writer.finish()
    finally:
        writer.close()


def read_records(path: Path, defaults: dict[str, Any]) -> Iterator[list[Any]]:
    """All records of a file, in order."""
    records = Records(path, defaults)
    try:
        for number in range(len(records)):
            yield records[number]
    finally:
        records.close()
