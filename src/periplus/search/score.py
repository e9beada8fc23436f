"""Why does this page come first?

The score is a plain weighted sum of named features; the weights are settings. `text` and `rank` are logarithms, so a
weight on them is a power of the text score or of PageRank, and a bonus of 0.1 is worth a tenth more text score.
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

MIDDLING = 0.5  # the quality that counts neither for nor against a page
_NEAR = 0.9  # the share of the query that must stand in order
_TOO_SHORT = 3  # letters; what begins with fewer is another word

Numbers = NDArray[np.float64]


def by_numbers(text_scores: Numbers, ranks: Numbers, qualities: Numbers, weights: Ranking) -> Numbers:
    """The part of the score that needs no words: for all candidates at once."""
    fixed = weights.rank * np.log(ranks) + weights.quality * (qualities - MIDDLING)
    return weights.text * np.log1p(text_scores) + fixed


def contributions(
    text_score: float, rank: float, quality: float, head: Head, wanted: QueryWords, weights: Ranking
) -> dict[str, float]:
    """Every feature times its weight; the score is their sum."""
    numbers = {"text": math.log1p(text_score), "rank": math.log(rank), "quality": quality - MIDDLING}
    features = numbers | _words_of(head, wanted)
    return {name: getattr(weights, name) * features[name] for name in FEATURES}


def _words_of(head: Head, wanted: QueryWords) -> dict[str, float]:
    """The bonuses: where on the page do the words of the query stand, and how?"""
    in_title = wanted.held_by(head.title)
    in_headings = wanted.held_by("\n".join(head.headings))
    share = _share(in_title, wanted)
    return {
        "title_all": float(share == 1.0),
        "title_some": share if share < 1.0 else 0.0,
        "headings": _share(in_headings, wanted),
        "url": _share_in_url(head.url, wanted),
        "phrase_title": float(share == 1.0 and _says(head.title, wanted)),
        "phrase_headings": float(in_headings == wanted.distinct and any(_says(one, wanted) for one in head.headings)),
        "phrase_opening": float(_says(head.opening, wanted)),
        "near_phrase": float(_nearly_says(head.title, in_title, wanted)),
    }


def _share(held: frozenset[str], wanted: QueryWords) -> float:
    return len(held) / len(wanted.distinct) if wanted.distinct else 0.0


def _share_in_url(url: str, wanted: QueryWords) -> float:
    """URLs are indexed without stemming, so a word of the query counts when a word of the URL starts with it."""
    text = url_words(url).lower()
    if not any(term in text for term in wanted.distinct) and text.isascii():
        return 0.0
    words = terms(OTHER, text)
    found = sum(any(_begins(word, term) for word in words) for term in wanted.distinct)
    return found / len(wanted.distinct) if wanted.distinct else 0.0


def _begins(word: str, term: str) -> bool:
    return word.startswith(term) if len(term) >= _TOO_SHORT else word == term


def _says(text: str, wanted: QueryWords) -> bool:
    """Whether the query stands in a text, word for word; one word is no phrase."""
    if not wanted.is_phrase or wanted.held_by(text) != wanted.distinct:
        return False
    words, phrase = terms(wanted.language, text), wanted.sequence
    starts = (at for at, word in enumerate(words) if word == phrase[0])
    return any(words[at : at + len(phrase)] == phrase for at in starts)


def _nearly_says(text: str, held: frozenset[str], wanted: QueryWords) -> bool:
    """Whether nearly all of the query stands in a text in order, with others between."""
    enough = _NEAR * len(wanted.sequence)
    if not wanted.is_phrase or sum(word in held for word in wanted.sequence) < enough:
        return False
    return _longest_common(terms(wanted.language, text), wanted.sequence) >= enough


def _longest_common(words: Sequence[str], phrase: Sequence[str]) -> int:
    """The length of the longest common subsequence: a bit a word of the phrase, cleared when it is found in order."""
    places: dict[str, int] = {}
    for place, word in enumerate(phrase):
        places[word] = places.get(word, 0) | 1 << place
    everything = missing = (1 << len(phrase)) - 1
    for word in words:
        met = missing & places.get(word, 0)
        missing = (missing + met | missing - met) & everything
    return len(phrase) - missing.bit_count()
