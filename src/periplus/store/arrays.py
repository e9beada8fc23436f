"""Stores arrays in NumPy files and maps them into memory.

A full disk is reported before anything is written, a damaged file before anything is read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from periplus.errors import DamagedFile


def new_array(path: Path, kind: DTypeLike, length: int) -> NDArray[Any]:
    """Create a file with an array that the caller fills in place."""
    if not length:  # an empty file cannot be mapped
        np.save(path, np.empty(0, kind))
        return np.empty(0, kind)
    mapped = np.lib.format.open_memmap(path, mode="w+", dtype=np.dtype(kind), shape=(length,))
    with path.open("r+b") as file:  # a full disk is an error here; without this it would be a bus error later
        os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    return mapped


def write_array(path: Path, content: NDArray[Any]) -> None:
    """Create a file with the given array."""
    new_array(path, content.dtype, len(content))[:] = content


def map_array(path: Path, kind: DTypeLike, length: int | None) -> NDArray[Any]:
    """Map the array in a file into memory; *length* is the expected one."""
    try:
        mapped = np.load(path, mmap_mode="r")
        whole = mapped.offset + mapped.nbytes == path.stat().st_size
    except Exception as error:  # numpy parses the header with Python's own parser, which raises many types
        raise DamagedFile(f"{path} cannot be read", str(error)[:200]) from error
    if not whole or mapped.dtype != kind or mapped.ndim != 1 or length not in (None, len(mapped)):
        raise DamagedFile(f"{path} is damaged", f"it has shape {mapped.shape} and type {mapped.dtype}")
    return np.asarray(mapped)
