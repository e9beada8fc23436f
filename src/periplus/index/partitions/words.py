"""Writes the words of a partition, and joins those of all partitions.

A partition numbers its words in the order of their first occurrence. The partitions are joined in the order of their
documents, so every word gets the number that it has when one process reads all documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute as pc

from periplus.errors import DamagedFile
from periplus.index.forward.forward_index import MOST_WORDS, OPENING_WORDS, decoded, encoded
from periplus.index.forward.forward_writer import split_fields
from periplus.index.forward.lexicon import COLUMNS, Strings
from periplus.index.forward.lexicon_writer import write_strings
from periplus.index.partitions.majority_vote import LanguageVote
from periplus.index.storage.arrays import load_array
from periplus.store.arrays import write_array
from periplus.text.words import WordTable

_FOLDER = "words"
_AT_ONCE = 1 << 20  # words
_LEAD, _TRAIL = 0xE000, 0xF000  # the first unit of a word that takes two is between them
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
U8 = NDArray[np.uint8]


class PartitionWordWriter:
    """Splits the documents of a partition into words, in the order of their numbers."""

    def __init__(self, partition: Path, body_words: int) -> None:
        """*body_words*: the maximum of every field."""
        self._folder, self._most = partition / _FOLDER, body_words
        self._folder.mkdir()
        self._table = WordTable(MOST_WORDS)
        self._waiting, self._sizes, self._languages = bytearray(), bytearray(), bytearray()
        self._units = (self._folder / "text.dat").open("wb")

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a document; *row* is one of `rows` in plan.sql."""
        fields, language = split_fields(row)
        words, sizes = self._table.add(fields, language, OPENING_WORDS, self._most)
        self._waiting += words
        self._sizes += sizes
        self._languages.append(language)
        if len(self._waiting) >= 4 * _AT_ONCE:
            self._write()

    def _write(self) -> None:
        self._units.write(encoded(np.frombuffer(bytes(self._waiting), np.uint32))[0].tobytes())
        self._waiting.clear()

    def finish(self) -> None:
        """Write the rest, and what was counted of every word."""
        self._write()
        self._units.flush()
        table = self._table
        letters, offsets = table.words()
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(letters)]
        write_strings(self._folder / "words", pa.Array.from_buffers(pa.large_binary(), len(table), buffers))
        write_array(self._folder / "counts.npy", np.frombuffer(table.counts(), np.uint32))
        write_array(self._folder / "documents.npy", np.frombuffer(table.documents(), np.uint32))
        write_array(self._folder / "languages.npy", np.frombuffer(table.languages(), np.uint64))
        write_array(self._folder / "sizes.npy", np.frombuffer(bytes(self._sizes), np.uint32))
        write_array(self._folder / "document_languages.npy", np.frombuffer(bytes(self._languages), np.uint8))

    def close(self) -> None:
        """Close the file."""
        self._units.close()


class PartitionWords:
    """Reads the words of a partition."""

    def __init__(self, partition: Path) -> None:
        folder = partition / _FOLDER
        self._path = folder / "text.dat"
        self.words: pa.LargeBinaryArray = Strings(folder / "words").as_arrow()
        size = len(self.words)
        self.counts: U32 = load_array(folder / "counts.npy", np.uint32, size * len(COLUMNS)).reshape(size, len(COLUMNS))
        self.documents: U32 = load_array(folder / "documents.npy", np.uint32, size)
        self.languages: U64 = load_array(folder / "languages.npy", np.uint64, size)
        self.document_languages: U8 = load_array(folder / "document_languages.npy", np.uint8)
        expected = len(self.document_languages) * 2 * len(COLUMNS)
        self.sizes: U32 = load_array(folder / "sizes.npy", np.uint32, expected).reshape(-1, 2, len(COLUMNS))

    def chunks(self) -> Iterator[U32]:
        """The words of all documents, as numbers of this partition."""
        left = int(self.sizes[:, 0].sum(dtype=np.int64))
        with self._path.open("rb") as file:
            while data := file.read(2 * _AT_ONCE):
                if _LEAD <= int.from_bytes(data[-2:], "little") < _TRAIL:  # half a word
                    data += file.read(2)
                words, _ = decoded(np.frombuffer(data, np.uint16), self._path)
                left -= len(words)
                yield words
        if left:
            raise DamagedFile(f"{self._path} is damaged", f"it lacks {left} words")


class MergedTable:
    """The distinct words of all partitions, and what is counted of them; a `CountedTable`."""

    def __init__(self, partitions: Sequence[PartitionWords]) -> None:
        """*partitions*: in the order of their documents."""
        self._words = pa.chunked_array([part.words for part in partitions], pa.large_binary()).unique()
        self.numbers: list[U32] = [  # of the words of every partition, here
            pc.index_in(part.words, value_set=self._words).to_numpy().astype(np.uint32) for part in partitions
        ]
        size = len(self._words)
        self._counts = np.zeros((size, len(COLUMNS)), np.uint32)
        self._documents, self._languages = np.zeros(size, np.uint32), np.zeros(size, np.uint64)
        for part, numbers in zip(partitions, self.numbers, strict=True):
            self._counts[numbers] += part.counts
            self._documents[numbers] += part.documents
            self._languages[numbers] |= part.languages
        self._language = self._vote(partitions)

    def _vote(self, partitions: Sequence[PartitionWords]) -> U8:
        """The language of most documents with each word, as `WordTable` finds it."""
        vote = LanguageVote(self._languages)
        if vote.is_open:
            for part, numbers in zip(partitions, self.numbers, strict=True):
                vote.add(part.document_languages, part.sizes[:, 0].sum(axis=1), map(numbers.take, part.chunks()))
        return vote.languages

    def __len__(self) -> int:
        return len(self._words)

    def words(self) -> tuple[bytes, bytes]:
        """All words in UTF-8, concatenated, and their 64-bit offsets."""
        _, offsets, letters = self._words.buffers()
        return letters.to_pybytes(), offsets.slice(0, 8 * (len(self) + 1)).to_pybytes()

    def counts(self) -> bytes:
        """The occurrences of every word, by column."""
        return self._counts.tobytes()

    def documents(self) -> bytes:
        """The number of documents with each word."""
        return self._documents.tobytes()

    def languages(self) -> bytes:
        """The languages of the documents with each word, a bit per language."""
        return self._languages.tobytes()

    def language(self) -> bytes:
        """The language of most documents with each word."""
        return self._language.tobytes()
