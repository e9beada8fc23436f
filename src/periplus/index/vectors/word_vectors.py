"""Vectors of words, learned from the pages themselves: words that occur in similar company have similar vectors.

Pairs of terms within five of each other are counted in titles, headings, descriptions and the start of the text. A
truncated singular value decomposition of their positive pointwise mutual information gives 128 numbers per term. The
result is the same for the same pages. All files are memory-mapped.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from periplus.errors import DamagedFile
from periplus.index.forward.forward_index import ForwardIndex, Rows
from periplus.index.forward.lexicon import Lexicon
from periplus.index.storage.arrays import load_array
from periplus.index.vectors.cooccurrence import NO_TERM, choose_terms, count_pairs, positive_pmi
from periplus.index.vectors.svd import left_vectors
from periplus.store.arrays import write_array
from periplus.store.generations import link

FOLDER = "vectors"
DIMENSIONS = 128
U32 = NDArray[np.uint32]
F32 = NDArray[np.float32]


class Vectors:
    """Reads the vectors of words. Words with the same stem have the same vector, of length 1."""

    def __init__(self, generation: Path, lexicon: Lexicon) -> None:
        folder = generation / FOLDER
        self._lexicon = lexicon
        self._of_words = load_array(folder / "terms.npy", np.uint16, len(lexicon))
        self._words = load_array(folder / "words.npy", np.uint32)
        size = len(self._words)
        self._matrix = load_array(folder / "vectors.npy", np.float16, size * DIMENSIONS).reshape(size, DIMENSIONS)
        if size and (self._words >= len(lexicon)).any():
            raise DamagedFile(f"{folder / 'words.npy'} is damaged", "it names a word that is not in the lexicon")

    def __len__(self) -> int:
        return len(self._words)

    def vector(self, number: int) -> F32 | None:
        """The vector of a word; None for a stop word, a number or a rare word."""
        term = int(self._of_words[number])
        found: F32 | None = self._matrix[term].astype(np.float32) if term < len(self) else None
        return found

    def representative(self, numbers: U32) -> int:
        """The first of these words that has a vector, else the first."""
        known = np.flatnonzero(self._of_words[numbers] < len(self))
        return int(numbers[known[0] if len(known) else 0])

    def mean(self, numbers: U32, weights: F32) -> F32:
        """The weighted mean of the vectors of words; 0 when none has a vector. Weights are usually idf."""
        found: F32 = self.means(Rows(numbers, np.array([0, len(numbers)])), weights)[0]
        return found

    def means(self, rows: Rows, weights: F32) -> F32:
        """The weighted mean for each of several texts, as `ForwardIndex.read` gives them; a weight per word."""
        found = self._of_words[rows.words]
        known = np.flatnonzero(found < len(self))
        text = np.searchsorted(rows.starts, known, side="right") - 1
        means = np.zeros((len(rows.starts) - 1, DIMENSIONS), np.float32)
        if not len(known):
            return means
        used = weights[known].astype(np.float32)
        firsts = np.flatnonzero(np.diff(text, prepend=-1))
        sums = np.add.reduceat(self._matrix[found[known]].astype(np.float32) * used[:, None], firsts, axis=0)
        means[text[firsts]] = sums / np.maximum(np.add.reduceat(used, firsts), 1e-9)[:, None]
        return means

    def nearest(self, word: str, most: int) -> list[tuple[str, float]]:
        """The terms most similar to a word, each by its most frequent word, with the cosine of their vectors."""
        number = self._lexicon.number(word)
        own = NO_TERM if number is None else int(self._of_words[number])
        if own >= len(self):
            return []
        cosines = self._matrix.astype(np.float32) @ self._matrix[own].astype(np.float32)
        cosines[own] = -1.0
        best = np.argsort(-cosines, kind="stable")[:most]
        return [(self._lexicon.word(int(self._words[term])), float(cosines[term])) for term in best]


def open_vectors(generation: Path, lexicon: Lexicon) -> Vectors | None:
    """The vectors of a generation; None when `index.vectors` was off."""
    return Vectors(generation, lexicon) if (generation / FOLDER).is_dir() else None


def write_vectors(generation: Path, ranks: F32) -> None:
    """Learn the vectors from the forward index of a generation; *ranks*: the rank of every document."""
    folder = generation / FOLDER
    folder.mkdir()
    index = ForwardIndex(generation)
    terms = choose_terms(index.lexicon, len(index))
    pairs, counts = count_pairs(index, ranks, terms.of_words)
    found = left_vectors(*positive_pmi(pairs, counts, len(terms.words)), DIMENSIONS)
    found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
    write_array(folder / "terms.npy", terms.of_words)
    write_array(folder / "words.npy", terms.words)
    write_array(folder / "vectors.npy", found.astype(np.float16).reshape(-1))


def keep_vectors(before: Path, generation: Path, words: int) -> None:
    """Give a generation the vectors of the one before it; *words*: of its lexicon. New words have no vector."""
    folder = generation / FOLDER
    folder.mkdir()
    for name in ("words.npy", "vectors.npy"):
        link(before / FOLDER / name, folder / name)
    terms = load_array(before / FOLDER / "terms.npy", np.uint16)
    write_array(folder / "terms.npy", np.concatenate([terms, np.full(words - len(terms), NO_TERM, np.uint16)]))
