"""How is one number a document kept, so that it is found by document number?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from periplus.errors import DamagedFile
from periplus.index.generations import REBUILD

Item = TypeVar("Item", bound=np.generic)


def save_array(path: Path, values: Sequence[float], kind: type[Item]) -> None:
    """Write an array to a new file."""
    np.save(path, np.array(values, kind))


def load_array(path: Path, kind: type[Item], length: int | None = None) -> NDArray[Item]:
    """Map an array into memory; *length* is what it must have."""
    try:
        array = np.asarray(np.load(path, mmap_mode="r"))
    except Exception as error:  # numpy leaves the header to Python's own parser, which fails in many ways
        raise DamagedFile(f"{path} cannot be read", str(error)[:200], REBUILD) from error
    if array.dtype != kind or array.ndim != 1 or len(array) != (len(array) if length is None else length):
        raise DamagedFile(f"{path} is damaged", f"it holds {array.shape} numbers of type {array.dtype}", REBUILD)
    return array
