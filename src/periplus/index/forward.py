"""The forward index: the words of every document in order, as numbers of the lexicon.

Search scores candidates from these numbers, without unpacking or splitting a text. Frequent words take 16 bits, others
32: a lead from 0xE000 and a trail from 0xF000, with 12 bits of the number each. All files are memory-mapped.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from periplus.errors import DamagedFile
from periplus.index.arrays import load_array
from periplus.index.lexicon import COLUMNS, Lexicon

FOLDER = "forward"
FACTS = "forward.json"
FORMAT = 1
OPENING_WORDS = 100  # of the body that are part of the opening
FIELDS = {  # first and last column
    "url": (0, 0),  # the host, then each part of the path, with breaks between them
    "title": (1, 1),  # without the name of the site, then a break, then that name
    "headings": (2, 2),
    "anchors": (3, 3),
    "description": (4, 4),
    "opening": (4, 5),  # the description, then the first words of the body
    "body": (5, 6),
}
_LEAD, _TRAIL, _BITS = 0xE000, 0xF000, 12
FIRST_WIDE = _LEAD  # the first word that takes 32 bits
MOST_WORDS = _LEAD + (1 << 2 * _BITS) - 1  # distinct words that can be written, without the break
U16 = NDArray[np.uint16]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]


class Rows(NamedTuple):
    """One field of several documents."""

    words: U32  # of all documents, one after the other
    starts: NDArray[np.intp]  # of every document in `words`, and the end


class ForwardIndex:
    """Reads the words of documents."""

    def __init__(self, generation: Path) -> None:
        folder = generation / FOLDER
        facts = _facts(folder / FACTS)
        self.lexicon = Lexicon(folder, facts["languages"])
        self._size: int = facts["documents"]
        self._means: dict[str, float] = facts["mean_lengths"]
        self._offsets: U64 = load_array(folder / "columns.npy", np.uint64, self._size * len(COLUMNS) + 1)
        lengths = load_array(folder / "lengths.npy", np.uint32, self._size * len(COLUMNS))
        self._lengths: U32 = lengths.reshape(self._size, len(COLUMNS))
        self._path = folder / "text.npy"
        self._units: U16 = load_array(self._path, np.uint16, int(self._offsets[-1]))

    def __len__(self) -> int:
        return self._size

    def words(self, number: int, field: str) -> U32:
        """The words of a field of a document, in order; 0 is a break between two values."""
        first, last = FIELDS[field]
        place = number * len(COLUMNS)
        begin, end = int(self._offsets[place + first]), int(self._offsets[place + last + 1])
        return decoded(self._units[begin:end], self._path)[0]

    def read(self, numbers: NDArray[np.integer], field: str) -> Rows:
        """The words of a field of several documents; much faster than one document at a time."""
        first, last = FIELDS[field]
        places = np.asarray(numbers, np.intp) * len(COLUMNS)
        begins, ends = self._offsets[places + first].tolist(), self._offsets[places + last + 1].tolist()
        parts = [self._units[begin:end] for begin, end in zip(begins, ends, strict=True)]
        words, trails = decoded(np.concatenate(parts) if parts else np.empty(0, np.uint16), self._path)
        starts = np.cumsum([0, *map(len, parts)])
        return Rows(words, starts - np.searchsorted(trails, starts))

    def lengths(self, numbers: NDArray[np.integer], field: str) -> U32:
        """The number of words in a field of each document, without breaks."""
        first, last = FIELDS[field]
        total: U32 = self._lengths[numbers, first : last + 1].sum(axis=1, dtype=np.uint32)
        return total

    def mean_length(self, field: str) -> float:
        """The mean number of words in a field, over the documents that have it; 1 when none has."""
        return self._means[field]

    def df(self, numbers: U32) -> float:
        """The estimated number of documents with at least one of the words, as if they occurred independently."""
        shares = self.lexicon.documents(numbers) / max(self._size, 1)
        return float(self._size * (1.0 - np.prod(1.0 - shares)))

    def ids_of(self, term: str, language: str) -> U32:
        """The numbers of all words that the analyzer of a language reduces to this term."""
        return self.lexicon.ids_of(term, language)


def encoded(words: U32) -> tuple[U16, NDArray[np.bool_]]:
    """The 16-bit units of words, and which words take two."""
    wide = words >= _LEAD
    if not wide.any():
        return words.astype(np.uint16), wide
    places = np.arange(len(words)) + np.cumsum(wide) - wide
    units = np.empty(len(words) + np.count_nonzero(wide), np.uint16)
    units[places] = words.astype(np.uint16)  # those of wide words are replaced
    high = words[wide] - _LEAD
    units[places[wide]] = _LEAD + (high >> _BITS)
    units[places[wide] + 1] = _TRAIL + (high & ((1 << _BITS) - 1))
    return units, wide


def decoded(units: U16, path: Path) -> tuple[U32, NDArray[np.intp]]:
    """The words in 16-bit units of a file, and the places of the second units of wide words."""
    words = units.astype(np.uint32)
    wide = np.flatnonzero(units >= _LEAD)
    leads, trails = wide[::2], wide[1::2]
    if not len(wide):
        return words, trails
    if len(leads) != len(trails) or (units[trails] < _TRAIL).any():
        raise DamagedFile(f"{path} is damaged", "half of a number is missing")
    words[leads] = _LEAD + ((words[leads] - _LEAD) << _BITS | (words[trails] - _TRAIL))
    kept = np.ones(len(words), bool)
    kept[trails] = False
    return words[kept], trails


def mean_lengths(lengths: U32) -> dict[str, float]:
    """The mean length of every field over the documents that have it."""
    means = {}
    for field, (first, last) in FIELDS.items():
        sizes = lengths[:, first : last + 1].sum(axis=1)
        means[field] = float(sizes.sum() / max(np.count_nonzero(sizes), 1)) or 1.0
    return means


def _facts(path: Path) -> dict[str, Any]:
    try:
        facts = orjson.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DamagedFile(f"{path} is damaged", str(error)) from error
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise DamagedFile(f"{path} is damaged", f"it does not state format {FORMAT}")
    if not {"documents", "languages", "mean_lengths"} <= facts.keys():
        raise DamagedFile(f"{path} is damaged", "it is incomplete")
    return facts
