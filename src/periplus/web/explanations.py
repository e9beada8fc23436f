"""Formats the parts of a score for "Why this result?"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from periplus.web.display import visible

LABELS = {
    "text": "Frequency of your words (BM25)",
    "coverage": "Your words on the page",
    "window": "Your words close together",
    "pairs": "Your words side by side",
    "title": "Your words in the title",
    "title_exact": "The title is your query",
    "headings": "Your words in headings",
    "anchors": "Your words in anchor texts",
    "url": "Your words in the URL",
    "url_tail": "The URL ends with your words",
    "site": "Your words name the site",
    "front": "Near the front page of the named site",
    "meaning_title": "Title similar in meaning",
    "meaning_headings": "Headings similar in meaning",
    "meaning_opening": "Start of the text similar in meaning",
    "language": "Language of your query",
    "code": "Code as you typed it",
    "generated": "Source listing, index or release notes",
    "length": "Length of the text",
    "rank": "Links to the page (PageRank)",
    "quality": "Quality of the page and its host",
    "freshness": "Date of the page",
    "crowding": "Better results of the same host",
}
_MOST_LINES = 10  # parts with a line of their own; the page has a table for every result
_DECIMALS = 4
_UNIT = 10**_DECIMALS


class ScoreReason(NamedTuple):
    """One row of the table."""

    name: str
    amount: str
    percent: int  # of the largest amount, for the bar; 0 for a negative amount


class ScoreReasons(NamedTuple):
    """The table and its sum."""

    lines: tuple[ScoreReason, ...]
    score: str


def reasons(score: float, explain: Mapping[str, float]) -> ScoreReasons:
    """The parts of a score, largest first, rounded so that the column adds up to the displayed score.

    Parts that are displayed as 0 are left out, and those after the ten largest share a line.
    """
    named = sorted(explain.items(), key=lambda entry: -abs(entry[1]))
    if not all(map(math.isfinite, (score, *explain.values()))):
        return ScoreReasons(tuple(ScoreReason(_label(name), f"{amount}", 0) for name, amount in named), f"{score}")
    total = round(score * _UNIT)
    amounts = _corrected([round(amount * _UNIT) for _, amount in named], total)
    lines = [(_label(name), amount) for (name, _), amount in zip(named, amounts, strict=True) if amount]
    if len(lines) > _MOST_LINES:
        rest = lines[_MOST_LINES:]
        lines[_MOST_LINES:] = [(f"{len(rest)} smaller parts", sum(amount for _, amount in rest))]
    most = max([1, *(amount for _, amount in lines)])
    return ScoreReasons(
        tuple(ScoreReason(name, _decimal(amount), max(round(100 * amount / most), 0)) for name, amount in lines),
        _decimal(total),
    )


def _label(name: str) -> str:
    return LABELS.get(name) or visible(name).replace("_", " ")


def _corrected(amounts: list[int], total: int) -> list[int]:
    """Adds the rounding error to the largest amounts; a larger difference is a bug and stays visible."""
    missing = total - sum(amounts)
    if abs(missing) > len(amounts):
        return amounts
    step = 1 if missing > 0 else -1
    return [amount + step if place < abs(missing) else amount for place, amount in enumerate(amounts)]


def _decimal(units: int) -> str:
    return f"{units / _UNIT:.{_DECIMALS}f}"
