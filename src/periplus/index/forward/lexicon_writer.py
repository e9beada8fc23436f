"""Writes the lexicon of a generation: the words of the generation before it, and those of new documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute as pc

from periplus.index.forward.lexicon import COLUMNS, IN_VOCABULARY, LexiconContent, WordFigures, offsets_of, stem_key
from periplus.store.arrays import write_array
from periplus.text.analyzer import terms

U32 = NDArray[np.uint32]
NO_LEXICON = LexiconContent(
    pa.array([b""], pa.large_binary()),  # word 0, the break
    WordFigures(
        *(np.zeros(shape, kind) for shape, kind in (((1, len(COLUMNS)), "u4"), (1, "u4"), (1, "u8"), (1, "u1")))
    ),
    pa.array([], pa.large_binary()),
    np.zeros(1, np.uint64),
    np.zeros(0, np.uint32),
)


class CountedTable(Protocol):
    """The distinct words of documents in the order of their first occurrence, and what is counted of them.

    `LexiconWriter` reads it. `WordTable` is one; the tables of several ranges of documents are merged into another.
    """

    def __len__(self) -> int:
        """The number of words, with the break."""
        ...

    def words(self) -> tuple[bytes, bytes]:
        """All words in UTF-8, concatenated, and their 64-bit offsets."""
        ...

    def counts(self) -> bytes:
        """The occurrences of every word, by column."""
        ...

    def documents(self) -> bytes:
        """The number of documents with each word."""
        ...

    def languages(self) -> bytes:
        """The languages of the documents with each word, a bit per language."""
        ...

    def language(self) -> bytes:
        """The language of most documents with each word."""
        ...


class LexiconWriter:
    """Continues a lexicon with the words of a table; words keep their numbers."""

    def __init__(self, before: LexiconContent, table: CountedTable, most: int) -> None:
        """*most*: the number of distinct words, without the break; new words beyond it become breaks."""
        self._before = before
        letters, offsets = table.words()
        found = pa.Array.from_buffers(
            pa.large_binary(), len(table), [None, pa.py_buffer(offsets), pa.py_buffer(letters)]
        )
        counts = np.frombuffer(table.counts(), np.uint32).reshape(-1, len(COLUMNS))
        self.totals: NDArray[np.int64] = counts.sum(axis=1, dtype=np.int64)  # occurrences, by number of the table
        self.numbers, new = _numbered(before.words, found, self.totals, most)  # by number of the table
        self._words = pa.concat_arrays([before.words, found.take(pa.array(new))])
        self._figures = _padded(before.figures, len(new))
        self._add(table, counts)

    def _add(self, table: CountedTable, counts: U32) -> None:
        known = np.flatnonzero(self.numbers)
        numbers, figures = self.numbers[known], self._figures
        figures.counts[numbers] += counts[known]
        figures.documents[numbers] += np.frombuffer(table.documents(), np.uint32)[known]
        figures.languages[numbers] |= np.frombuffer(table.languages(), np.uint64)[known]
        is_new = numbers >= len(self._before.words)
        figures.language[numbers[is_new]] = np.frombuffer(table.language(), np.uint8)[known[is_new]]

    def remove_words(self, words: U32, column: int) -> None:
        """Subtract the words of a column of removed documents."""
        found, counts = np.unique(words[words > 0], return_counts=True)
        self._figures.counts[found, column] -= counts.astype(np.uint32)

    def remove_documents(self, words: U32, documents: NDArray[np.intp]) -> None:
        """Subtract removed documents from the frequencies; *documents*: the document of every word."""
        pairs = np.unique(documents.astype(np.uint64) << np.uint64(32) | words)
        found, counts = np.unique(pairs.astype(np.uint32), return_counts=True)
        counts[found == 0] = 0  # breaks
        self._figures.documents[found] -= counts.astype(np.uint32)

    def write(self, folder: Path, languages: Sequence[str]) -> None:
        """Write the files that `Lexicon` reads; *languages*: their names, in the order of their numbers."""
        write_strings(folder / "words", self._words)
        alphabetical = pc.sort_indices(self._words).to_numpy().astype(np.uint32)
        write_array(folder / "sorted.npy", alphabetical)
        figures = self._figures
        write_array(folder / "documents.npy", figures.documents)
        write_array(folder / "counts.npy", figures.counts.reshape(-1))
        write_array(folder / "languages.npy", figures.languages)
        write_array(folder / "language.npy", figures.language)
        used = figures.counts[:, IN_VOCABULARY].sum(axis=1) > 0
        write_array(folder / "vocabulary.npy", alphabetical[used[alphabetical]])
        self._write_stems(folder, languages)

    def _write_stems(self, folder: Path, languages: Sequence[str]) -> None:
        """Add the words that are new in a language to the groups of their terms."""
        before = self._before
        seen = self._figures.languages.copy()
        seen[: len(before.words)] &= ~before.figures.languages
        keys, words = _stems(self._words, seen, languages)
        combined = pa.concat_arrays([before.stems, pa.array(keys, pa.large_binary())])
        distinct = combined.unique()
        distinct = distinct.take(pc.sort_indices(distinct))
        places = pc.index_in(combined, value_set=distinct).to_numpy()
        sizes = np.diff(before.stem_starts).astype(np.intp)
        of_words = np.concatenate([np.repeat(places[: len(sizes)], sizes), places[len(sizes) :]])
        all_words = np.concatenate([before.stem_words, np.array(words, np.uint32)])
        write_strings(folder / "stems", distinct)
        starts = np.concatenate([[0], np.cumsum(np.bincount(of_words, minlength=len(distinct)))])
        write_array(folder / "stem_starts.npy", starts.astype(np.uint64))
        write_array(folder / "stem_words.npy", all_words[np.argsort(of_words, kind="stable")])


def _numbered(
    before: pa.LargeBinaryArray, found: pa.LargeBinaryArray, totals: NDArray[np.int64], most: int
) -> tuple[U32, NDArray[np.intp]]:
    """The number of every word of a table, and the words of the table that are new, most frequent first."""
    in_table = pc.index_in(before, value_set=found)
    known = np.flatnonzero(in_table.is_valid().to_numpy(zero_copy_only=False))
    numbers = np.zeros(len(found), np.uint32)
    is_new = np.ones(len(found), bool)
    places = in_table.take(pa.array(known)).to_numpy()
    numbers[places], is_new[places] = known, False
    new = np.flatnonzero(is_new)
    new = new[np.argsort(-totals[new], kind="stable")][: max(most + 1 - len(before), 0)]
    numbers[new] = np.arange(len(before), len(before) + len(new))
    return numbers, new


def _padded(figures: WordFigures, more: int) -> WordFigures:
    """A copy with room for more words."""
    return WordFigures(*(np.concatenate([one, np.zeros((more, *one.shape[1:]), one.dtype)]) for one in figures))


def _stems(
    words: pa.LargeBinaryArray, seen: NDArray[np.uint64], languages: Sequence[str]
) -> tuple[list[bytes], list[int]]:
    """The stems of words in the languages *seen*, and the word of each; words that are their own term have none."""
    keys, numbers = list[bytes](), list[int]()
    for bit, language in enumerate(languages):
        for number in np.flatnonzero(seen >> np.uint64(bit) & np.uint64(1)).tolist():
            word = words[number].as_py().decode()
            for term in terms(language, word):
                if term != word:
                    keys.append(stem_key(term, language))
                    numbers.append(number)
    return keys, numbers


def write_strings(path: Path, strings: pa.LargeBinaryArray) -> None:
    """Write the files that `Strings` reads."""
    _, offsets, letters = strings.buffers()
    ends = np.frombuffer(offsets, np.uint64, len(strings) + 1) if len(strings) else np.zeros(1, np.uint64)
    content = np.frombuffer(letters, np.uint8, int(ends[-1])) if ends[-1] else np.zeros(0, np.uint8)
    write_array(path.with_suffix(".npy"), content)
    write_array(offsets_of(path), ends)
