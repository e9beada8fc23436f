"""The meaning of every document: the mean of the vectors of its words, for its title, headings and opening.

A search compares them with the mean of the words of the query, without reading any text. A component takes one byte,
relative to the largest of its vector, because only directions are compared.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from periplus.index.forward.forward_index import ForwardIndex
from periplus.index.storage.arrays import load_array
from periplus.index.storage.parts import MEANINGS, parts_of
from periplus.index.storage.shards import shard_folder, shard_folders
from periplus.index.vectors.word_vectors import DIMENSIONS, FOLDER, Vectors
from periplus.store.arrays import new_array
from periplus.text.bm25 import idf

FIELDS = ("title", "headings", "opening")
_AT_ONCE = 1_000  # documents
_SCALE = 127.0
F32 = NDArray[np.float32]


class DocumentVectors:
    """Reads the vectors of documents; memory-mapped."""

    def __init__(self, generation: Path) -> None:
        parts = parts_of(generation)
        self._firsts = np.array([part.first for part in parts])
        self._matrices = [
            load_array(part.folder / MEANINGS, np.int8).reshape(-1, len(FIELDS), DIMENSIONS) for part in parts
        ]

    def cosines(self, numbers: NDArray[np.integer], vector: F32) -> NDArray[np.float64]:
        """The cosine of a vector with title, headings and opening of each document; 0 for a field without a vector."""
        found = np.empty((len(numbers), len(FIELDS), DIMENSIONS), np.float32)
        owners = np.searchsorted(self._firsts, numbers, side="right") - 1
        for owner in np.unique(owners).tolist():
            chosen = owners == owner
            found[chosen] = self._matrices[owner][np.asarray(numbers)[chosen] - self._firsts[owner]]
        lengths = np.sqrt(np.einsum("dfc,dfc->df", found, found)) * max(float(np.linalg.norm(vector)), 1e-9)
        cosines: NDArray[np.float64] = (found @ vector / np.maximum(lengths, 1e-9)).astype(np.float64)
        return cosines


def open_document_vectors(generation: Path, shard: int | None = None) -> DocumentVectors | None:
    """The vectors of the documents of a generation or one of its shards; None when `index.vectors` was off."""
    folder = generation if shard is None else shard_folder(generation, shard)
    return DocumentVectors(folder) if (generation / FOLDER).is_dir() else None


def write_document_vectors(generation: Path) -> None:
    """Write the vectors of the documents of all parts that lack them; words have their vectors already."""
    index, folders = ForwardIndex(generation), shard_folders(generation)
    for shard, folder in enumerate(folders):
        _write(generation, folder, index.of_shard(shard))
    if not folders:
        _write(generation, generation, index)


def _write(generation: Path, folder: Path, index: ForwardIndex) -> None:
    """Write the vectors of the documents in a folder."""
    vectors = Vectors(generation, index.lexicon)
    frequencies = index.lexicon.documents(np.arange(len(index.lexicon), dtype=np.uint32))
    weights = idf(frequencies.astype(np.float64), len(index)).astype(np.float32)
    for part, size in zip(parts_of(folder), index.sizes, strict=True):
        if not (part.folder / MEANINGS).exists():
            file = new_array(part.folder / MEANINGS, np.int8, size * len(FIELDS) * DIMENSIONS)
            _fill(file.reshape(size, len(FIELDS), DIMENSIONS), part.first, index, vectors, weights)


def _fill(matrix: NDArray[np.int8], start: int, index: ForwardIndex, vectors: Vectors, weights: F32) -> None:
    for first in range(0, len(matrix), _AT_ONCE):
        places = np.arange(first, min(first + _AT_ONCE, len(matrix)))
        for column, field in enumerate(FIELDS):
            rows = index.read(start + places, field)
            means = vectors.means(rows, weights[rows.words])
            largest = np.maximum(np.abs(means).max(axis=1, keepdims=True), 1e-9)
            matrix[places, column] = np.rint(_SCALE * means / largest).astype(np.int8)
