"""How is an array kept in a file, and mapped into memory?

A disk without room is told before anything is written, a damaged file before anything is read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from periplus.errors import DamagedFile


def new_array(path: Path, kind: DTypeLike, length: int) -> NDArray[Any]:
    """A new file with an array to be filled in place."""
    if not length:  # nothing can be mapped there
        np.save(path, np.empty(0, kind))
        return np.empty(0, kind)
    mapped = np.lib.format.open_memmap(path, mode="w+", dtype=np.dtype(kind), shape=(length,))
    with path.open("r+b") as file:  # room that is missing is an error now, and would be a bus error later
        os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    return mapped


def write_array(path: Path, content: NDArray[Any]) -> None:
    """A new file with an array, complete."""
    new_array(path, content.dtype, len(content))[:] = content


def map_array(path: Path, kind: DTypeLike, length: int | None, remedy: str) -> NDArray[Any]:
    """The array in a file, read as it is touched; *length* is what it must have, *remedy* what to do if not."""
    try:
        mapped = np.load(path, mmap_mode="r")
        whole = mapped.offset + mapped.nbytes == path.stat().st_size
    except Exception as error:  # numpy leaves the header to Python's own parser, which fails in many ways
        raise DamagedFile(f"{path} cannot be read", str(error)[:200], remedy) from error
    if not whole or mapped.dtype != kind or mapped.ndim != 1 or length not in (None, len(mapped)):
        raise DamagedFile(f"{path} is damaged", f"it holds {mapped.shape} numbers of type {mapped.dtype}", remedy)
    return np.asarray(mapped)
