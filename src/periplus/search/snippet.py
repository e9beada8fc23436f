"""Selects the passage of a page that is shown below its title."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from periplus.search.match_positions import Match, QueryWords

_LENGTH = 260  # characters
_LEAD = 60  # characters before the first match
_READ = 50_000  # characters of a page that are searched for matches
_MAX_MATCHES = 400


@dataclass(frozen=True, slots=True)
class Snippet:
    """A passage, and the character ranges of the matching words in it."""

    text: str
    highlights: tuple[tuple[int, int], ...]


def make_snippet(text: str, fallback: str, wanted: QueryWords) -> Snippet:
    """The passage of *text* with the most query words; *fallback* when *text* has none."""
    text = text[:_READ]
    matches = list(islice(wanted.matches(text), _MAX_MATCHES))
    if not matches:
        return highlighted(_shortened(fallback or text), wanted)
    start, end = _window(text, matches)
    passage = " ".join(text[start:end].split())
    return highlighted(("… " if start else "") + passage + (" …" if end < len(text) else ""), wanted)


def highlighted(text: str, wanted: QueryWords) -> Snippet:
    """The whole text as a snippet, with the query words marked."""
    return Snippet(text, tuple((match.start, match.end) for match in wanted.matches(text)))


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    if len(text) <= _LENGTH:
        return text
    return text[: text.rfind(" ", 0, _LENGTH) if " " in text[:_LENGTH] else _LENGTH] + " …"


def _window(text: str, matches: list[Match]) -> tuple[int, int]:
    """The start and end of the best passage, at word boundaries."""
    best, best_score = matches[0], 0.0
    for index, match in enumerate(matches):
        reach = match.start + _LENGTH - _LEAD
        inside = [other.term for other in matches[index : index + 40] if other.end <= reach]
        score = len(set(inside)) + 0.01 * len(inside)
        if score > best_score:
            best, best_score = match, score
    start = max(best.start - _LEAD, 0)
    if start:
        start = text.find(" ", start, best.start) + 1 or best.start
    end = min(start + _LENGTH, len(text))
    if end < len(text):
        end = max(text.rfind(" ", start, end), best.end)
    return start, end
