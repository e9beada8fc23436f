"""The meaning of every document: the mean of the vectors of its words, for its title, headings and opening.

A search compares them with the mean of the words of the query, without reading any text. A component takes one byte,
relative to the largest of its vector, because only directions are compared.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from periplus.index.arrays import load_array
from periplus.index.forward import ForwardIndex
from periplus.index.vectors import DIMENSIONS, FOLDER, Vectors
from periplus.store.arrays import new_array
from periplus.text.bm25 import idf

FIELDS = ("title", "headings", "opening")
_FILE = "documents.npy"
_AT_ONCE = 1_000  # documents
_SCALE = 127.0
F32 = NDArray[np.float32]


class DocumentVectors:
    """Reads the vectors of documents; memory-mapped."""

    def __init__(self, generation: Path, documents: int) -> None:
        size = documents * len(FIELDS) * DIMENSIONS
        found = load_array(generation / FOLDER / _FILE, np.int8, size)
        self._matrix = found.reshape(documents, len(FIELDS), DIMENSIONS)

    def cosines(self, numbers: NDArray[np.integer], vector: F32) -> NDArray[np.float64]:
        """The cosine of a vector with title, headings and opening of each document; 0 for a field without a vector."""
        found = self._matrix[numbers].astype(np.float32)
        lengths = np.sqrt(np.einsum("dfc,dfc->df", found, found)) * max(float(np.linalg.norm(vector)), 1e-9)
        cosines: NDArray[np.float64] = (found @ vector / np.maximum(lengths, 1e-9)).astype(np.float64)
        return cosines


def write_document_vectors(generation: Path) -> None:
    """Write the vectors of all documents of a generation, whose words have vectors already."""
    index = ForwardIndex(generation)
    vectors = Vectors(generation, index.lexicon)
    file = new_array(generation / FOLDER / _FILE, np.int8, len(index) * len(FIELDS) * DIMENSIONS)
    matrix = file.reshape(len(index), len(FIELDS), DIMENSIONS)
    weights = idf(
        index.lexicon.documents(np.arange(len(index.lexicon), dtype=np.uint32)).astype(np.float64), len(index)
    )
    for first in range(0, len(index), _AT_ONCE):
        numbers = np.arange(first, min(first + _AT_ONCE, len(index)))
        for place, field in enumerate(FIELDS):
            rows = index.read(numbers, field)
            means = vectors.means(rows, weights[rows.words].astype(np.float32))
            largest = np.maximum(np.abs(means).max(axis=1, keepdims=True), 1e-9)
            matrix[numbers, place] = np.rint(_SCALE * means / largest).astype(np.int8)


def open_document_vectors(generation: Path, documents: int) -> DocumentVectors | None:
    """The vectors of the documents of a generation; None when `index.vectors` was off."""
    return DocumentVectors(generation, documents) if (generation / FOLDER).is_dir() else None
