"""Which passage of the page answers the query?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from periplus.text.analyzer import folded, start_of, terms

_LENGTH = 260  # characters
_LEAD = 60  # of them before the first match
_READ = 50_000  # characters of a page that are searched for matches
_MOST_MATCHES = 400
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Snippet:
    """A passage, and the character ranges of the matching words in it."""

    text: str
    highlights: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Match:
    start: int
    end: int
    term: str


def make_snippet(text: str, fallback: str, language: str, wanted: Iterable[str]) -> Snippet:
    """The window of *text* that holds most of the wanted terms; *fallback* when it holds none."""
    wanted = frozenset(wanted)
    text = text[:_READ]
    matches = _matches(text, language, wanted)
    if not matches:
        return highlighted(_shortened(fallback or text), language, wanted)
    start, end = _window(text, matches)
    passage = _SPACE.sub(" ", text[start:end]).strip()
    return highlighted(("… " if start else "") + passage + (" …" if end < len(text) else ""), language, wanted)


def highlighted(text: str, language: str, wanted: Iterable[str]) -> Snippet:
    """A text as it is, with the wanted terms marked."""
    ranges = tuple((match.start, match.end) for match in _matches(text, language, frozenset(wanted)))
    return Snippet(text, ranges)


def _shortened(text: str) -> str:
    text = _SPACE.sub(" ", text).strip()
    if len(text) <= _LENGTH:
        return text
    return text[: text.rfind(" ", 0, _LENGTH) if " " in text[:_LENGTH] else _LENGTH] + " …"


def _matches(text: str, language: str, wanted: frozenset[str]) -> list[_Match]:
    """The words of a text that are wanted: those that begin right are analysed, each once."""
    if not wanted:
        return []
    found: list[_Match] = []
    known: dict[str, str | None] = {}
    for candidate in _pattern(wanted, language).finditer(folded(text)):
        start, end = candidate.span()
        if start and text[start - 1].isalnum():
            continue  # the middle of a word
        word = text[start:end]
        if word not in known:
            known[word] = next((term for term in terms(language, word) if term in wanted), None)
        if (term := known[word]) is not None:
            found.append(_Match(start, end, term))
            if len(found) >= _MOST_MATCHES:
                break
    return found


@lru_cache(maxsize=256)
def _pattern(wanted: frozenset[str], language: str) -> re.Pattern[str]:
    """Words that may be one of the terms. That it is the start of a word is tested later, which is faster."""
    starts = sorted({re.escape(start_of(term, language)) for term in wanted}, key=len, reverse=True)
    return re.compile(rf"(?:{'|'.join(starts)})[^\W_]*")


def _window(text: str, matches: list[_Match]) -> tuple[int, int]:
    """The start and end of the best window, at word boundaries."""
    best, best_worth = matches[0], 0.0
    for index, match in enumerate(matches):
        reach = match.start + _LENGTH - _LEAD
        inside = [other.term for other in matches[index : index + 40] if other.end <= reach]
        worth = len(set(inside)) + 0.01 * len(inside)
        if worth > best_worth:
            best, best_worth = match, worth
    start = max(best.start - _LEAD, 0)
    if start:
        start = text.find(" ", start, best.start) + 1 or best.start
    end = min(start + _LENGTH, len(text))
    if end < len(text):
        end = max(text.rfind(" ", start, end), best.end)
    return start, end
