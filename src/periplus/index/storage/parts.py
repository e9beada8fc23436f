"""Divides the page store and the forward index of a generation into parts, so that an update need not copy them.

A part has the documents of a range of numbers. The folder of the generation itself has the first part, `parts/N` the
part that begins with number N. An update writes its new documents as a new part and links the files of the others.
Small parts at the end are merged with the new part, so there are few of them: every part has more than three times as
many documents as the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from periplus.errors import DamagedFile

FOLDER = "parts"
DOCUMENTS = "documents.parquet"  # file: number, URL id and fingerprint of every document
PAGE_FILES = tuple(f"{name}.{suffix}" for name in ("heads", "texts", "details") for suffix in ("dat", "npy"))
FORWARD_FILES = tuple(f"forward/{name}.npy" for name in ("text", "columns", "lengths"))
MEANINGS = "meanings.npy"  # file: the vectors of documents; missing when `index.vectors` is off
_RATIO = 3
_SMALL = 1_000  # documents; a part with fewer counts as one with so many


class Part(NamedTuple):
    """The documents of a range of numbers."""

    first: int  # number
    folder: Path


def parts_of(generation: Path) -> list[Part]:
    """The parts of a generation, in the order of their numbers."""
    numbers = sorted(int(path.name) for path in (generation / FOLDER).glob("[0-9]*"))
    return [Part(first, part_folder(generation, first)) for first in (0, *numbers)]


def document_numbers(generation: Path) -> NDArray[np.int64]:
    """The numbers of the documents of a generation, in order; those of removed documents are missing."""
    path = generation / DOCUMENTS
    try:
        found: NDArray[np.int64] = parquet.read_table(path, columns=["number"])["number"].to_numpy()
    except (pa.ArrowException, OSError) as error:
        raise DamagedFile(f"{path} is damaged", str(error)) from error
    return found


def part_folder(generation: Path, first: int) -> Path:
    """The folder of the part that begins with a number."""
    return generation / FOLDER / str(first) if first else generation


def parts_to_merge(sizes: Sequence[int], added: int) -> int:
    """How many of the last parts are merged with a new one; *sizes*: the documents of every part."""
    merged = 0
    for size in reversed(sizes):
        if size > _RATIO * max(added, _SMALL):
            break
        added, merged = added + size, merged + 1
    return merged
