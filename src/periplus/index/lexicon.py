"""The distinct words of an index generation: spelling, frequency, language and stem.

Words are numbered by frequency, most frequent first; word 0 is a break between two values of a field. The *vocabulary*
has the words of titles, headings, anchor texts, descriptions and openings in alphabetical order, for spelling
correction and completion.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute as pc

from periplus.errors import DamagedFile
from periplus.index.arrays import load_array
from periplus.store.arrays import write_array
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
_VOCABULARY = ("title", "headings", "anchors", "description", "opening")
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
_COUNTED = [COLUMNS.index(name) for name in _VOCABULARY]


class Lexicon:
    """Looks up words."""

    def __init__(self, folder: Path, languages: Sequence[str]) -> None:
        """*languages*: the names of the languages, in the order of their numbers."""
        self._languages = languages
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

    def __len__(self) -> int:
        return len(self._words)

    def word(self, number: int) -> str:
        """The spelling of a word, in lower case."""
        return self._words[number].decode("utf-8", "replace")

    def number(self, word: str) -> int | None:
        """The number of a word; None when no page has it."""
        key = word.encode()
        place = bisect_left(self._sorted, key, key=self._words.__getitem__) if key else len(self)
        if place < len(self) and self._words[found := int(self._sorted[place])] == key:
            return found
        return None

    def sizes(self, numbers: U32) -> U64:
        """The length of each word in bytes, in UTF-8."""
        return self._words.sizes(numbers)

    def ids_of(self, term: str, language: str) -> U32:
        """The numbers of all words that the analyzer of a language reduces to this term."""
        own = self.number(term)
        same = [own] if own is not None and terms(language, term) == [term] else []
        place = self._stems.find(_stem_key(term, language))
        if place is None:
            return np.array(same, np.uint32)
        group = self._stem_words[int(self._stem_starts[place]) : int(self._stem_starts[place + 1])]
        return np.concatenate([np.array(same, np.uint32), group])

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
        key = prefix.encode()
        first = bisect_left(self.vocabulary, key, key=self._words.__getitem__)
        last = bisect_left(self.vocabulary, True, first, key=lambda one: not self._words[one].startswith(key))
        return self.vocabulary[first:last]

    def vocabulary_counts(self, numbers: U32) -> U32:
        """How often each word occurs in titles, headings, anchor texts, descriptions and openings together."""
        found: U32 = self._counts[numbers][:, _COUNTED].sum(axis=1, dtype=np.uint32)
        return found


class Strings:
    """Byte strings, concatenated, and their offsets; memory-mapped."""

    def __init__(self, path: Path) -> None:
        self._letters = load_array(path.with_suffix(".npy"), np.uint8)
        self._offsets = load_array(_offsets_of(path), np.uint64)
        if not len(self._offsets) or int(self._offsets[-1]) != len(self._letters):
            raise DamagedFile(f"{path.with_suffix('.npy')} is damaged", "its size does not match its offsets")

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, place: int) -> bytes:
        return self._letters[int(self._offsets[place]) : int(self._offsets[place + 1])].tobytes()

    def sizes(self, places: U32) -> U64:
        """The length of each string in bytes."""
        found: U64 = self._offsets[places + np.uint32(1)] - self._offsets[places]
        return found

    def find(self, key: bytes) -> int | None:
        """The place of a string among sorted ones."""
        place = bisect_left(range(len(self)), key, key=self.__getitem__)
        return place if place < len(self) and self[place] == key else None


def write_lexicon(folder: Path, words: pa.LargeBinaryArray, found: WordFigures, languages: Sequence[str]) -> None:
    """Write the files that `Lexicon` reads; *words* are in the order of their numbers."""
    _write_strings(folder / "words", words)
    alphabetical = pc.sort_indices(words).to_numpy().astype(np.uint32)
    write_array(folder / "sorted.npy", alphabetical)
    write_array(folder / "documents.npy", found.documents)
    write_array(folder / "counts.npy", found.counts.reshape(-1))
    write_array(folder / "language.npy", found.language)
    used = found.counts[:, _COUNTED].sum(axis=1) > 0
    write_array(folder / "vocabulary.npy", alphabetical[used[alphabetical]])
    _write_stems(folder, words, found.languages, languages)


class WordFigures:
    """What the word table counted, by word."""

    def __init__(self, table: Any, order: NDArray[np.intp]) -> None:
        """*order*: the numbers of the table, in the order of the numbers of the lexicon."""
        counts = np.frombuffer(table.counts(), np.uint32).reshape(-1, len(COLUMNS))
        self.counts = counts[order]
        self.documents = np.frombuffer(table.documents(), np.uint32)[order]
        self.languages = np.frombuffer(table.languages(), np.uint64)[order]
        self.language = np.frombuffer(table.language(), np.uint8)[order]


def _write_stems(folder: Path, words: pa.LargeBinaryArray, seen: NDArray[np.uint64], languages: Sequence[str]) -> None:
    """Group words by the terms of the analyzers. Words that are their own term are not stored."""
    groups: dict[bytes, list[int]] = {}
    for bit, language in enumerate(languages):
        for number in np.flatnonzero(seen >> np.uint64(bit) & np.uint64(1)).tolist():
            word = words[number].as_py().decode()
            for term in terms(language, word):
                if term != word:
                    groups.setdefault(_stem_key(term, language), []).append(number)
    keys = sorted(groups)
    _write_strings(folder / "stems", pa.array(keys, pa.large_binary()))
    sizes = [len(groups[key]) for key in keys]
    write_array(folder / "stem_starts.npy", np.cumsum([0, *sizes], dtype=np.uint64))
    write_array(folder / "stem_words.npy", np.array([number for key in keys for number in groups[key]], np.uint32))


def _write_strings(path: Path, strings: pa.LargeBinaryArray) -> None:
    _, offsets, letters = strings.buffers()
    ends = np.frombuffer(offsets, np.uint64, len(strings) + 1) if len(strings) else np.zeros(1, np.uint64)
    content = np.frombuffer(letters, np.uint8, int(ends[-1])) if ends[-1] else np.zeros(0, np.uint8)
    write_array(path.with_suffix(".npy"), content)
    write_array(_offsets_of(path), ends)


def _offsets_of(path: Path) -> Path:
    return path.with_name(f"{path.name}_offsets.npy")


def _stem_key(term: str, language: str) -> bytes:
    return f"{language}:{term}".encode()
