"""Computes the score of a page.

The score is a weighted sum of named features; the weights are settings. `text` and `rank` are logarithms, so their
weights act as exponents of the text score and of PageRank. A bonus of 0.1 equals about 10 % more text score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from periplus.config import Ranking
from periplus.index.pagestore import Head
from periplus.search.match_positions import QueryWords
from periplus.text.analyzer import OTHER, terms, url_words

FEATURES = (
    "text",
    "rank",
    "quality",
    "title_all",
    "title_some",
    "headings",
    "url",
    "phrase_title",
    "phrase_headings",
    "phrase_opening",
    "near_phrase",
)


def _require_weights() -> None:
    """A feature without a weight in `[ranking]` fails at import, not at the first query."""
    missing = [name for name in FEATURES if name not in Ranking.model_fields]
    if missing:
        raise TypeError(f"ranking features without a weight in config.Ranking: {', '.join(missing)}")


_require_weights()

NEUTRAL_QUALITY = 0.5  # neither raises nor lowers the score
_NEAR = 0.9  # share of the query words that must appear in order
_MIN_PREFIX = 3  # letters; a shorter query word must equal the word of the URL

Numbers = NDArray[np.float64]


def by_numbers(text_scores: Numbers, ranks: Numbers, qualities: Numbers, weights: Ranking) -> Numbers:
    """The part of the score that needs no page text, for all candidates at once."""
    fixed = weights.rank * np.log(ranks) + weights.quality * (qualities - NEUTRAL_QUALITY)
    return weights.text * np.log1p(text_scores) + fixed


def contributions(
    text_score: float, rank: float, quality: float, head: Head, wanted: QueryWords, weights: Ranking
) -> dict[str, float]:
    """Every feature times its weight; the score is their sum."""
    numbers = {"text": math.log1p(text_score), "rank": math.log(rank), "quality": quality - NEUTRAL_QUALITY}
    features = numbers | _word_features(head, wanted)
    return {name: getattr(weights, name) * features[name] for name in FEATURES}


def _word_features(head: Head, wanted: QueryWords) -> dict[str, float]:
    """The bonuses for query words in the title, headings, URL and opening text."""
    in_title = wanted.found_in(head.full_title)
    in_headings = wanted.found_in("\n".join(head.headings))
    share = _share(in_title, wanted)
    return {
        "title_all": float(share == 1.0),
        "title_some": share if share < 1.0 else 0.0,
        "headings": _share(in_headings, wanted),
        "url": _share_in_url(head.url, wanted),
        "phrase_title": float(share == 1.0 and _has_phrase(head.full_title, wanted)),
        "phrase_headings": float(
            in_headings == wanted.distinct and any(_has_phrase(heading, wanted) for heading in head.headings)
        ),
        "phrase_opening": float(_has_phrase(head.opening, wanted)),
        "near_phrase": float(_has_near_phrase(head.full_title, in_title, wanted)),
    }


def _share(found: frozenset[str], wanted: QueryWords) -> float:
    return len(found) / len(wanted.distinct) if wanted.distinct else 0.0


def _share_in_url(url: str, wanted: QueryWords) -> float:
    """The share of query words in the URL. URLs are not stemmed, so a query word matches the start of a URL word."""
    text = url_words(url).lower()
    if not any(term in text for term in wanted.distinct) and text.isascii():
        return 0.0
    words = terms(OTHER, text)
    found = sum(any(_starts_with(word, term) for word in words) for term in wanted.distinct)
    return found / len(wanted.distinct) if wanted.distinct else 0.0


def _starts_with(word: str, term: str) -> bool:
    return word.startswith(term) if len(term) >= _MIN_PREFIX else word == term


def _has_phrase(text: str, wanted: QueryWords) -> bool:
    """Whether the text contains the query as a phrase of at least two words."""
    if not wanted.is_phrase or wanted.found_in(text) != wanted.distinct:
        return False
    words, phrase = wanted.terms_of(text), wanted.sequence
    starts = (at for at, word in enumerate(words) if word == phrase[0])
    return any(words[at : at + len(phrase)] == phrase for at in starts)


def _has_near_phrase(text: str, found: frozenset[str], wanted: QueryWords) -> bool:
    """Whether the text contains 90 % of the query words in order, with other words between."""
    enough = _NEAR * len(wanted.sequence)
    if not wanted.is_phrase or sum(word in found for word in wanted.sequence) < enough:
        return False
    return _longest_common(wanted.terms_of(text), wanted.sequence) >= enough


def _longest_common(words: Sequence[str], phrase: Sequence[str]) -> int:
    """The length of the longest common subsequence: one bit per word of the phrase, cleared when found in order."""
    places: dict[str, int] = {}
    for place, word in enumerate(phrase):
        places[word] = places.get(word, 0) | 1 << place
    everything = missing = (1 << len(phrase)) - 1
    for word in words:
        met = missing & places.get(word, 0)
        missing = (missing + met | missing - met) & everything
    return len(phrase) - missing.bit_count()
