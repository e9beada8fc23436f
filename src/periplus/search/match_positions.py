"""Finds the positions of the query words in a text.

To analyse a whole text would cost more than the rest of the scoring. So only words that start like a query word are
analysed, each once per query. The result is the same as after analysing every word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from periplus.text.analyzer import folded, start_of, terms

_WORD = re.compile(r"[^\W_]+")


class Match(NamedTuple):
    """A query word in a text, as a range of characters."""

    start: int
    end: int
    term: str


class QueryWords:
    """The words of a query, analysed as text of one language."""

    def __init__(self, text: str, language: str) -> None:
        self.language = language
        self.sequence = terms(language, text)  # in order, repeats kept
        self.distinct = frozenset(self.sequence)
        self._text = text
        self._known: dict[str, str | None] = {}

    @property
    def is_phrase(self) -> bool:
        """Whether there are at least two words."""
        return len(self.sequence) > 1

    def found_in(self, text: str) -> frozenset[str]:
        """The query words that a text contains."""
        if not text.isascii():
            return self.distinct.intersection(terms(self.language, text))
        found: set[str] = set()
        for match in self.matches(text):
            found.add(match.term)
            if len(found) == len(self.distinct):
                break
        return frozenset(found)

    def matches(self, text: str) -> Iterator[Match]:
        """The query words in a text, in order. A word with a ligature is missed unless the query has the ligature."""
        if not self.distinct:
            return
        for candidate in self._pattern.finditer(folded(text)):
            start, end = candidate.span()
            if start and text[start - 1].isalnum():
                continue  # the middle of a word
            word = text[start:end]
            if word not in self._known:
                self._known[word] = next(iter(self.distinct.intersection(terms(self.language, word))), None)
            if (term := self._known[word]) is not None:
                yield Match(start, end, term)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """Matches candidates for the terms. `matches` tests for the start of a word, which is faster than a regex."""
        starts = {start_of(term, self.language) for term in self.distinct}
        starts |= {folded(word) for word in _WORD.findall(self._text) if not word.isascii()}
        choice = "|".join(map(re.escape, sorted(starts, key=len, reverse=True)))
        return re.compile(rf"(?:{choice})[^\W_]*")
