"""Writes the forward index of a generation in one pass over its documents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from periplus.index.forward import (
    FACTS,
    FIRST_WIDE,
    FOLDER,
    FORMAT,
    MOST_WORDS,
    OPENING_WORDS,
    U32,
    encoded,
    mean_lengths,
)
from periplus.index.lexicon import COLUMNS, WordFigures, write_lexicon
from periplus.store.arrays import new_array, write_array
from periplus.text.analyzer import LANGUAGES, language_of, url_parts
from periplus.text.words import WordTable

_AT_ONCE = 1 << 20  # words that are encoded together


class ForwardWriter:
    """Appends documents in the order of their numbers.

    Words get their final numbers, by frequency, when all are counted. Until then they are in a temporary file.
    """

    def __init__(self, generation: Path, body_words: int) -> None:
        self._folder = generation / FOLDER
        self._folder.mkdir()
        self._most = body_words
        self._table = WordTable(MOST_WORDS)
        self._sizes = bytearray()
        self._spill = (self._folder / "words.tmp").open("w+b")

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a document; *row* is one of `rows` in build.sql."""
        fields = (
            url_parts(row["url"]),
            _title_parts(row["title"], row["short_title"]),
            (*row["headings"], *row["categories"], row["keywords"] or ""),
            row["anchors"],
            (row["description"] or "",),
            (row["text"],),
        )
        language = LANGUAGES.index(language_of(row["language"]))
        words, sizes = self._table.add(fields, language, OPENING_WORDS, self._most)
        self._spill.write(words)
        self._sizes += sizes

    def finish(self) -> None:
        """Write all files."""
        sizes = np.frombuffer(self._sizes, np.uint32).reshape(-1, 2, len(COLUMNS))
        totals = np.frombuffer(self._table.counts(), np.uint32).reshape(-1, len(COLUMNS)).sum(axis=1, dtype=np.int64)
        order = np.concatenate([[0], 1 + np.argsort(-totals[1:], kind="stable")])
        self._write_words(sizes[:, 0].reshape(-1), order, int(totals[order][FIRST_WIDE:].sum()))
        lengths = sizes[:, 1]
        write_array(self._folder / "lengths.npy", lengths.reshape(-1))
        letters, offsets = self._table.words()
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(letters)]
        words = pa.Array.from_buffers(pa.large_binary(), len(order), buffers).take(pa.array(order))
        write_lexicon(self._folder, words, WordFigures(self._table, order), LANGUAGES)
        facts = {"format": FORMAT, "documents": len(lengths), "languages": LANGUAGES}
        (self._folder / FACTS).write_bytes(orjson.dumps({**facts, "mean_lengths": mean_lengths(lengths)}))

    def _write_words(self, sizes: U32, order: NDArray[np.intp], wide_words: int) -> None:
        """Encode the words with their final numbers; *order* has the words by final number."""
        numbers = np.empty(len(order), np.uint32)
        numbers[order] = np.arange(len(order), dtype=np.uint32)
        ends = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        text = new_array(self._folder / "text.npy", np.uint16, int(ends[-1]) + wide_words)
        offsets, done, written = ends.copy(), 0, 0
        self._spill.seek(0)
        while chunk := self._spill.read(4 * _AT_ONCE):
            units, wide = encoded(numbers[np.frombuffer(chunk, np.uint32)])
            text[written : written + len(units)] = units
            first, last = np.searchsorted(ends, [done, done + len(wide)], side="right")
            before = np.cumsum(wide)[ends[first:last] - done - 1]  # wide words of this chunk before each end
            offsets[first:last] = ends[first:last] + (written - done) + before
            done, written = done + len(wide), written + len(units)
        write_array(self._folder / "columns.npy", offsets.astype(np.uint64))

    def close(self) -> None:
        """Remove the temporary file."""
        Path(self._spill.name).unlink(missing_ok=True)
        self._spill.close()


def _title_parts(title: str, short: str) -> tuple[str, ...]:
    """The title without the name of the site, then the rest of it."""
    before, _, after = title.partition(short) if short else ("", "", title)
    return short, before, after
