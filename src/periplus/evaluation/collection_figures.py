"""Figures of all documents that the reference formulas need: lengths of texts and of vectors, mean rank."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from periplus.search.open_index import Numbers, OpenIndex
from periplus.text.analyzer import is_stop_word
from periplus.text.bm25 import idf

_AT_ONCE = 1_000  # documents
_FREQUENT = 2_000  # words among which stop words are searched; words are numbered by frequency
_LEAST_WEIGHT = 0.5  # of a word that the document has: 0.5 + 0.5 tf / largest tf


class VectorLengths(NamedTuple):
    """Per document: the lengths of its vectors of word weights, and the count of its most frequent word."""

    logarithmic: Numbers  # (1 + log tf) idf
    augmented: Numbers  # (0.5 + 0.5 tf / largest tf) idf
    largest_tf: Numbers


class CollectionFigures:
    """Reads all documents of an index once, when a formula first needs them."""

    def __init__(self, index: OpenIndex) -> None:
        self._index = index

    @cached_property
    def mean_length(self) -> float:
        """The mean number of words of title and text."""
        everything = np.arange(self._index.documents)
        lengths = sum(self._index.forward.lengths(everything, field).sum() for field in ("title", "body"))
        return float(lengths) / max(self._index.documents, 1) or 1.0

    @cached_property
    def rank_deviations(self) -> Numbers:
        """The rank of every document, in standard deviations from the mean."""
        ranks = self._index.ranks
        deviations: Numbers = (ranks - ranks.mean()) / (ranks.std() or 1.0)
        return deviations

    @cached_property
    def vector_lengths(self) -> VectorLengths:
        """The lengths of the vectors of all documents; words with the same stem count apart here."""
        parts = [
            self._lengths_of(np.arange(start, min(start + _AT_ONCE, self._index.documents)))
            for start in range(0, self._index.documents, _AT_ONCE)
        ]
        return VectorLengths(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _lengths_of(self, numbers: NDArray[np.intp]) -> VectorLengths:
        size = len(self._index.forward.lexicon)
        fields = [self._index.forward.read(numbers, field) for field in ("title", "body")]
        places = [np.repeat(np.arange(len(numbers)), np.diff(rows.starts)) for rows in fields]
        words = np.concatenate([rows.words for rows in fields]).astype(np.int64)
        pairs, counts = np.unique(np.concatenate(places) * size + words, return_counts=True)
        documents, words = pairs // size, pairs % size
        weights = self._word_weights[words]
        largest = np.ones(len(numbers))
        np.maximum.at(largest, documents, np.where(weights > 0, counts, 1))
        augmented = _LEAST_WEIGHT + (1.0 - _LEAST_WEIGHT) * counts / largest[documents]
        return VectorLengths(
            _lengths(documents, (1.0 + np.log(counts)) * weights, len(numbers)),
            _lengths(documents, augmented * weights, len(numbers)),
            largest,
        )

    @cached_property
    def _word_weights(self) -> Numbers:
        """The idf of every word; 0 for stop words and for the break between two values."""
        lexicon = self._index.forward.lexicon
        documents = lexicon.documents(np.arange(len(lexicon), dtype=np.uint32)).astype(np.float64)
        weights: Numbers = idf(documents, self._index.documents).astype(np.float64)
        for number in range(min(_FREQUENT, len(lexicon))):
            if number == 0 or is_stop_word(lexicon.language(number), lexicon.word(number)):
                weights[number] = 0.0
        return weights


def _lengths(documents: NDArray[np.int64], weights: Numbers, count: int) -> Numbers:
    lengths: Numbers = np.sqrt(np.bincount(documents, weights**2, minlength=count))
    return np.maximum(lengths, 1e-9)
