"""The distinct words of an index generation: spelling, frequency, language and stem.

A full build numbers words by frequency, most frequent first; an update appends its new words. Word 0 is a break between
two values of a field. The *vocabulary* has the words of titles, headings, anchor texts, descriptions and openings in
alphabetical order, for spelling correction and completion.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from periplus.errors import DamagedFile
from periplus.index.storage.arrays import load_array
from periplus.text.analyzer import terms

COLUMNS = (
    "url",
    "title",
    "headings",
    "anchors",
    "description",
    "opening",
    "rest",
)  # "rest": the body after its opening
_NAMES = ("url", "title", "headings", "anchors")
_CACHED = 10_000  # words that are looked up only once
_VOCABULARY = ("title", "headings", "anchors", "description", "opening")
U32 = NDArray[np.uint32]
IN_VOCABULARY = [COLUMNS.index(name) for name in _VOCABULARY]
_NAMED = [COLUMNS.index(name) for name in _NAMES]
U64 = NDArray[np.uint64]


class Lexicon:
    """Looks up words."""

    def __init__(self, folder: Path, languages: Sequence[str]) -> None:
        """*languages*: the names of the languages, in the order of their numbers."""
        self._folder, self._languages = folder, languages
        self._words = Strings(folder / "words")
        size = len(self._words)
        self._sorted = load_array(folder / "sorted.npy", np.uint32, size)
        self._documents = load_array(folder / "documents.npy", np.uint32, size)
        self._counts = load_array(folder / "counts.npy", np.uint32, size * len(COLUMNS)).reshape(size, len(COLUMNS))
        self._language = load_array(folder / "language.npy", np.uint8, size)
        self._stems = Strings(folder / "stems")
        self._stem_starts = load_array(folder / "stem_starts.npy", np.uint64, len(self._stems) + 1)
        self._stem_words = load_array(folder / "stem_words.npy", np.uint32, int(self._stem_starts[-1]))
        self.vocabulary: U32 = load_array(folder / "vocabulary.npy", np.uint32)  # word numbers
        self._number_of = lru_cache(_CACHED)(self._find_number)  # a search looks up its words several times
        self._ids_of = lru_cache(_CACHED)(self._find_ids)

    def __len__(self) -> int:
        """The number of words, with those that no page has any more."""
        return len(self._words)

    def word(self, number: int) -> str:
        """The spelling of a word, in lower case."""
        return self._words[number].decode("utf-8", "replace")

    def number(self, word: str) -> int | None:
        """The number of a word; None when no page has it."""
        return self._number_of(word)

    def _find_number(self, word: str) -> int | None:
        key = word.encode("utf-8", "surrogatepass")  # half a character is in no word
        place = bisect_left(self._sorted, key, key=self._words.__getitem__) if key else len(self)
        if place < len(self) and self._words[found := int(self._sorted[place])] == key and self._documents[found]:
            return found
        return None

    def sizes(self, numbers: U32) -> U64:
        """The length of each word in bytes, in UTF-8."""
        return self._words.sizes(numbers)

    def ids_of(self, term: str, language: str) -> U32:
        """The numbers of all words that the analyzer of a language reduces to this term."""
        return self._ids_of(term, language)

    def _find_ids(self, term: str, language: str) -> U32:
        own = self.number(term)
        same = [own] if own is not None and terms(language, term) == [term] else []
        place = self._stems.find(stem_key(term, language))
        if place is None:
            return np.array(same, np.uint32)
        group = self._stem_words[int(self._stem_starts[place]) : int(self._stem_starts[place + 1])]
        return np.concatenate([np.array(same, np.uint32), group[self._documents[group] > 0]])

    def documents(self, numbers: U32) -> U32:
        """The document frequency of each word."""
        found: U32 = self._documents[numbers]
        return found

    def counts(self, number: int) -> dict[str, int]:
        """How often a word occurs, by column."""
        return dict(zip(COLUMNS, self._counts[number].tolist(), strict=True))

    def language(self, number: int) -> str:
        """The language of most documents with a word."""
        return self._languages[int(self._language[number])]

    def completions(self, prefix: str) -> U32:
        """The words of the vocabulary that begin with *prefix*, in alphabetical order."""
        key = prefix.encode("utf-8", "surrogatepass")
        first = bisect_left(self.vocabulary, key, key=self._words.__getitem__)
        last = bisect_left(self.vocabulary, True, first, key=lambda one: not self._words[one].startswith(key))
        return self.vocabulary[first:last]

    def vocabulary_counts(self, numbers: U32) -> U32:
        """How often each word occurs in titles, headings, anchor texts, descriptions and openings together."""
        found: U32 = self._counts[numbers][:, IN_VOCABULARY].sum(axis=1, dtype=np.uint32)
        return found

    def named_counts(self, numbers: U32) -> U32:
        """How often each word occurs in URLs, titles, headings and anchor texts together."""
        found: U32 = self._counts[numbers][:, _NAMED].sum(axis=1, dtype=np.uint32)
        return found

    def content(self) -> LexiconContent:
        """Everything that an update continues."""
        languages = load_array(self._folder / "languages.npy", np.uint64, len(self))
        figures = WordFigures(self._counts, self._documents, languages, self._language)
        return LexiconContent(
            self._words.as_arrow(), figures, self._stems.as_arrow(), self._stem_starts, self._stem_words
        )


class WordFigures(NamedTuple):
    """What is counted for every word."""

    counts: U32  # occurrences, by word and column
    documents: U32
    languages: NDArray[np.uint64]  # of its documents, a bit per language
    language: NDArray[np.uint8]  # of most of its documents


class LexiconContent(NamedTuple):
    """A lexicon as arrays."""

    words: pa.LargeBinaryArray  # in the order of their numbers
    figures: WordFigures
    stems: pa.LargeBinaryArray  # keys, in order
    stem_starts: NDArray[np.uint64]  # of the words of every stem, and the end
    stem_words: U32


class Strings:
    """Byte strings, concatenated, and their offsets; memory-mapped."""

    def __init__(self, path: Path) -> None:
        self._letters = load_array(path.with_suffix(".npy"), np.uint8)
        self._offsets = load_array(offsets_of(path), np.uint64)
        if not len(self._offsets) or int(self._offsets[-1]) != len(self._letters):
            raise DamagedFile(f"{path.with_suffix('.npy')} is damaged", "its size does not match its offsets")

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, place: int) -> bytes:
        return self._letters[int(self._offsets[place]) : int(self._offsets[place + 1])].tobytes()

    def as_arrow(self) -> pa.LargeBinaryArray:
        """All strings, without a copy."""
        buffers = [None, pa.py_buffer(self._offsets), pa.py_buffer(self._letters)]
        return pa.Array.from_buffers(pa.large_binary(), len(self), buffers)

    def sizes(self, places: U32) -> U64:
        """The length of each string in bytes."""
        found: U64 = self._offsets[places + np.uint32(1)] - self._offsets[places]
        return found

    def find(self, key: bytes) -> int | None:
        """The place of a string among sorted ones."""
        place = bisect_left(range(len(self)), key, key=self.__getitem__)
        return place if place < len(self) and self[place] == key else None


def offsets_of(path: Path) -> Path:
    """The file with the offsets of strings."""
    return path.with_name(f"{path.name}_offsets.npy")


def stem_key(term: str, language: str) -> bytes:
    """How a stem is stored."""
    return f"{language}:{term}".encode()
