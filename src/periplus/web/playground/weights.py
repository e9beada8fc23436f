"""Reads and writes the weights of the playground in URLs and forms.

A link names only the weights that differ from those of the site: `w=title:1.2,rank:0`. A form without scripts sends one
field for every weight: `w_title=1.2`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from periplus.config import Ranking
from periplus.errors import UsageError
from periplus.search.scoring.rerank import LARGEST_WEIGHT
from periplus.search.scoring.score import FEATURES

WEIGHTS = (*FEATURES, "crowding", "per_host")
FIELD = "w_"  # before the name of a weight, in a form
_LONGEST = 2_000  # characters of a list of weights
_LARGEST_PER_HOST = 100
_LABELS = {  # by group, then by weight
    "Words": {
        "text": "Text score (BM25)",
        "coverage": "Share of your words",
        "window": "Words close together",
        "pairs": "Words side by side",
        "meaning_opening": "Meaning: opening",
        "language": "Query language",
        "code": "Code as typed",
    },
    "Title and headings": {
        "title": "Words in the title",
        "title_exact": "Title is the query",
        "headings": "Words in headings",
        "meaning_title": "Meaning: title",
        "meaning_headings": "Meaning: headings",
    },
    "Links and URL": {
        "anchors": "Texts of links",
        "rank": "PageRank",
        "url": "Words in the URL",
        "url_tail": "End of the URL",
        "site": "Name of the site",
        "front": "Near the front page",
    },
    "Page": {
        "generated": "Generated listings",
        "length": "Length",
        "quality": "Quality",
        "freshness": "Date",
    },
    "Results of one site": {"crowding": "Loss beyond them", "per_host": "Results without loss"},
}
LABELS = {name: label for group in _LABELS.values() for name, label in group.items()}


class Slider(NamedTuple):
    """One weight, for the template."""

    name: str
    label: str
    value: str
    usual: str  # the weight of the site
    low: str  # end of the slider; the number field takes more
    high: str
    least: str
    most: str
    step: str


def read_weights(parameters: Mapping[str, str], usual: Ranking) -> Ranking:
    """The weights that a request names, and those of the site for the others."""
    text = parameters.get("w", "")
    if len(text) > _LONGEST:
        raise UsageError("the list of weights is too long", f"the limit is {_LONGEST:,} characters")
    named = dict(_pair(part) for part in text.split(",") if part)
    fields = {name: value for name in WEIGHTS if (value := parameters.get(FIELD + name, "").strip())}
    new = {name: value for name, value in (named | fields).items() if value != _text(getattr(usual, name))}
    changes = {name: _value(name, value) for name, value in new.items()}
    return usual.model_copy(update=changes)


def _pair(part: str) -> tuple[str, str]:
    name, colon, value = part.partition(":")
    if name not in WEIGHTS:
        raise UsageError(f'no weight is called "{name[:40]}"', hint=f"Weights: {', '.join(WEIGHTS)}.")
    if not colon:
        raise UsageError(f"the weight {name} has no value", hint=f"For example w={name}:1.5.")
    return name, value


def _value(name: str, text: str) -> float | int:
    low, high = _range(name)
    try:
        value = float(text) if len(text) < 40 else math.nan
    except ValueError:
        value = math.nan
    if not low <= value <= high or (name == "per_host" and not value.is_integer()):
        whole = "a whole number" if name == "per_host" else "a number"
        raise UsageError(f"the weight {name} must be {whole} from {low:g} to {high:g}")
    return int(value) if name == "per_host" else value


def _range(name: str) -> tuple[float, float]:
    """The smallest and the largest value."""
    if name == "per_host":
        return 1, _LARGEST_PER_HOST
    return (0.0 if name == "crowding" else -LARGEST_WEIGHT), LARGEST_WEIGHT


def changed(weights: Ranking, usual: Ranking) -> dict[str, float]:
    """The weights that differ from those of the site."""
    return {name: getattr(weights, name) for name in WEIGHTS if getattr(weights, name) != getattr(usual, name)}


def encode(weights: Ranking, usual: Ranking) -> str:
    """The value of `w` in a link."""
    return ",".join(f"{name}:{_text(value)}" for name, value in changed(weights, usual).items())


def groups(weights: Ranking, usual: Ranking) -> list[tuple[str, list[Slider]]]:
    """The sliders by group."""
    return [(title, [_slider(name, weights, usual) for name in labels]) for title, labels in _LABELS.items()]


def _slider(name: str, weights: Ranking, usual: Ranking) -> Slider:
    value, own, (least, most) = getattr(weights, name), getattr(usual, name), _range(name)
    ends = {"crowding": (0.0, 2.0), "per_host": (1, 10)}.get(name, (-5.0, 10.0))
    low, high = min(ends[0], value, own), max(ends[1], value, own)
    step = "1" if name == "per_host" else "0.01"
    return Slider(
        name, LABELS[name], _text(value), _text(own), _text(low), _text(high), _text(least), _text(most), step
    )


def _text(value: float) -> str:
    """The shortest text that gives the same number."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
