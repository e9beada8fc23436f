"""Finds the positions of the query words in a text.

To analyse a whole text would cost more than the rest of the scoring. So only words that start like a query word are
analysed, each once per query. The result is the same as after analysing every word. In scripts without spaces, the
pieces of the query are found wherever they are.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator
from functools import cached_property

from periplus.search.word_forms import Match
from periplus.text.analyzer import content_terms, folded, start_of, terms
from periplus.text.unspaced import blanked, pieces

_LETTER = r"[^\W_]"
_TAMIL_LETTER = r"[\u0b82-\u0bd7\w]"  # `re` counts a vowel sign as no letter
_WORD = re.compile(f"{_LETTER}+")


class QueryWords:
    """The words of a query, analysed as text of one language."""

    def __init__(self, text: str, language: str) -> None:
        self.language = language
        content = content_terms(language, text)
        self._analyze = content_terms if content else terms
        self.sequence = content or terms(language, text)  # in order, repeats kept; stop words only if there is no other
        self.distinct = frozenset(self.sequence)
        self._text = text
        self._known: dict[str, str | None] = {}

    @property
    def is_phrase(self) -> bool:
        """Whether there are at least two words."""
        return len(self.sequence) > 1

    def terms_of(self, text: str) -> list[str]:
        """The terms of a text, without stop words unless the query has only those."""
        return self._analyze(self.language, text)

    def found_in(self, text: str) -> frozenset[str]:
        """The query words that a text contains."""
        if not text.isascii():
            return self.distinct.intersection(self.terms_of(text))
        found: set[str] = set()
        for match in self.matches(text):
            found.add(match.term)
            if len(found) == len(self.distinct):
                break
        return frozenset(found)

    def matches(self, text: str) -> Iterator[Match]:
        """The query words in a text, in order. A word with a ligature is missed unless the query has the ligature."""
        if self._pieces is None:
            return self._words(text)
        found = (Match(*piece.span(), piece[0]) for piece in self._pieces.finditer(text))
        return heapq.merge(found, self._words(text))

    def _words(self, text: str) -> Iterator[Match]:
        """The query words of scripts with spaces."""
        if not self.distinct:
            return
        spaced = blanked(text)
        for candidate in self._pattern.finditer(folded(spaced)):
            start, end = candidate.span()
            if start and spaced[start - 1].isalnum():
                continue  # the middle of a word
            if (term := self._term(spaced[start:end])) is not None:
                yield Match(start, end, term)

    def _term(self, word: str) -> str | None:
        """The query word that a word of the text is a form of."""
        if word not in self._known:
            self._known[word] = next(iter(self.distinct.intersection(self.terms_of(word))), None)
        return self._known[word]

    @cached_property
    def _pieces(self) -> re.Pattern[str] | None:
        """Matches the pieces of the query in scripts without spaces."""
        parts = set(pieces(self._text))
        return re.compile(_any_of(parts)) if parts else None

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """Matches candidates for the terms. `matches` tests for the start of a word, which is faster than a regex."""
        starts = {start_of(term, self.language) for term in self.distinct}
        starts |= {folded(word) for word in _WORD.findall(self._text) if not word.isascii()}
        return re.compile(f"(?:{_any_of(starts)}){_TAMIL_LETTER if self.language == 'ta' else _LETTER}*")


def _any_of(texts: set[str]) -> str:
    return "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))
