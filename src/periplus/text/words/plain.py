"""The word table in plain Python, for installations without a C compiler."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from itertools import accumulate

from periplus.text.words.characters import split

COLUMNS = 7  # of a document: one per field given, and the body as two: its opening, and the rest
_OPENING = COLUMNS - 2


class WordTable:
    """Numbers the distinct words of documents in the order of their first occurrence, and counts them.

    Word 0 is a break between two values of a field.
    """

    def __init__(self, limit: int) -> None:
        """*limit*: the number of distinct words; later ones are skipped."""
        self._limit = limit
        self._ids = {"": 0}
        self._counts = array("I", bytes(4 * COLUMNS))  # occurrences, by word and column
        self._documents = array("I", [0])  # documents with the word
        self._newest = array("I", [0])  # the last of them
        self._languages = array("Q", [0])  # a bit per language of these documents
        self._language = array("B", [0])  # the language of most of them
        self._votes = array("I", [0])
        self._number = 0

    def __len__(self) -> int:
        return len(self._documents)

    def add(self, fields: Sequence[Sequence[str]], language: int, opening: int, most: int) -> tuple[bytes, bytes]:
        """Add a document, whose last field is the body; at most *most* words of every field are used.

        The first *opening* words of the body are a column of their own. Returns the words of all columns as 32-bit
        numbers, and as 32-bit numbers the size of every column with breaks, then without breaks.
        """
        self._number += 1
        found: list[int] = []
        sizes, lengths = [0] * COLUMNS, [0] * COLUMNS
        for column, texts in enumerate(fields):
            start, left = len(found), most
            for text in texts:
                gap = len(found)
                left -= self._append(text, column, language, opening, left, found)
                if gap > start and len(found) > gap:
                    found.insert(gap, 0)
            self._note_sizes(column, found[start:], opening, sizes, lengths)
        return array("I", found).tobytes(), struct.pack(f"={2 * COLUMNS}I", *sizes, *lengths)

    def _append(self, text: str, column: int, language: int, opening: int, left: int, found: list[int]) -> int:
        used = 0
        for word in split(text):
            if used == left:
                break
            number = self._number_of(word)
            if number is not None:
                self._count(number, column + (column == _OPENING and used >= opening), language)
                found.append(number)
                used += 1
        return used

    @staticmethod
    def _note_sizes(column: int, found: list[int], opening: int, sizes: list[int], lengths: list[int]) -> None:
        sizes[column], lengths[column] = len(found), len(found) - found.count(0)
        if column == _OPENING and len(found) > opening:
            sizes[column] = lengths[column] = opening
            sizes[column + 1] = lengths[column + 1] = len(found) - opening

    def _number_of(self, word: str) -> int | None:
        number = self._ids.get(word)
        if number is None and len(self._ids) <= self._limit:
            self._ids[word] = number = len(self._ids)
            self._counts.extend([0] * COLUMNS)
            for values in (self._documents, self._newest, self._languages, self._language, self._votes):
                values.append(0)
        return number

    def _count(self, number: int, column: int, language: int) -> None:
        self._counts[number * COLUMNS + column] += 1
        if self._newest[number] == self._number:
            return
        self._newest[number] = self._number
        self._documents[number] += 1
        self._languages[number] |= 1 << language
        if self._language[number] == language:
            self._votes[number] += 1
        elif self._votes[number]:
            self._votes[number] -= 1
        else:
            self._language[number], self._votes[number] = language, 1

    def words(self) -> tuple[bytes, bytes]:
        """All words in UTF-8, concatenated, and their 64-bit offsets, one more than words."""
        encoded = [word.encode() for word in self._ids]
        return b"".join(encoded), array("Q", accumulate(map(len, encoded), initial=0)).tobytes()

    def counts(self) -> bytes:
        """The occurrences of every word, by column; 32 bits each."""
        return self._counts.tobytes()

    def documents(self) -> bytes:
        """The number of documents with each word; 32 bits each."""
        return self._documents.tobytes()

    def languages(self) -> bytes:
        """The languages of the documents with each word, a bit per language; 64 bits each."""
        return self._languages.tobytes()

    def language(self) -> bytes:
        """The language of most documents with each word, by Boyer-Moore majority vote; 8 bits each."""
        return self._language.tobytes()
