"""Ways to damage a file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet


def delete(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path, place: float = 0.5, bit: int = 4) -> None:
    """One bit, at a share of the length."""
    data = bytearray(path.read_bytes())
    data[int(place * (len(data) - 1))] ^= bit
    path.write_bytes(data)


WAYS: dict[str, Callable[[Path], None]] = {
    "deleted": delete,
    "emptied": empty,
    "zeroed": zero,
    "cut in half": cut,
    "flipped in the middle": flip,
    "flipped at the start": lambda path: flip(path, 0.0),
    "flipped near the end": lambda path: flip(path, 0.95),
}


def change(path: Path, column: str, edit: Callable[[Any], Any]) -> None:
    """Replace one value of a Parquet file; the file stays readable, as after a flipped bit in its data."""
    table = parquet.read_table(path)
    values = table[column].to_pylist()
    values[0] = edit(values[0])
    place = table.schema.get_field_index(column)
    parquet.write_table(table.set_column(place, table.schema.field(column), pa.array(values, table[column].type)), path)


def zero_middle(path: Path) -> None:
    """Two database pages in the middle become zeros."""
    data = path.read_bytes()
    middle = len(data) // 2 // 4096 * 4096
    path.write_bytes(data[:middle] + bytes(8192) + data[middle + 8192 :])


def zero_table(path: Path, table: str) -> None:
    """The first page of one table of a database becomes zeros; statements on other tables do not notice it."""
    with closing(sqlite3.connect(path)) as connection:
        ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [table])
        ((size,),) = connection.execute("PRAGMA page_size")
    data = path.read_bytes()
    path.write_bytes(data[: (root - 1) * size] + bytes(size) + data[root * size :])
