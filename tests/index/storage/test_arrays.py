"""A number for every document comes back as it was, or the file is named."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from index.damage import WAYS, flip
from periplus.errors import DamagedFile
from periplus.index.storage.arrays import load_array, save_array


@pytest.mark.parametrize("values", [[], [1.5], [0.0, 2.5, 3.25]])
def test_numbers_come_back(tmp_path: Path, values: list[float]) -> None:
    save_array(tmp_path / "a.npy", values, np.float32)
    assert load_array(tmp_path / "a.npy", np.float32, len(values)).tolist() == values


def test_another_length_or_kind_is_damage(tmp_path: Path) -> None:
    save_array(tmp_path / "a.npy", [1, 2, 3], np.uint64)
    assert load_array(tmp_path / "a.npy", np.uint64).tolist() == [1, 2, 3]
    with pytest.raises(DamagedFile, match=r"a\.npy is damaged"):
        load_array(tmp_path / "a.npy", np.uint64, 4)
    with pytest.raises(DamagedFile, match=r"a\.npy is damaged"):
        load_array(tmp_path / "a.npy", np.float32, 3)


@pytest.mark.parametrize("way", [way for way in WAYS if not way.startswith("flipped")])
def test_a_damaged_file_is_named(tmp_path: Path, way: str) -> None:
    save_array(tmp_path / "a.npy", [1, 2, 3], np.uint64)
    WAYS[way](tmp_path / "a.npy")
    with pytest.raises(DamagedFile, match=r"a\.npy cannot be read: .*Run `periplus repair`\."):
        load_array(tmp_path / "a.npy", np.uint64, 3)


def test_a_flipped_bit_of_the_header_is_numbers_or_our_error(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    save_array(path, [], np.uint64)
    for place in range(path.stat().st_size):
        save_array(path, [], np.uint64)
        flip(path, place / (path.stat().st_size - 1))
        with suppress(DamagedFile):
            assert load_array(path, np.uint64).dtype == np.uint64
