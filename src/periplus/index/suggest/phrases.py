"""Stores titles, headings and anchor texts so that the beginning of any of their words finds them, for completion.

Every phrase is listed once for each of its first words, in the order of the text from that word on. So all phrases with
`hash ta` at the beginning of a word are neighbours. Texts are compared in lower case, without accents and punctuation.
All files are memory-mapped.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute as pc

from periplus.errors import DamagedFile
from periplus.index.documents.kinds import Kind
from periplus.index.forward.forward_index import ForwardIndex
from periplus.index.forward.lexicon import Lexicon, Strings
from periplus.index.forward.lexicon_writer import write_strings
from periplus.index.storage.arrays import load_array
from periplus.index.storage.pagestore import Head, PageStore
from periplus.store.arrays import write_array
from periplus.text.analyzer import folded
from periplus.text.unspaced import UNSPACED
from periplus.text.words import split

FOLDER = "phrases"
MOST_PHRASES = 300_000  # best pages first; takes about 100 MB while the index is built
_HEADINGS, _ANCHORS = 12, 4  # of a page
_LONGEST = 80  # characters
_MOST_WORDS = 10
_AT_ONCE = 1_000  # pages whose anchor texts are read together
_KEYS_KEPT = 8_192  # every search compares the same first ones; takes about 1 MB
_STARTS = 6  # words of a phrase that a prefix may begin with
_COMMON_SHARE = 0.002  # of all pages; a heading on more pages ("See also") names none of them
_COMMON_PAGES = 5  # fewer are never too many
_LISTINGS = frozenset({Kind.SOURCE, Kind.INDEX, Kind.CHANGES})  # their headings are names of files and versions
_NUMBERING = re.compile(r"^(?:\d+(?:\.\d+)+\.?|\d+\.)\s+(?=\D)")
_BETWEEN_UNSPACED = re.compile(f"(?<=[{UNSPACED}]) (?=[{UNSPACED}])")
_LINK_MARKS = " #¶"  # at the end of headings
_REPEATED = 0.3  # weight of the logarithm of the number of pages with a phrase
U32 = NDArray[np.uint32]
F32 = NDArray[np.float32]
U8 = NDArray[np.uint8]


class Source(IntEnum):
    """The field of a page that a phrase is from; its weight is that of the number."""

    HEADING = 0
    ANCHOR = 1
    TITLE = 2


@dataclass(slots=True)
class _Phrase:
    text: str
    source: Source
    rank: float  # the highest of its pages, relative to a page without links
    pages: int = 1

    @property
    def weight(self) -> float:
        return self.source + math.log(max(self.rank, 1.0)) + _REPEATED * math.log(self.pages)


def phrase_words(text: str) -> list[str]:
    """The words of a text in lower case, without accents."""
    return split(folded(text))


class Phrases:
    """Reads phrases by number, and finds them by the beginning of a word."""

    def __init__(self, generation: Path) -> None:
        """A generation of an earlier release has no phrases."""
        folder = generation / FOLDER
        self.weights: F32 = np.empty(0, np.float32)
        self._entries: U32 = np.empty(0, np.uint32)
        self._words: U8 = np.empty(0, np.uint8)
        self._key = lru_cache(_KEYS_KEPT)(self._read_key)
        if not folder.is_dir():
            return
        self._texts = Strings(folder / "texts")
        self.weights = load_array(folder / "weights.npy", np.float32, len(self._texts))
        self._sources = load_array(folder / "sources.npy", np.uint8, len(self))
        self._entries = load_array(folder / "entries.npy", np.uint32)
        self._words = load_array(folder / "words.npy", np.uint8, len(self._entries))
        if len(self._entries) and int(self._entries.max()) >= len(self):
            raise DamagedFile(f"{folder / 'entries.npy'} is damaged", "it names a phrase that does not exist")

    def __len__(self) -> int:
        return len(self.weights)

    def text(self, number: int) -> str:
        """A phrase as the page has it."""
        return self._texts[number].decode("utf-8", "replace")

    def __contains__(self, text: str) -> bool:
        """Whether a text is a phrase; capitals, accents and punctuation do not count."""
        first, last = self._range(" ".join(phrase_words(text)).encode(), b"\0")
        return bool((self._words[first:last] == 0).any())

    def source(self, number: int) -> Source:
        """The field of a page that a phrase is from."""
        return Source(int(self._sources[number]))

    def beginning(self, prefix: str) -> tuple[U32, U8]:
        """The phrases in which *prefix* begins a word, and the places of these words; *prefix*: joined `phrase_words`.

        A space at the end of *prefix* ends its last word.
        """
        first, last = self._range(prefix.encode(), b"\xff")
        return self._entries[first:last], self._words[first:last]

    def _range(self, key: bytes, after: bytes) -> tuple[int, int]:
        """The entries from *key* up to the same with *after*."""
        places, end = range(len(self._entries)), key + after
        first = bisect_left(places, key, key=self._key)
        width = 1  # most ranges are short: doubling it needs fewer comparisons than halving all entries
        while first + width < len(places) and self._key(first + width) < end:
            width *= 2
        return first, bisect_left(places, end, first, min(first + width, len(places)), key=self._key)

    def _read_key(self, place: int) -> bytes:
        words = phrase_words(self.text(int(self._entries[place])))
        return " ".join(words[int(self._words[place]) :]).encode()


def write_phrases(generation: Path, ranks: F32) -> None:
    """Write the files that `Phrases` reads; *ranks*: the rank of every document, relative to a page without links."""
    folder = generation / FOLDER
    folder.mkdir()
    collected = _collected(generation, ranks)
    keys, found = list(collected), list(collected.values())
    write_strings(folder / "texts", pa.array([phrase.text.encode() for phrase in found], pa.large_binary()))
    write_array(folder / "weights.npy", np.array([phrase.weight for phrase in found], np.float32))
    write_array(folder / "sources.npy", np.array([phrase.source for phrase in found], np.uint8))
    entries = [
        (number, place, " ".join(words[place:]).encode())
        for number, words in enumerate(map(str.split, keys))
        for place in range(min(len(words), _STARTS))
    ]
    order = pc.sort_indices(pa.array([key for _, _, key in entries], pa.large_binary())).to_pylist()
    write_array(folder / "entries.npy", np.array([entries[one][0] for one in order], np.uint32))
    write_array(folder / "words.npy", np.array([entries[one][1] for one in order], np.uint8))


def _collected(generation: Path, ranks: F32) -> dict[str, _Phrase]:
    """The phrases of all pages by their `phrase_words`, joined; those of the best pages first."""
    found: dict[str, _Phrase] = {}
    with PageStore(generation) as pages:
        for number, anchors in _anchors(ForwardIndex(generation), np.argsort(-ranks, kind="stable")):
            for text, source in _of_page(pages.head(number), anchors):
                words = phrase_words(text)
                key = " ".join(words)
                if (known := found.get(key)) is not None:
                    known.pages += 1
                    _prefer(known, text, source)
                elif len(found) < MOST_PHRASES and _is_useful(text, words):
                    found[key] = _Phrase(text, source, float(ranks[number]))
    most = max(_COMMON_PAGES, _COMMON_SHARE * len(ranks))
    return {key: phrase for key, phrase in found.items() if phrase.source is not Source.HEADING or phrase.pages <= most}


def _prefer(known: _Phrase, text: str, source: Source) -> None:
    """Take the better source, and the text of a title or heading, which has its capitals."""
    if known.source is Source.ANCHOR != source:
        known.text = text
    known.source = max(known.source, source)


def _of_page(head: Head, anchors: Iterable[str]) -> Iterator[tuple[str, Source]]:
    yield cleaned(head.title), Source.TITLE
    for text in islice(anchors, _ANCHORS):
        yield text, Source.ANCHOR
    if head.kind not in _LISTINGS:
        for heading in head.headings[:_HEADINGS]:
            yield cleaned(heading), Source.HEADING


def cleaned(text: str) -> str:
    """A title or heading without its number and the mark of its link."""
    return _NUMBERING.sub("", " ".join(text.split()).rstrip(_LINK_MARKS), count=1)


def _anchors(index: ForwardIndex, numbers: NDArray[np.intp]) -> Iterator[tuple[int, Iterator[str]]]:
    """The number of every page, and its anchor texts."""
    for first in range(0, len(numbers), _AT_ONCE):
        some = numbers[first : first + _AT_ONCE]
        words, starts = index.read(some, "anchors")
        for number, start, end in zip(some.tolist(), starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            yield number, anchor_texts(words[start:end].tolist(), index.lexicon)


def anchor_texts(numbers: list[int], lexicon: Lexicon) -> Iterator[str]:
    """Anchor texts in lower case, without numbers at their beginning; *numbers* of words, 0 ends an anchor text."""
    words: list[str] = []
    for number in [*numbers, 0]:
        if number == 0:
            yield _BETWEEN_UNSPACED.sub("", " ".join(words))
            words = []
        elif words or not lexicon.word(number).isdecimal():
            words.append(lexicon.word(number))


def _is_useful(text: str, words: Iterable[str]) -> bool:
    found = list(words)
    return len(text) <= _LONGEST and len(found) <= _MOST_WORDS and any(word.isalpha() for word in found)
