"""Which language do most documents with a word have? The vote of `WordTable`, over the documents of all partitions.

The vote (Boyer-Moore) depends on the order of the documents when no language has a majority. So the votes of partitions
cannot be added; the documents vote again, but only on words that occur in several languages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import cast

import numpy as np
from numpy.typing import NDArray

_FEW = 200_000  # votes that Python counts before numba has compiled the loop
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
U8 = NDArray[np.uint8]
Count = Callable[[U32, NDArray[np.intp], U8, NDArray[np.int64], U8, U32], None]


class LanguageVote:
    """The votes on all words."""

    def __init__(self, seen: U64) -> None:
        """*seen*: the languages of the documents with each word, a bit per language."""
        self.languages: U8 = np.log2(np.maximum(seen, 1).astype(np.float64)).astype(np.uint8)  # a power of 2 is exact
        self._is_open = np.bitwise_count(seen) > 1
        self.languages[self._is_open] = 0
        self._votes = np.zeros(len(seen), np.uint32)
        self._newest = np.full(len(seen), -1, np.int64)  # the last document with each word
        self._documents = 0

    @property
    def is_open(self) -> bool:
        """Whether a word occurs in several languages."""
        return bool(self._is_open.any())

    def add(self, languages: U8, sizes: NDArray[np.integer], chunks: Iterable[U32]) -> None:
        """Count the votes of further documents: their languages, the number of their words, and the words."""
        ends, done = np.cumsum(sizes, dtype=np.int64), 0
        for words in chunks:
            places = np.flatnonzero(self._is_open[words])
            documents = np.searchsorted(ends, places + done, side="right")
            count = _count if len(places) < _FEW else _compiled()
            numbers, own = documents + self._documents, languages[documents]
            count(words[places], numbers, own, self._newest, self.languages, self._votes)
            done += len(words)
        self._documents += len(languages)


def _count(words: U32, documents: NDArray[np.intp], own: U8, newest: NDArray[np.int64], found: U8, votes: U32) -> None:
    for place in range(len(words)):
        word = words[place]
        if newest[word] == documents[place]:
            continue
        newest[word] = documents[place]
        if found[word] == own[place]:
            votes[word] += 1
        elif votes[word]:
            votes[word] -= 1
        else:
            found[word], votes[word] = own[place], 1


@cache
def _compiled() -> Count:
    """The loop, compiled by numba; importing it takes a second, so only large collections do."""
    try:
        import numba  # noqa: PLC0415
    except ImportError:
        return _count
    return cast("Count", numba.njit(nogil=True)(_count))
