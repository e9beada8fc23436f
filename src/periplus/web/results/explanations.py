"""Formats the parts of a score for "Why this result?": a sentence with numbers, and a bar, for every part."""

from __future__ import annotations

import math
from typing import NamedTuple

from periplus.model import Explanation
from periplus.web.display import visible

SENTENCES = {  # by feature; `_numbers` says what the names in braces are
    "text": "Text score (BM25): {grown:.1f}",
    "coverage": "{page} of {words} on the page",
    "window": "{window} of your query within 30 words",
    "pairs": "{percent} of your word pairs stand side by side",
    "title": "{title} of {words} in the title",
    "title_exact": "Your words are {percent} of the title",
    "headings": "{headings} of {words} in the headings",
    "anchors": "{anchors} of {words} in the texts of links to the page",
    "url": "{url} of {words} in the URL",
    "url_tail": "The URL ends with {percent} of your query",
    "site": "{percent} of your query names the site",
    "front": "Near the front page of the site you named: {percent}",
    "meaning_title": "Title: {percent} similar in meaning",
    "meaning_headings": "Headings: {percent} similar in meaning",
    "meaning_opening": "Start of the text: {percent} similar in meaning",
    "language": "Language of your query: {percent} likely",
    "code": "{percent} of your code stands there as typed",
    "generated": "Source listing, generated index or release notes",
    "length": "Length: {length:,.0f} words",
    "rank": "PageRank: better than {lower_ranks} % of pages",
    "quality": "Quality of the page and its site: {quality}",
    "freshness": "Date: {percent} as fresh as the newest page found",
    "crowding": "Better results of the same site come first",
    "preference": "You have raised or lowered this site",
}
_LARGEST = 50.0  # of a logarithm; real values are below 10
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
    product = "" if value is None or weight is None else f"{value:.3g} \N{MULTIPLICATION SIGN} {weight:.3g}"
    return ScoreReason(sentence(found, name), product, amount, max(round(100 * abs(units) / most), 1), units < 0)


def sentence(found: Explanation, name: str) -> str:
    """What a feature says about the page."""
    text = SENTENCES.get(name)
    return text.format_map(_numbers(found, found.features.get(name, 0.0))) if text else visible(name).replace("_", " ")


def _numbers(found: Explanation, value: float) -> dict[str, object]:
    """The numbers for the sentences, from the feature or from the logarithm or power that it is."""
    grown = math.expm1(min(value, _LARGEST))
    return {
        **found.words_in,
        "words": f"{found.words} word{'' if found.words == 1 else 's'}",
        "percent": _percent(value),
        "window": _percent(max(value, 0.0) ** 0.25),
        "quality": _percent(value + 0.5),
        "grown": grown,
        "length": 100 * grown,
        "lower_ranks": math.floor(100 * found.lower_ranks),
    }


def _percent(share: float) -> str:
    return f"{100 * max(share, 0.0):.0f}\N{NO-BREAK SPACE}%"


def _corrected(amounts: list[int], total: int) -> list[int]:
    """Adds the rounding error to the largest amounts; a larger difference is a bug and stays visible."""
    missing = total - sum(amounts)
    if abs(missing) > len(amounts):
        return amounts
    step = 1 if missing > 0 else -1
    return [amount + step if place < abs(missing) else amount for place, amount in enumerate(amounts)]


def _decimal(units: int) -> str:
    return f"{units / _UNIT:.{_DECIMALS}f}"
