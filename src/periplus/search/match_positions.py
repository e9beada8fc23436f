"""Where in a text do the words of a query stand?

Analysing a whole text costs more than all else that ranking does with it. So only the words that begin like one of
those wanted are analysed, each once a query; what is found is exactly what analysing everything would find.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from periplus.text.analyzer import folded, start_of, terms

_WORD = re.compile(r"[^\W_]+")


class Match(NamedTuple):
    """A wanted word in a text, as a range of characters."""

    start: int
    end: int
    term: str


class QueryWords:
    """The words of a query, as pages of one language would hold them."""

    def __init__(self, text: str, language: str) -> None:
        self.language = language
        self.sequence = terms(language, text)  # in order, repeats kept
        self.distinct = frozenset(self.sequence)
        self._text = text
        self._known: dict[str, str | None] = {}

    @property
    def is_phrase(self) -> bool:
        """One word is no phrase."""
        return len(self.sequence) > 1

    def held_by(self, text: str) -> frozenset[str]:
        """Which of the words a text holds."""
        if not text.isascii():
            return self.distinct.intersection(terms(self.language, text))
        held: set[str] = set()
        for match in self.matches(text):
            held.add(match.term)
            if len(held) == len(self.distinct):
                break
        return frozenset(held)

    def matches(self, text: str) -> Iterator[Match]:
        """The wanted words in a text, from its start; one with a ligature is missed unless the query has it too."""
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
        """Words that may be one of the terms. That it is the start of a word is tested later, which is faster."""
        starts = {start_of(term, self.language) for term in self.distinct}
        starts |= {folded(word) for word in _WORD.findall(self._text) if not word.isascii()}
        choice = "|".join(map(re.escape, sorted(starts, key=len, reverse=True)))
        return re.compile(rf"(?:{choice})[^\W_]*")
