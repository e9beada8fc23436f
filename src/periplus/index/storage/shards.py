"""Divides the documents of a generation into shards.

A sharded generation has `"shards": N` in its `meta.json`. The folders `shard-0` to `shard-(N-1)` hold what belongs to
documents: full-text index, page store, forward index, vectors, ranks. What concerns the whole collection is in the
folder of the generation, once: lexicon, vocabulary, phrases, word vectors, names of sites. A document keeps the number
that it has in the whole collection; `numbers.npy` of its shard lists them in order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from periplus.errors import DamagedFile
from periplus.index.storage.arrays import load_array

SHARDS = "shards"  # key of meta.json; a generation without it has one shard, in the folder of the generation
NUMBERS = "numbers.npy"  # file of a shard: the numbers of its documents in the whole collection, ascending
_FOLDER = "shard-"


def shard_of(url_id: bytes, shards: int) -> int:
    """The shard of the document with this URL id."""
    return int.from_bytes(url_id[:8], "big") % shards


def shard_folder(generation: Path, shard: int) -> Path:
    """The folder of a shard."""
    return generation / f"{_FOLDER}{shard}"


def shard_count(meta: Mapping[str, Any]) -> int:
    """The number of shards of a generation, by its `meta.json`; 0: it is not divided."""
    return int(meta.get(SHARDS, 0))


def shard_folders(generation: Path) -> list[Path]:
    """The folders of all shards of a generation, in order; none when it is not divided."""
    return [shard_folder(generation, shard) for shard in range(len(list(generation.glob(f"{_FOLDER}[0-9]*"))))]


def document_folders(generation: Path, shards: int) -> list[Path]:
    """The folders for the documents of a generation: one for each shard, or that of the generation itself."""
    return [shard_folder(generation, shard) for shard in range(shards)] if shards > 1 else [generation]


class ShardNumbers:
    """Finds the shard of a document by its number in the whole collection."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """*folders*: of all shards, in order."""
        found = [load_array(folder / NUMBERS, np.uint32) for folder in folders]
        total = sum(map(len, found))
        self.owners: NDArray[np.intp] = np.full(total, -1, np.intp)  # shard, by number
        self.places: NDArray[np.intp] = np.zeros(total, np.intp)  # number in that shard, by number
        for shard, numbers in enumerate(found):
            inside = numbers[numbers < total]
            self.owners[inside], self.places[inside] = shard, np.arange(len(inside))
        if total and self.owners.min() < 0:
            raise DamagedFile(f"{folders[0].parent} is damaged", "its shards lack documents")


def files_for_shards(shards: Collection[int], names: Iterable[str]) -> list[str]:
    """Those of the files of a generation that all shards share, or that belong to the given shards."""
    others = tuple(f"{_FOLDER}{shard}/" for shard in shards)
    return [name for name in names if not name.startswith(_FOLDER) or name.startswith(others)]
