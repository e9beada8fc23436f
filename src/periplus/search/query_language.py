"""Finds the language of a query, and the stop words that a search ignores.

A stop word of one language can matter in another: "die" in "die hard", "sin" in "sin function". So only stop words of
the query's own language are ignored, on pages of every language. Each word of the query counts for the languages in
which it is a stop word, and for the language of most pages that have it. The language with the most words wins.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from periplus.index.lexicon import Lexicon
from periplus.search.query_tree import SPACED_WORD, Node, wanted_words
from periplus.text.analyzer import OTHER, is_stop_word


class QueryLanguage(NamedTuple):
    """The language of a query, as `language_of` names it, and the words of the query that a search ignores."""

    language: str | None  # None: no language has more words than all others
    ignored: frozenset[str]


def query_language(root: Node, languages: Iterable[str], lexicon: Lexicon) -> QueryLanguage:
    """The language of a query; *languages* are those of the indexed pages."""
    words = {word: _language_of(word, lexicon) for word in wanted_words(root)}
    votes = {
        language: sum(known == language or is_stop_word(language, word) for word, known in words.items())
        for language in languages
        if language != OTHER
    }
    most = max(votes.values(), default=0)
    leaders = [language for language, count in votes.items() if count == most > 0]
    terms = {text for word in words for text in (word, *SPACED_WORD.findall(word))}
    ignored = frozenset(text for text in terms if leaders and all(is_stop_word(one, text) for one in leaders))
    return QueryLanguage(leaders[0] if len(leaders) == 1 else None, frozenset() if ignored >= {*words} else ignored)


def _language_of(word: str, lexicon: Lexicon) -> str | None:
    """The language of most pages with a word."""
    terms = SPACED_WORD.findall(word.lower())
    number = lexicon.number(terms[0]) if len(terms) == 1 else None
    return lexicon.language(number) if number is not None else None
