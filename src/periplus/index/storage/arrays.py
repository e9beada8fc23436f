"""Stores one number per document, in the order of document numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from periplus.store.arrays import map_array, write_array

Item = TypeVar("Item", bound=np.generic)


def save_array(path: Path, values: Sequence[float], kind: type[Item]) -> None:
    """Write an array to a new file."""
    write_array(path, np.array(values, kind))


def load_array(path: Path, kind: type[Item], length: int | None = None) -> NDArray[Item]:
    """Map an array into memory; *length* is the expected one."""
    return map_array(path, kind, length)
