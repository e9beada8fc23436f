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
from periplus.text.analyzer import OTHER, language_of, terms

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

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The words of a query, as pages of one language would hold them."""

    sequence: tuple[str, ...]  # in order, repeats kept

    @property
    def distinct(self) -> frozenset[str]:
        """Without repeats."""
        return frozenset(self.sequence)


def by_numbers(text_scores: Numbers, ranks: Numbers, weights: Ranking) -> Numbers:
    """The part of the score that needs no words: for all candidates at once."""
    return weights.text * np.log1p(text_scores) + weights.rank * np.log(ranks)


def contributions(text_score: float, rank: float, head: Head, wanted: Wanted, weights: Ranking) -> dict[str, float]:
    """Every feature times its weight; the score is their sum."""
    features = {"text": math.log1p(text_score), "rank": math.log(rank), **_words_of(head, wanted)}
    return {name: getattr(weights, name) * features[name] for name in FEATURES}


def _words_of(head: Head, wanted: Wanted) -> dict[str, float]:
    """The bonuses: where on the page do the words of the query stand, and how?"""
    title = terms(_language(head), head.title)
    headings = [terms(_language(head), heading) for heading in head.headings]
    in_title = _share(wanted, title)
    return {
        "title_all": float(in_title == 1.0),
        "title_some": in_title if in_title < 1.0 else 0.0,
        "headings": _share(wanted, [word for heading in headings for word in heading]),
        "url": _share_in_url(wanted, head),
        "phrase_title": float(_holds_phrase(title, wanted.sequence)),
        "phrase_headings": float(any(_holds_phrase(heading, wanted.sequence) for heading in headings)),
        "phrase_opening": float(_holds_phrase(terms(_language(head), head.opening), wanted.sequence)),
        "near_phrase": float(_holds_nearly(title, wanted.sequence)),
    }


def _language(head: Head) -> str:
    return language_of(head.language)


def _share(wanted: Wanted, words: Sequence[str]) -> float:
    distinct = wanted.distinct
    return len(distinct.intersection(words)) / len(distinct) if distinct else 0.0


def _share_in_url(wanted: Wanted, head: Head) -> float:
    """URLs are indexed without stemming, so a word of the query counts when a word of the URL starts with it."""
    words = terms(OTHER, head.url.partition("//")[2])
    found = sum(any(word.startswith(term) for word in words) for term in wanted.distinct)
    return found / len(wanted.distinct) if wanted.sequence else 0.0


def _holds_phrase(words: Sequence[str], phrase: Sequence[str]) -> bool:
    size = len(phrase)
    if size < 2:
        return False  # one word is no phrase; `title_all` and `headings` speak for it
    first = phrase[0]
    starts = (at for at, word in enumerate(words) if word == first)
    return any(tuple(words[at : at + size]) == tuple(phrase) for at in starts)


def _holds_nearly(words: Sequence[str], phrase: Sequence[str]) -> bool:
    """Whether nearly all of the phrase stands in the words, in order, with others between."""
    return len(phrase) > 1 and _longest_common(words, phrase) >= _NEAR * len(phrase)


def _longest_common(words: Sequence[str], phrase: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(phrase) + 1)
    for word in words:
        before = 0
        for column, wanted in enumerate(phrase, 1):
            above = row[column]
            row[column] = before + 1 if word == wanted else max(above, row[column - 1])
            before = above
    return row[-1]
