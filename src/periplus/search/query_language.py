"""Finds the language of a query, and the stop words that a search ignores.

A stop word of one language can matter in another: "die" in "die hard", "sin" in "sin function". So only words that are
stop words in every likely language of the query are ignored, on pages of all languages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from periplus.search.open_index import Numbers, OpenIndex
from periplus.text.analyzer import is_stop_word, terms
from periplus.text.words import split

_SMOOTHING = 50.0  # pages of a language that are assumed to have words as often as pages of all languages
_LIKELY = 0.25  # of the probability of the most likely language


class QueryLanguage(NamedTuple):
    """How likely a query is in each language of the index, and the words of the query that a search ignores."""

    likely: Mapping[str, float]  # probability by language
    ignored: frozenset[str]

    @property
    def leaders(self) -> list[str]:
        """The likely languages."""
        return _leaders(self.likely, 0.02)


def query_language(texts: Sequence[str], index: OpenIndex) -> QueryLanguage:
    """The language of the words and phrases of a query, by naive Bayes: which pages have these words?"""
    words = {word for text in texts for word in split(text)}
    pages = np.array(list(index.languages.values()), np.float64)
    scores = np.log(pages / pages.sum())
    for word in words:
        with_word = _pages_with(word, index)
        expected = (with_word.sum() + 0.5) / (pages.sum() + 1.0)
        scores += np.log((with_word + _SMOOTHING * expected) / (pages + _SMOOTHING))
    shares = np.exp(scores - scores.max(initial=-np.inf))
    likely = dict(zip(index.languages, (shares / shares.sum()).tolist(), strict=True))
    return QueryLanguage(likely, _ignored(texts, _leaders(likely, _LIKELY)))


def _pages_with(word: str, index: OpenIndex) -> Numbers:
    """The number of pages that have a word, by language."""
    return np.array(
        [
            min((index.frequency(language, term) for term in terms(language, word)), default=0)
            for language in index.languages
        ],
        np.float64,
    )


def _leaders(likely: Mapping[str, float], least: float) -> list[str]:
    """The languages that are at least *least* times as likely as the most likely one."""
    best = max(likely.values(), default=0.0)
    return [language for language, share in likely.items() if share >= least * best]


def _ignored(texts: Sequence[str], leaders: Sequence[str]) -> frozenset[str]:
    ignored = {text for text in texts if leaders and all(is_stop_word(language, text) for language in leaders)}
    return frozenset(ignored if len(ignored) < len(set(texts)) else ())
