"""An array is read as it was written; a full disk or a damaged file is reported in one line."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from periplus.errors import DamagedFile, DiskFull
from periplus.store.arrays import map_array, new_array, write_array
from periplus.store.durable import reporting_full_disk
from store.records import error_line
from store.small_disk import small_disk

ARRAYS = [
    np.arange(1000, dtype=np.uint32),
    np.array([0.5], np.float32),
    np.array([b"\0" * 16, b"\xff" * 16], "S16"),
    np.empty(0, np.uint64),
]


@pytest.mark.parametrize("content", ARRAYS, ids=lambda array: f"{len(array)} {array.dtype}")
def test_an_array_comes_back_as_it_was(tmp_path: Path, content: NDArray[Any]) -> None:
    write_array(tmp_path / "a.npy", content)
    found = map_array(tmp_path / "a.npy", content.dtype, len(content))
    assert found.dtype == content.dtype
    assert found.tolist() == content.tolist()


def test_an_array_is_filled_in_place(tmp_path: Path) -> None:
    new_array(tmp_path / "a.npy", np.uint32, 3)[1:] = 7
    assert map_array(tmp_path / "a.npy", np.uint32, 3).tolist() == [0, 7, 7]


@pytest.mark.parametrize("size", [1 << 15, 1 << 20])
def test_a_disk_without_room_is_reported(tmp_path: Path, size: int) -> None:
    with small_disk(tmp_path / "disk", "64k") as disk:

        def fill() -> None:
            with reporting_full_disk(disk):
                write_array(disk / "a.npy", np.ones(size, np.uint64))

        assert "free some space" in error_line(DiskFull, fill, exit_code=3)


@pytest.mark.parametrize(("kind", "length"), [(np.float32, 3), (np.uint32, 4), (np.int32, 3)])
def test_an_array_of_another_shape_is_reported(tmp_path: Path, kind: type[Any], length: int) -> None:
    write_array(tmp_path / "a.npy", np.arange(3, dtype=np.uint32))
    line = error_line(DamagedFile, lambda: map_array(tmp_path / "a.npy", kind, length))
    assert "a.npy is damaged" in line
    assert line.endswith("Run `periplus repair`.")


def test_a_flipped_bit_in_the_header_is_reported_or_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    write_array(path, np.arange(9, dtype=np.uint32))
    content = path.read_bytes()
    for place in range(len(content) - 36):
        for bit in range(8):
            damaged = bytearray(content)
            damaged[place] ^= 1 << bit
            path.write_bytes(damaged)
            with suppress(DamagedFile):
                assert map_array(path, np.uint32, 9).tolist() == list(range(9)), (place, bit)
