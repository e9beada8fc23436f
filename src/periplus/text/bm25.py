"""BM25 from the forward index: one document frequency per term, and mean lengths over the pages that have a field.

tantivy divides the words of a field by all documents. So its scores of a field that few pages have are far too low.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_K1, _B = 1.2, 0.75
Frequency = TypeVar("Frequency", float, NDArray[np.floating])


def idf(documents: Frequency, total: int) -> Frequency:
    """The inverse document frequency of terms in *documents* of *total* documents; never negative."""
    found: Frequency = np.log1p((total - documents + 0.5) / (documents + 0.5))
    return found


def saturation(counts: NDArray[np.integer], lengths: NDArray[np.integer], mean: float) -> NDArray[np.float64]:
    """The weight of *counts* occurrences in fields of these lengths, from 0 to 2.2; the score is idf times this."""
    norm = _K1 * (1.0 - _B + _B * lengths / mean)
    weights: NDArray[np.float64] = counts * (_K1 + 1.0) / (counts + norm)
    return weights
