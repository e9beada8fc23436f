"""Finds the query words in a text, in every form that the pages spell.

The lexicon knows all spellings of a word: "run" is also "runs" and "running". So a text is not analysed. `str.find`
looks for the common start of the spellings, and a dictionary decides. That reads about 1 GB/s.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, takewhile
from typing import NamedTuple

from periplus.index.forward.forward_index import U32, ForwardIndex
from periplus.text.analyzer import OTHER, content_terms, terms
from periplus.text.code_tokens import code_tokens
from periplus.text.unspaced import UNSPACED, blanked, pieces

_MOST = 200  # matches of one start of a word in a text
_START = 3  # letters that spellings with one common start share at least
_WORD = re.compile(rf"[^\W_{UNSPACED}]+")
_TAMIL_WORD = re.compile(r"[\u0b82-\u0bd7\w]+")  # `re` counts a vowel sign as no letter


class Match(NamedTuple):
    """A query word in a text, as a range of characters."""

    start: int
    end: int
    term: str


class WordForms:
    """The words of a query in all their spellings, for texts of one language."""

    def __init__(self, wanted: Sequence[str], language: str, index: ForwardIndex) -> None:
        """*wanted*: words and phrases of the query. Stop words count only when there are no other words."""
        marked = {word: _marked(word) for word in wanted}  # C++, -Wall: found as written only
        text = " ".join(word for word in wanted if not marked[word])
        spaced = blanked(text)
        found = content_terms(language, spaced)
        parts = pieces(text.lower())
        codes = [code for codes in marked.values() for code in codes]
        exact = [*parts, *codes]
        distinct = dict.fromkeys(found if found or exact else terms(language, spaced))
        self._word = _TAMIL_WORD if language == "ta" else _WORD
        self.numbers = {term: index.ids_of(term, language) for term in distinct}  # of the words in the lexicon
        self.weights = {term: _rarity(numbers, index) for term, numbers in self.numbers.items()}
        self._terms = _spellings(self.numbers, spaced, language, index)
        self._starts = _common_starts(self._terms)
        patterns = [_any_of(parts)] * bool(parts) + [rf"(?<![^\W_])(?:{_any_of(codes)})(?![^\W_])"] * bool(codes)
        self._exact = [re.compile(pattern) for pattern in patterns]
        self.weights |= dict.fromkeys(exact, math.log1p(len(index)))
        self.total = sum(self.weights.values())

    @property
    def has_exact(self) -> bool:
        """Whether some of the query is found as written only."""
        return bool(self._exact)

    def matches(self, text: str, start: int = 0, end: int | None = None) -> list[Match]:
        """The query words from *start* to *end* of a text, in order."""
        lower = _lower(text[start:end])
        found: list[Match] = []
        for prefix in self._starts:
            self._find_words(lower, prefix, start, found)
        for exact in self._exact:
            places = islice(exact.finditer(lower), _MOST)
            found += [Match(start + place.start(), start + place.end(), place[0]) for place in places]
        found.sort()
        return found

    def weight(self, found: set[str]) -> float:
        """The sum of the weights of terms; exact, because the order of a set differs from run to run."""
        return math.fsum(map(self.weights.__getitem__, found))

    def _find_words(self, lower: str, prefix: str, start: int, found: list[Match]) -> None:
        """Appends the words with this prefix. One loop without generators, because snippets spend their time here."""
        at, most = lower.find(prefix), len(found) + _MOST
        while at >= 0 and len(found) < most:
            end = at + len(prefix)
            before = lower[at - 1] if at else " "
            if not before.isalnum() or (not before.isascii() and not self._word.match(before)):  # the start of a word
                word = self._word.match(lower, at)
                if word is not None:
                    end = word.end()
                    if (term := self._terms.get(word[0])) is not None:
                        found.append(Match(start + at, start + end, term))
            at = lower.find(prefix, end)


def _marked(word: str) -> list[str]:
    """The code-like tokens of a word that would be another word without their marks."""
    return code_tokens(word).split() if len(terms(OTHER, word)) < 2 else []


def _rarity(numbers: U32, index: ForwardIndex) -> float:
    return math.log1p(len(index) / (1.0 + index.df(numbers)))


def _spellings(numbers: Mapping[str, U32], text: str, language: str, index: ForwardIndex) -> dict[str, str]:
    """The term of every spelling."""
    word_of = index.lexicon.word
    spellings = {word_of(number): term for term, found in numbers.items() for number in found.tolist()}
    for word in _WORD.findall(text.lower()):  # as typed: a page may have it behind the words of the forward index
        for term in terms(language, word):
            if term in numbers:
                spellings[word] = term
    return spellings


def _common_starts(words: Iterable[str]) -> list[str]:
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(word[:_START], []).append(word)
    starts: list[str] = []
    for start in sorted(_common_start(min(group), max(group)) for group in groups.values()):
        if not starts or not start.startswith(starts[-1]):  # the shorter start finds these words, too
            starts.append(start)
    return starts


def _common_start(first: str, last: str) -> str:
    """The start that two words share, and all words that sort between them."""
    same = (one == other for one, other in zip(first, last, strict=False))
    return first[: sum(takewhile(bool, same))]


def _any_of(texts: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))


def _lower(text: str) -> str:
    """The text in lower case, letter by letter, so that positions stay."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(letter.lower()[0] for letter in text)
