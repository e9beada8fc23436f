"""Why does this page come first?

The score is a plain weighted sum of named features; the weights are settings. `text` and `rank` are logarithms, so a
weight on them is a power of the text score or of PageRank, and a bonus of 0.1 is worth a tenth more text score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from periplus.config import Ranking
from periplus.index.pagestore import Head
from periplus.text.analyzer import OTHER, start_of, terms, url_words

FEATURES = (
    "text",
    "rank",
    "title_all",
    "title_some",
    "headings",
    "url",
    "phrase_title",
    "phrase_headings",
    "phrase_opening",
    "near_phrase",
)
_NEAR = 0.9  # the share of the query that must stand in order
_TOO_SHORT = 3  # letters; what begins with fewer is another word

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The words of a query, as pages of one language would hold them."""

    language: str
    sequence: tuple[str, ...]  # in order, repeats kept
    distinct: frozenset[str]  # without repeats
    starts: tuple[str, ...]  # a text without these cannot hold the words, and need not be analysed

    @classmethod
    def of(cls, text: str, language: str) -> Wanted:
        """The words of a text."""
        sequence = tuple(terms(language, text))
        distinct = frozenset(sequence)
        return cls(language, sequence, distinct, tuple(start_of(term, language) for term in distinct))

    @property
    def is_phrase(self) -> bool:
        """One word is no phrase; `title_all` and `headings` speak for it."""
        return len(self.sequence) > 1

    def some_in(self, text: str) -> list[str]:
        """The words of a text; nothing when it clearly holds none of those wanted."""
        lowered = text.lower()
        if text.isascii() and not any(start in lowered for start in self.starts):
            return []
        return terms(self.language, text)

    def all_in(self, text: str) -> list[str]:
        """The words of a text; nothing when it clearly lacks one of those wanted."""
        lowered = text.lower()
        if text.isascii() and not all(start in lowered for start in self.starts):
            return []
        return terms(self.language, text)


def by_numbers(text_scores: Numbers, ranks: Numbers, weights: Ranking) -> Numbers:
    """The part of the score that needs no words: for all candidates at once."""
    return weights.text * np.log1p(text_scores) + weights.rank * np.log(ranks)


def contributions(text_score: float, rank: float, head: Head, wanted: Wanted, weights: Ranking) -> dict[str, float]:
    """Every feature times its weight; the score is their sum."""
    features = {"text": math.log1p(text_score), "rank": math.log(rank), **_words_of(head, wanted)}
    return {name: getattr(weights, name) * features[name] for name in FEATURES}


def _words_of(head: Head, wanted: Wanted) -> dict[str, float]:
    """The bonuses: where on the page do the words of the query stand, and how?"""
    title = wanted.some_in(head.title)
    in_title = _share(wanted, title)
    in_headings = _share(wanted, wanted.some_in("\n".join(head.headings)))
    return {
        "title_all": float(in_title == 1.0),
        "title_some": in_title if in_title < 1.0 else 0.0,
        "headings": in_headings,
        "url": _share_in_url(wanted, head.url),
        "phrase_title": float(in_title == 1.0 and _holds_phrase(title, wanted)),
        "phrase_headings": float(in_headings == 1.0 and any(_says(heading, wanted) for heading in head.headings)),
        "phrase_opening": float(_says(head.opening, wanted)),
        "near_phrase": float(in_title > 0.0 and _holds_nearly(title, wanted)),
    }


def _share(wanted: Wanted, words: list[str]) -> float:
    return len(wanted.distinct.intersection(words)) / len(wanted.distinct) if words and wanted.distinct else 0.0


def _share_in_url(wanted: Wanted, url: str) -> float:
    """URLs are indexed without stemming, so a word of the query counts when a word of the URL starts with it."""
    text = url_words(url)
    lowered = text.lower()
    if text.isascii() and not any(term in lowered for term in wanted.distinct):
        return 0.0
    words = terms(OTHER, text)
    found = sum(any(_begins(word, term) for word in words) for term in wanted.distinct)
    return found / len(wanted.distinct) if wanted.distinct else 0.0


def _begins(word: str, term: str) -> bool:
    return word.startswith(term) if len(term) >= _TOO_SHORT else word == term


def _says(text: str, wanted: Wanted) -> bool:
    """Whether the query stands in a text, word for word."""
    return wanted.is_phrase and _holds_phrase(wanted.all_in(text), wanted)


def _holds_phrase(words: list[str], wanted: Wanted) -> bool:
    phrase = list(wanted.sequence)
    if not wanted.is_phrase:
        return False
    starts = (at for at, word in enumerate(words) if word == phrase[0])
    return any(words[at : at + len(phrase)] == phrase for at in starts)


def _holds_nearly(words: list[str], wanted: Wanted) -> bool:
    """Whether nearly all of the phrase stands in the words, in order, with others between."""
    return wanted.is_phrase and _longest_common(words, wanted.sequence) >= _NEAR * len(wanted.sequence)


def _longest_common(words: Sequence[str], phrase: Sequence[str]) -> int:
    """The length of the longest common subsequence: a bit a word of the phrase, cleared when it is found in order."""
    places: dict[str, int] = {}
    for place, word in enumerate(phrase):
        places[word] = places.get(word, 0) | 1 << place
    everything = missing = (1 << len(phrase)) - 1
    for word in words:
        met = missing & places.get(word, 0)
        missing = (missing + met | missing - met) & everything
    return len(phrase) - missing.bit_count()
