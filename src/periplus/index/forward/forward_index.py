"""The forward index: the words of every document in order, as numbers of the lexicon.

Search scores candidates from these numbers, without unpacking or splitting a text. Frequent words take 16 bits, others
32: a lead from 0xE000 and a trail from 0xF000, with 12 bits of the number each. All files are memory-mapped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from periplus.errors import DamagedFile
from periplus.index.forward.lexicon import COLUMNS, Lexicon
from periplus.index.storage.arrays import load_array
from periplus.index.storage.parts import Part, parts_of
from periplus.index.storage.shards import ShardNumbers, shard_folder
from periplus.store.arrays import new_array, write_array

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
Places = NDArray[np.intp]
_NO_UNITS: U16 = np.empty(0, np.uint16)
_SOME_WIDE = 255  # code of a lead that begins a word of the query, and others


class Rows(NamedTuple):
    """One field of several documents."""

    words: U32  # of all documents, one after the other
    starts: NDArray[np.intp]  # of every document in `words`, and the end


class WordCodes:
    """A small number for each word of a query, for `ForwardIndex.find`; 0 for all other words."""

    def __init__(self, words: int) -> None:
        """*words*: in the lexicon."""
        self.by_word = np.zeros(words, np.uint8)
        self.by_unit = np.zeros(1 << 16, np.uint8)  # it fits into the cache of a core

    def add(self, numbers: U32, code: int) -> None:
        """Give a code, from 1 to 254, to those of the words that have none."""
        new = numbers[self.by_word[numbers] == 0]
        self.by_word[new] = code
        self.by_unit[new[new < _LEAD]] = code
        self.by_unit[_LEAD + (new[new >= _LEAD] - _LEAD >> _BITS)] = _SOME_WIDE


class Found(NamedTuple):
    """Where some words occur in one field of several documents."""

    at: NDArray[np.intp]  # places among the words of all documents
    codes: NDArray[np.uint8]  # of the words at these places
    starts: NDArray[np.intp]  # of every document, and the end


class _ForwardPart:
    """The files of one part."""

    def __init__(self, part: Part) -> None:
        folder = part.folder / FOLDER
        self.offsets: U64 = load_array(folder / "columns.npy", np.uint64)
        self.size, rest = divmod(len(self.offsets) - 1, len(COLUMNS))
        if rest or not len(self.offsets):
            raise DamagedFile(f"{folder / 'columns.npy'} is damaged", f"it has {len(self.offsets)} offsets")
        lengths = load_array(folder / "lengths.npy", np.uint32, self.size * len(COLUMNS))
        self.lengths: U32 = lengths.reshape(self.size, len(COLUMNS))
        self.path = folder / "text.npy"
        self.units: U16 = load_array(self.path, np.uint16, int(self.offsets[-1]))
        self.first, self.end = part.first, part.first + self.size


class ForwardIndex:
    """Reads the words of documents."""

    def __init__(self, generation: Path, *, with_documents: bool = True) -> None:
        """*with_documents*: False opens the words alone, which all shards share."""
        self._generation, folder = generation, generation / FOLDER
        facts = _facts(folder / FACTS)
        self.lexicon = Lexicon(folder, facts["languages"])
        self._size: int = facts["documents"]
        self._means: dict[str, float] = facts["mean_lengths"]
        self._numbers: ShardNumbers | None = None
        self._sizes: list[int] = facts.get("shards", [])  # number of documents of each shard
        self._parts: list[_ForwardPart] = []
        if not with_documents:
            return
        if not self._sizes:
            self._open_parts(generation, facts["numbers"])
            return
        folders = [shard_folder(generation, shard) for shard in range(len(self._sizes))]
        self._parts, self._numbers = [_ForwardPart(Part(0, one)) for one in folders], ShardNumbers(folders)

    def of_shard(self, shard: int) -> ForwardIndex:
        """The documents of one shard, by their numbers there; the words are those of all shards."""
        found = copy(self)
        found._numbers = None
        found._open_parts(shard_folder(self._generation, shard), self._sizes[shard])
        return found

    def _open_parts(self, documents: Path, numbers: int) -> None:
        """Open the documents in a folder; *numbers*: how many it has, with removed ones."""
        self._parts = [_ForwardPart(part) for part in parts_of(documents)]
        self._firsts = np.array([part.first for part in self._parts])
        if [*self._firsts.tolist(), numbers] != [0, *(part.end for part in self._parts)]:
            path = documents / FOLDER / "columns.npy"
            raise DamagedFile(f"{path} is damaged", "it has not the documents that its parts state")

    def __len__(self) -> int:
        """The number of documents of the whole collection, without removed ones."""
        return self._size

    @property
    def sizes(self) -> list[int]:
        """The number of documents in each part, with removed ones."""
        return [part.size for part in self._parts]

    def words(self, number: int, field: str) -> U32:
        """The words of a field of a document, in order; 0 is a break between two values."""
        return self.read(np.array([number]), field).words

    def read(self, numbers: NDArray[np.integer], field: str) -> Rows:
        """The words of a field of several documents; much faster than one document at a time."""
        return self.read_columns(numbers, *FIELDS[field])

    def read_columns(self, numbers: NDArray[np.integer], first: int, last: int) -> Rows:
        """The words of adjacent columns of several documents, as one field."""
        words, starts = self._read(numbers, first, last)
        return Rows(words, starts[:: last - first + 1])

    def find(self, numbers: NDArray[np.integer], field: str, codes: WordCodes) -> Found:
        """Where words occur in a field of several documents: `read`, but it decodes only what may be such a word."""
        first, last = FIELDS[field]
        units, starts = self._units(numbers, first, last)
        found = codes.by_unit.take(units)
        at = np.flatnonzero(found != 0)  # of numbers, it would take seven times as long
        found = found[at]
        wide = np.flatnonzero(found == _SOME_WIDE)
        if len(wide):
            pairs = np.append(units, 0)[at[wide, None] + np.arange(2)]
            found[wide] = codes.by_word[decoded(pairs.ravel(), self._parts[0].path)[0]]
            at, found = at[found != 0], found[found != 0]
        trails = np.flatnonzero(units >= _TRAIL)
        starts = starts[:: last - first + 1]
        return Found(at - np.searchsorted(trails, at), found, starts - np.searchsorted(trails, starts))

    def read_each(self, numbers: NDArray[np.integer], fields: Sequence[str]) -> dict[str, Rows]:
        """Several fields in one pass; each of them is the column behind that of the field before it."""
        words, starts = self._read(numbers, FIELDS[fields[0]][0], FIELDS[fields[-1]][1])
        sizes = np.diff(starts).reshape(len(numbers), len(fields))
        columns = np.repeat(np.tile(np.arange(len(fields)), len(numbers)), sizes.ravel())
        return {
            field: Rows(words[columns == column], np.append(0, np.cumsum(sizes[:, column])))
            for column, field in enumerate(fields)
        }

    def _read(self, numbers: NDArray[np.integer], first: int, last: int) -> tuple[U32, NDArray[np.intp]]:
        """The words of adjacent columns of several documents; and where each column starts, and the end."""
        units, starts = self._units(numbers, first, last)
        words, trails = decoded(units, self._parts[0].path)
        return words, starts - np.searchsorted(trails, starts)

    def _units(self, numbers: NDArray[np.integer], first: int, last: int) -> tuple[U16, NDArray[np.intp]]:
        """Adjacent columns of several documents as they are stored; and where each column starts, and the end."""
        units: list[U16] = [_NO_UNITS] * len(numbers)
        sizes = np.empty((len(numbers), last - first + 1), np.intp)  # in units
        for part, chosen, places in self._by_part(numbers):
            offsets = part.offsets[places[:, None] * len(COLUMNS) + np.arange(first, last + 2)]
            sizes[chosen] = np.diff(offsets, axis=1)
            begins, ends = offsets[:, 0].tolist(), offsets[:, -1].tolist()
            for place, begin, end in zip(chosen.tolist(), begins, ends, strict=True):
                units[place] = part.units[begin:end]
        return np.concatenate(units) if units else _NO_UNITS, np.append(0, np.cumsum(sizes))

    def lengths(self, numbers: NDArray[np.integer], field: str) -> U32:
        """The number of words in a field of each document, without breaks."""
        first, last = FIELDS[field]
        total: U32 = self.column_lengths(numbers)[:, first : last + 1].sum(axis=1, dtype=np.uint32)
        return total

    def column_lengths(self, numbers: NDArray[np.integer]) -> U32:
        """The number of words in each column of each document, without breaks."""
        found = np.zeros((len(numbers), len(COLUMNS)), np.uint32)
        for part, chosen, places in self._by_part(numbers):
            found[chosen] = part.lengths[places]
        return found

    def _by_part(self, numbers: NDArray[np.integer]) -> Iterator[tuple[_ForwardPart, NDArray[np.intp], Places]]:
        """The parts of the documents: each with the places of its documents in *numbers*, and in the part."""
        documents = np.asarray(numbers, np.intp)
        if len(self._parts) == 1:
            yield self._parts[0], np.arange(len(documents)), documents
            return
        if self._numbers is not None:
            owners, places = self._numbers.owners[documents], self._numbers.places[documents]
        else:
            owners = np.searchsorted(self._firsts, documents, side="right") - 1
            places = documents - self._firsts[owners]
        for owner in np.unique(owners).tolist():
            chosen = np.flatnonzero(owners == owner)
            yield self._parts[owner], chosen, places[chosen]

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


def mean_lengths(lengths: Iterable[U32]) -> dict[str, float]:
    """The mean length of every field over the documents that have it; *lengths*: by document and column, in batches."""
    words, documents = dict.fromkeys(FIELDS, 0), dict.fromkeys(FIELDS, 0)
    for batch in lengths:
        for field, (first, last) in FIELDS.items():
            sizes = batch[:, first : last + 1].sum(axis=1)
            words[field] += int(sizes.sum())
            documents[field] += int(np.count_nonzero(sizes))
    return {field: words[field] / max(documents[field], 1) or 1.0 for field in FIELDS}


def merge_forward(folders: Sequence[Path], target: Path, is_kept: NDArray[np.bool_]) -> None:
    """Copy the words of adjacent parts into one; *is_kept*: whether each document is, in the order of the numbers."""
    parts = [_ForwardPart(Part(0, folder)) for folder in folders]
    kept = np.split(np.repeat(is_kept, len(COLUMNS)), np.cumsum([len(COLUMNS) * part.size for part in parts])[:-1])
    sizes = np.concatenate([np.diff(part.offsets) * own for part, own in zip(parts, kept, strict=True)])
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.uint64)]).astype(np.uint64)
    lengths = np.concatenate([part.lengths.reshape(-1) * own for part, own in zip(parts, kept, strict=True)])
    folder = target / FOLDER
    folder.mkdir(exist_ok=True)
    write_array(folder / "columns.npy", offsets)
    write_array(folder / "lengths.npy", lengths.astype(np.uint32))
    text, done = new_array(folder / "text.npy", np.uint16, int(offsets[-1])), 0
    for part, own in zip(parts, kept, strict=True):
        edges = np.flatnonzero(np.diff(own, prepend=False, append=False)).reshape(-1, 2)
        for start, end in part.offsets[edges].tolist():
            text[done : done + end - start] = part.units[start:end]
            done += end - start


def _facts(path: Path) -> dict[str, Any]:
    try:
        facts = orjson.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DamagedFile(f"{path} is damaged", str(error)) from error
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise DamagedFile(f"{path} is damaged", f"it does not state format {FORMAT}")
    if not {"documents", "numbers", "languages", "mean_lengths"} <= facts.keys():
        raise DamagedFile(f"{path} is damaged", "it is incomplete")
    return facts
