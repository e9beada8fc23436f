"""Finds the language of a query, and the stop words that a search ignores.

A stop word of one language can matter in another: "die" in "die hard", "sin" in "sin function". So only words that are
stop words in every likely language of the query are ignored, on pages of all languages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from periplus.search.query.tree import SPACED_WORD
from periplus.text.analyzer import OTHER, is_stop_word
from periplus.text.words import split

_LIKELY = 0.35  # of the probability of the most likely language, to decide which words are ignored
_POSSIBLE = 0.02  # of it, to count words with the same stem as the same


class QueryLanguage(NamedTuple):
    """How likely a query is in each language of the index, and the words of the query that a search ignores."""

    likely: Mapping[str, float]  # probability by language
    ignored: frozenset[str]

    @property
    def possible(self) -> list[str]:
        """The languages that the query may be in."""
        return _leaders(self.likely, _POSSIBLE)


class WordCounts(Protocol):
    """The numbers of pages by language."""

    @property
    def languages(self) -> Mapping[str, int]:
        """The number of pages in each language."""
        ...

    def pages_with(self, words: Sequence[str]) -> list[NDArray[np.float64]]:
        """For each word: the number of pages with it in their text, by language."""
        ...


def query_language(texts: Sequence[str], counts: WordCounts) -> QueryLanguage:
    """The language of the words and phrases of a query, by naive Bayes: in which language do pages have these words?"""
    pages = np.array(list(counts.languages.values()), np.float64)
    scores = np.log(pages)
    for with_word in counts.pages_with(list(dict.fromkeys(word for text in texts for word in split(text)))):
        expected = (with_word.sum() + 0.5) / (pages.sum() + 1.0)
        scores += np.log((with_word + expected) / (pages + 1.0))
    shares = np.exp(scores - scores.max(initial=-np.inf))
    likely = dict(zip(counts.languages, (shares / shares.sum()).tolist(), strict=True))
    return QueryLanguage(likely, _ignored(texts, _leaders(likely, _LIKELY)))


def _leaders(likely: Mapping[str, float], least: float) -> list[str]:
    """The languages that are at least *least* times as likely as the most likely one."""
    best = max(likely.values(), default=0.0)
    return [language for language, share in likely.items() if share >= least * best]


def _ignored(texts: Iterable[str], leaders: Iterable[str]) -> frozenset[str]:
    """The words and parts of words that are stop words in all of the languages; none when no word would be left."""
    stemmed = [language for language in leaders if language != OTHER]
    words = {word for text in texts for word in (text, *SPACED_WORD.findall(text))}
    ignored = frozenset(word for word in words if stemmed and all(is_stop_word(one, word) for one in stemmed))
    return frozenset() if ignored >= set(texts) else ignored
