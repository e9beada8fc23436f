"""Which words may a misspelled word mean? Stores the words of a collection so that similar spellings are found quickly.

A word is stored without accents, as 16-bit letters, shortest first. Its 64-bit signature has a bit for every letter and
another for every letter that occurs twice. One edit changes at most two bits, so a comparison of signatures leaves a
few hundred of 100,000 words in 0.1 ms. All files are memory-mapped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from periplus.errors import DamagedFile
from periplus.index.forward.forward_index import ForwardIndex
from periplus.index.forward.lexicon import Lexicon
from periplus.index.storage.arrays import load_array
from periplus.store.arrays import write_array
from periplus.text.analyzer import folded
from periplus.text.unspaced import UNSPACED

FOLDER = "vocabulary"
SHORTEST, LONGEST = 3, 32  # letters of a word that is stored
MOST_EDITS = 2
_CONSIDERED = 500_000  # words, most frequent first
_LEAST_DOCUMENTS = 2  # with a word that only the rest of texts has
_MOST_NEAR = 3_000  # words compared letter by letter; about 5 ms
_BITS_PER_EDIT = 2  # of the signature
_LAST_CODE = "\uffff"
_UNSPACED = re.compile(f"[{UNSPACED}]")
U16 = NDArray[np.uint16]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]


class Near(NamedTuple):
    """Stored words with letters similar to those of a word."""

    numbers: U32  # of the words in the lexicon
    letters: U16  # a row of `LONGEST` per word, filled with 0
    lengths: NDArray[np.intp]


class Vocabulary:
    """Finds words by similar letters."""

    def __init__(self, generation: Path, lexicon_size: int) -> None:
        """A generation of an earlier release has no vocabulary; nothing is similar there."""
        folder = generation / FOLDER
        self._numbers: U32 = np.empty(0, np.uint32)
        self._starts = np.zeros(LONGEST + 2, np.int64)  # of the words of each length, and the end
        if not folder.is_dir():
            return
        self._numbers = load_array(folder / "numbers.npy", np.uint32)
        self._starts = load_array(folder / "starts.npy", np.int64, LONGEST + 2)
        if int(self._starts[-1]) != len(self) or int(self._numbers.max(initial=0)) >= lexicon_size:
            raise DamagedFile(f"{folder / 'numbers.npy'} is damaged", "it does not match the lexicon")
        self._signatures = load_array(folder / "signatures.npy", np.uint64, len(self))
        sizes = np.diff(self._starts) * np.arange(LONGEST + 1)
        self._letters = load_array(folder / "letters.npy", np.uint16, int(sizes.sum()))
        self._bases = np.cumsum([0, *sizes.tolist()])  # offset of the first word of each length in the letters

    def __len__(self) -> int:
        return len(self._numbers)

    def near(self, word: str, edits: int = MOST_EDITS) -> Near:
        """The words that may be within *edits* of a word; *word* is `folded`. Some are further away."""
        first, last = max(len(word) - edits, 0), min(len(word) + edits, LONGEST)
        if not is_stored(word) or not len(self):
            return Near(np.empty(0, np.uint32), np.zeros((0, LONGEST), np.uint16), np.empty(0, np.intp))
        begin, end = int(self._starts[first]), int(self._starts[last + 1])
        own = signatures(codes(word).reshape(1, -1))[0]
        bits = np.bitwise_count(self._signatures[begin:end] ^ own)
        found = np.flatnonzero(bits <= _BITS_PER_EDIT * edits)
        if len(found) > _MOST_NEAR:
            found = found[np.argpartition(bits[found], _MOST_NEAR)[:_MOST_NEAR]]
        return self._rows(begin + found)

    def _rows(self, places: NDArray[np.intp]) -> Near:
        lengths = np.searchsorted(self._starts, places, side="right") - 1
        offsets = self._bases[lengths] + (places - self._starts[lengths]) * lengths
        columns = np.arange(LONGEST)
        inside = columns < lengths[:, None]
        letters = np.zeros((len(places), LONGEST), np.uint16)
        letters[inside] = self._letters[(offsets[:, None] + columns)[inside]]
        return Near(self._numbers[places], letters, lengths)


def is_stored(word: str) -> bool:
    """Whether a `folded` word is of the kind that is stored: letters of a script with spaces between words."""
    return (
        SHORTEST <= len(word) <= LONGEST
        and word.isalpha()
        and (word.isascii() or (not _UNSPACED.search(word) and max(word) < _LAST_CODE))
    )


def codes(word: str) -> U16:
    """The letters of a word as 16-bit numbers."""
    return np.frombuffer(word.encode("utf-16-le", "replace"), np.uint16)


def signatures(letters: U16) -> U64:
    """The signature of every row of letters: low half, letters that occur; high half, those that occur twice."""
    once = np.zeros(len(letters), np.uint32)
    twice = np.zeros(len(letters), np.uint32)
    for column in letters.T:
        bit = np.uint32(1) << (column & 31).astype(np.uint32)
        twice |= once & bit
        once |= bit
    return once.astype(np.uint64) | twice.astype(np.uint64) << np.uint64(32)


def write_vocabulary(generation: Path) -> None:
    """Write the files that `Vocabulary` reads; the generation has its forward index already."""
    folder = generation / FOLDER
    folder.mkdir()
    lexicon = ForwardIndex(generation).lexicon
    by_length: list[list[tuple[str, int]]] = [[] for _ in range(LONGEST + 1)]
    for number in _considered(lexicon):
        word = folded(lexicon.word(number))
        if is_stored(word):
            by_length[len(word)].append((word, number))
    write_array(folder / "starts.npy", np.cumsum([0, *map(len, by_length)], dtype=np.int64))
    write_array(folder / "numbers.npy", np.array([number for group in by_length for _, number in group], np.uint32))
    rows = [codes("".join(word for word, _ in group)).reshape(len(group), -1) for group in by_length if group]
    write_array(folder / "letters.npy", _joined([row.reshape(-1) for row in rows], np.uint16))
    write_array(folder / "signatures.npy", _joined([signatures(row) for row in rows], np.uint64))


def _considered(lexicon: Lexicon) -> Iterable[int]:
    """Words of a title, heading, anchor text, description or opening, and words of several documents."""
    numbers = np.arange(1, min(len(lexicon), _CONSIDERED), dtype=np.uint32)
    often = lexicon.documents(numbers) >= _LEAST_DOCUMENTS
    found: list[int] = numbers[often | (lexicon.vocabulary_counts(numbers) > 0)].tolist()
    return found


def _joined(parts: list[NDArray[np.generic]], kind: type[np.generic]) -> NDArray[np.generic]:
    return np.concatenate(parts) if parts else np.empty(0, kind)
