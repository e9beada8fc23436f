"""Writes the forward index of a generation in one pass over its new documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from periplus.index.forward.forward_index import (
    FACTS,
    FIRST_WIDE,
    FOLDER,
    FORMAT,
    MOST_WORDS,
    OPENING_WORDS,
    U32,
    ForwardIndex,
    encoded,
    mean_lengths,
)
from periplus.index.forward.lexicon import COLUMNS
from periplus.index.forward.lexicon_writer import NO_LEXICON, CountedTable, LexiconWriter
from periplus.index.storage.parts import part_folder
from periplus.store.arrays import new_array, write_array
from periplus.text.analyzer import LANGUAGES, language_of, url_parts
from periplus.text.words import WordTable

_AT_ONCE = 1 << 20  # words that are encoded together
_DOCUMENTS_AT_ONCE = 2_000  # whose words are removed together
_LENGTHS_AT_ONCE = 1 << 18  # documents


class Continued(NamedTuple):
    """The forward index that an update continues."""

    words: ForwardIndex
    is_kept: NDArray[np.bool_]  # whether each document is kept, by number
    removed: NDArray[np.intp]  # numbers of the documents that this update removes


class _PartWriter:
    """The documents of one part.

    Words get their final numbers when all are counted. Until then they are in a temporary file.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._sizes = bytearray()
        self._spill = (folder / "words.tmp").open("w+b")

    def add(self, words: bytes, sizes: bytes) -> None:
        """Append a document, as `WordTable` gives it."""
        self._spill.write(words)
        self._sizes += sizes

    def finish(self, lexicon: LexiconWriter, wide_words: int | None) -> U32:
        """Write the files; returns the lengths of the columns by document. *wide_words*: their number, if known."""
        sizes = np.frombuffer(self._sizes, np.uint32).reshape(-1, 2, len(COLUMNS))
        wide = self._wide_words(lexicon) if wide_words is None else wide_words
        self._write_words(sizes[:, 0].reshape(-1), lexicon, wide)
        lengths: U32 = sizes[:, 1]
        write_array(self.folder / "lengths.npy", lengths.reshape(-1))
        return lengths

    def _wide_words(self, lexicon: LexiconWriter) -> int:
        return sum(int(np.count_nonzero(chunk >= FIRST_WIDE)) for chunk in self._numbered(lexicon))

    def _numbered(self, lexicon: LexiconWriter) -> Iterator[U32]:
        """The words with their final numbers."""
        self._spill.seek(0)
        while chunk := self._spill.read(4 * _AT_ONCE):
            yield lexicon.numbers[np.frombuffer(chunk, np.uint32)]

    def _write_words(self, sizes: U32, lexicon: LexiconWriter, wide_words: int) -> None:
        """Encode the words with their final numbers."""
        ends = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        text = new_array(self.folder / "text.npy", np.uint16, int(ends[-1]) + wide_words)
        offsets, done, written = ends.copy(), 0, 0
        for words in self._numbered(lexicon):
            units, wide = encoded(words)
            text[written : written + len(units)] = units
            first, last = np.searchsorted(ends, [done, done + len(wide)], side="right")
            before = np.cumsum(wide)[ends[first:last] - done - 1]  # wide words of this chunk before each end
            offsets[first:last] = ends[first:last] + (written - done) + before
            done, written = done + len(wide), written + len(units)
        write_array(self.folder / "columns.npy", offsets.astype(np.uint64))

    def close(self) -> None:
        """Remove the temporary file."""
        Path(self._spill.name).unlink(missing_ok=True)
        self._spill.close()


class ForwardWriter:
    """Appends documents in the order of their numbers, to one part or to several shards with the same words."""

    def __init__(
        self, generation: Path, body_words: int, before: Continued | None = None, shards: Sequence[Path] = ()
    ) -> None:
        """*before*: what an update continues; the numbers of its documents follow. *shards*: folders of shards."""
        self._first = len(before.is_kept) if before else 0
        self._folder, self._has_shards = generation / FOLDER, bool(shards)
        folders = [shard / FOLDER for shard in shards] or [part_folder(generation, self._first) / FOLDER]
        for folder in {self._folder, *folders}:
            folder.mkdir(parents=True)
        self._most, self._before = body_words, before
        self._table = WordTable(MOST_WORDS)
        self._parts = [_PartWriter(folder) for folder in folders]

    def add(self, row: Mapping[str, Any], shard: int = 0) -> None:
        """Append a document; *row* is one of `rows` in plan.sql."""
        words, sizes = self._table.add(*split_fields(row), OPENING_WORDS, self._most)
        self.append(words, sizes, shard)

    def append(self, words: bytes, sizes: bytes, shard: int = 0) -> None:
        """Append documents that are split already, as `WordTable.add` gives them."""
        self._parts[shard].add(words, sizes)

    def finish(self, table: CountedTable | None = None) -> None:
        """Write all files; *table*: has the words of documents that were split already."""
        lexicon = LexiconWriter(
            self._before.words.lexicon.content() if self._before else NO_LEXICON, table or self._table, MOST_WORDS
        )
        wide_words = None if self._has_shards else int(lexicon.totals[lexicon.numbers >= FIRST_WIDE].sum())
        lengths = [part.finish(lexicon, wide_words) for part in self._parts]
        if self._before is not None:
            _remove(self._before, lexicon)
        lexicon.write(self._folder, LANGUAGES)
        kept = np.flatnonzero(self._before.is_kept) if self._before else np.empty(0, np.intp)
        facts = {
            "format": FORMAT,
            "documents": len(kept) + sum(map(len, lengths)),
            "numbers": self._first + sum(map(len, lengths)),
            "languages": LANGUAGES,
            "mean_lengths": mean_lengths((*self._lengths(kept), *lengths)),
        }
        if self._has_shards:
            facts["shards"] = list(map(len, lengths))
        (self._folder / FACTS).write_bytes(orjson.dumps(facts))

    def _lengths(self, kept: NDArray[np.intp]) -> Iterator[U32]:
        for start in range(0, len(kept), _LENGTHS_AT_ONCE):
            assert self._before is not None
            yield self._before.words.column_lengths(kept[start : start + _LENGTHS_AT_ONCE])

    def close(self) -> None:
        """Remove the temporary files."""
        for part in self._parts:
            part.close()


def split_fields(row: Mapping[str, Any]) -> tuple[tuple[Sequence[str], ...], int]:
    """The fields of a document, as `WordTable.add` takes them, and the number of its language."""
    fields = (
        url_parts(row["url"]),
        _title_parts(row["title"], row["short_title"]),
        (*row["headings"], *row["categories"], row["keywords"] or ""),
        row["anchors"],
        (row["description"] or "",),
        (row["text"],),
    )
    return fields, LANGUAGES.index(language_of(row["language"]))


def _title_parts(title: str, short: str) -> tuple[str, ...]:
    """The title without the name of the site, then the rest of it."""
    before, _, after = title.partition(short) if short else ("", "", title)
    return short, before, after


def _remove(before: Continued, lexicon: LexiconWriter) -> None:
    """Subtract the words of removed documents from the figures of the lexicon."""
    for start in range(0, len(before.removed), _DOCUMENTS_AT_ONCE):
        some = before.removed[start : start + _DOCUMENTS_AT_ONCE]
        for column in range(len(COLUMNS)):
            lexicon.remove_words(before.words.read_columns(some, column, column).words, column)
        words, starts = before.words.read_columns(some, 0, len(COLUMNS) - 1)
        lexicon.remove_documents(words, np.repeat(np.arange(len(some)), np.diff(starts)))
