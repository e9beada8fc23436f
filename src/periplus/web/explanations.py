"""Formats the parts of a score for "Why this result?": a sentence with numbers, and a bar, for every part."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from periplus.model import Explanation
from periplus.web.display import visible


def _words_in(field: str, place: str) -> Callable[[Explanation, float], str]:
    def sentence(found: Explanation, value: float) -> str:
        del value
        noun = "word" if found.words == 1 else "words"
        return f"{found.words_in.get(field, 0)} of {found.words} {noun} {place}"

    return sentence


def _percent(text: str, power: float = 1.0) -> Callable[[Explanation, float], str]:
    return lambda found, value: text.format(f"{100 * max(value, 0.0) ** power:.0f} %")


def _text_score(found: Explanation, value: float) -> str:
    del found
    return f"Text score (BM25): {math.expm1(value):.1f}"


def _rank(found: Explanation, value: float) -> str:
    del value
    return f"PageRank: better than {math.floor(100 * found.lower_ranks)} % of pages"


def _length(found: Explanation, value: float) -> str:
    del found
    return f"Length: {100 * math.expm1(value):,.0f} words"


def _quality(found: Explanation, value: float) -> str:
    del found
    return f"Quality of the page and its site: {100 * (value + 0.5):.0f} %"


SENTENCES: dict[str, Callable[[Explanation, float], str]] = {
    "text": _text_score,
    "coverage": _words_in("page", "on the page"),
    "window": _percent("{} of your query within 30 words", 0.25),
    "pairs": _percent("{} of your word pairs stand side by side"),
    "title": _words_in("title", "in the title"),
    "title_exact": _percent("Your words are {} of the title"),
    "headings": _words_in("headings", "in the headings"),
    "anchors": _words_in("anchors", "in the texts of links to the page"),
    "url": _words_in("url", "in the URL"),
    "url_tail": _percent("The URL ends with {} of your query"),
    "site": _percent("{} of your query names the site"),
    "front": _percent("Near the front page of the site you named: {}"),
    "meaning_title": _percent("Title: {} similar in meaning"),
    "meaning_headings": _percent("Headings: {} similar in meaning"),
    "meaning_opening": _percent("Start of the text: {} similar in meaning"),
    "language": _percent("Language of your query: {} likely"),
    "code": _percent("{} of your code stands there as typed"),
    "generated": lambda found, value: "Source listing, generated index or release notes",
    "length": _length,
    "rank": _rank,
    "quality": _quality,
    "freshness": _percent("Date: {}, where the newest page found has 100 %"),
    "crowding": lambda found, value: "Better results of the same site come first",
}
_DECIMALS = 4
_UNIT = 10**_DECIMALS


class ScoreReason(NamedTuple):
    """One row of the table."""

    sentence: str
    product: str  # the value of the feature times its weight; empty when the part has no weight
    amount: str
    percent: int  # of the largest amount, for the bar
    is_negative: bool


class ScoreReasons(NamedTuple):
    """The table and its sum."""

    lines: tuple[ScoreReason, ...]
    score: str


def reasons(found: Explanation) -> ScoreReasons:
    """The parts of a score, largest first, negative ones last; rounded so that the column adds up to the score.

    Parts that are displayed as 0 are left out.
    """
    named = sorted(found.parts.items(), key=lambda part: -abs(part[1]) if math.isfinite(part[1]) else 0.0)
    if not all(map(math.isfinite, (found.score, *found.parts.values()))):
        return ScoreReasons(tuple(_line(found, name, f"{amount}", 0, 1) for name, amount in named), f"{found.score}")
    total = round(found.score * _UNIT)
    amounts = _corrected([round(amount * _UNIT) for _, amount in named], total)
    most = max([1, *map(abs, amounts)])
    lines = [
        _line(found, name, _decimal(amount), amount, most)
        for (name, _), amount in zip(named, amounts, strict=True)
        if amount
    ]
    return ScoreReasons(tuple(sorted(lines, key=lambda line: line.is_negative)), _decimal(total))


def _line(found: Explanation, name: str, amount: str, units: int, most: int) -> ScoreReason:
    value, weight = found.features.get(name), found.weights.get(name)
    product = "" if value is None or weight is None else f"{value:.3g} × {weight:.3g}"
    sentence = SENTENCES[name](found, value or 0.0) if name in SENTENCES else visible(name).replace("_", " ")
    return ScoreReason(sentence, product, amount, max(round(100 * abs(units) / most), 1), units < 0)


def _corrected(amounts: list[int], total: int) -> list[int]:
    """Adds the rounding error to the largest amounts; a larger difference is a bug and stays visible."""
    missing = total - sum(amounts)
    if abs(missing) > len(amounts):
        return amounts
    step = 1 if missing > 0 else -1
    return [amount + step if place < abs(missing) else amount for place, amount in enumerate(amounts)]


def _decimal(units: int) -> str:
    return f"{units / _UNIT:.{_DECIMALS}f}"
