"""The score is a weighted sum, and each summand is what its name says."""

from __future__ import annotations

import math
import runpy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.config import Ranking
from periplus.index.pagestore import Head
from periplus.search.match_positions import QueryWords
from periplus.search.score import FEATURES, NEUTRAL_QUALITY, by_numbers, contributions
from periplus.text.analyzer import OTHER, language_of, terms, url_words

ONES = Ranking.model_validate(dict.fromkeys(FEATURES, 1.0))


def head(**parts: Any) -> Head:
    empty: dict[str, Any] = {
        "url": "http://a.test/",
        "host": "a.test",
        "title": "",
        "description": "",
        "opening": "",
        "mime": "text/html",
        "language": "en",
        "fetched_at": 0.0,
        "headings": (),
        "full_title": parts.get("title", ""),
    }
    return Head(**{**empty, **parts})


def features(query: str, text: float = 1.0, rank: float = 1.0, **parts: Any) -> dict[str, float]:
    page = head(**parts)
    return contributions(text, rank, NEUTRAL_QUALITY, page, QueryWords(query, language_of(page.language)), ONES)


@pytest.mark.parametrize(
    ("query", "parts", "expected"),
    [
        ("lord rings", {"title": "The Lord of the Rings"}, {"title_all": 1.0, "phrase_title": 1.0, "near_phrase": 1.0}),
        ("rings lord", {"title": "The Lord of the Rings"}, {"title_all": 1.0}),
        ("lord ring", {"title": "Lord Nelson's ring"}, {"title_all": 1.0, "near_phrase": 1.0}),
        ("lord dance", {"title": "The Lord of the Rings"}, {"title_some": 0.5}),
        ("lord", {"title": "Lords"}, {"title_all": 1.0}),
        ("deep sea fish", {"headings": ("Fish", "Of the deep")}, {"headings": pytest.approx(2 / 3)}),
        ("deep sea", {"headings": ("Fish", "The deep sea")}, {"headings": 1.0, "phrase_headings": 1.0}),
        ("deep sea", {"headings": ("The deep", "Sea")}, {"headings": 1.0}),
        ("deep sea", {"opening": "In the deep sea"}, {"phrase_opening": 1.0}),
        ("deep sea", {"opening": "Deep is the sea"}, {"phrase_opening": 1.0}),
        ("deep sea", {"opening": "The sea is deep"}, {}),
        ("sea", {"opening": "sea"}, {}),
        ("python", {"url": "http://docs.test/python3/"}, {"url": 1.0}),
        ("c", {"url": "http://docs.com/"}, {}),
        ("c", {"url": "http://docs.com/c/"}, {"url": 1.0}),
        ("café lights", {"url": "http://a.test/Caf%C3%A9"}, {"url": 0.5}),
        ("the sea", {"title": "The"}, {}),
        ("the sea", {"title": "Sea"}, {"title_all": 1.0}),
        ("the", {"title": "The"}, {"title_all": 1.0}),  # the query has no other word
        ("the sea", {"title": "The", "language": "pl"}, {"title_some": 0.5}),
        ("running", {"title": "run", "language": "pl"}, {}),
        ("", {"title": "anything", "headings": ("x",)}, {}),
    ],
)
def test_each_bonus_is_what_its_name_says(query: str, parts: dict[str, Any], expected: dict[str, float]) -> None:
    found = {name: value for name, value in features(query, text=0.0, **parts).items() if value}
    assert found == expected


def test_text_and_rank_are_logarithms() -> None:
    found = features("x", text=6.5, rank=20.0)
    assert found["text"] == pytest.approx(math.log(7.5))
    assert found["rank"] == pytest.approx(math.log(20.0))


def test_numbers_alone_give_the_same_as_all_features_of_a_page_without_words() -> None:
    weights = Ranking()
    texts, ranks = np.array([0.0, 1.5, 30.0]), np.array([1.0, 2.0, 500.0])
    qualities = np.array([0.0, 0.9, 0.5])
    scores = by_numbers(texts, ranks, qualities, weights)
    for text, rank, quality, score in zip(texts, ranks, qualities, scores, strict=True):
        parts = contributions(float(text), float(rank), float(quality), head(), QueryWords("word", "en"), weights)
        assert sum(parts.values()) == pytest.approx(score)


def test_a_weight_multiplies_its_feature_and_no_other() -> None:
    page = head(title="deep sea", headings=("deep sea",), opening="deep sea", url="http://a.test/deep-sea")
    wanted = QueryWords("deep sea", "en")
    plain = contributions(2.0, 3.0, 0.75, page, wanted, ONES)
    for name in FEATURES:
        doubled = contributions(2.0, 3.0, 0.75, page, wanted, ONES.model_copy(update={name: 2.0}))
        assert doubled == {**plain, name: 2.0 * plain[name]}


def test_every_feature_has_a_weight_of_its_name() -> None:
    assert set(FEATURES) <= set(Ranking.model_fields)
    assert list(features("x")) == list(FEATURES)


def test_a_feature_without_a_weight_fails_at_import(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = {name: field for name, field in Ranking.model_fields.items() if name not in ("url", "rank")}
    monkeypatch.setattr("periplus.config.Ranking", SimpleNamespace(model_fields=weights))
    with pytest.raises(TypeError, match=r"without a weight in .*: rank, url"):
        runpy.run_path(contributions.__code__.co_filename)


# -- the short cuts change nothing ----------------------------------------------------------------------------------


def plainly(page: Head, wanted: QueryWords) -> dict[str, float]:
    """The same bonuses, by analysing everything."""
    title = wanted.terms_of(page.title)
    headings = [wanted.terms_of(heading) for heading in page.headings]
    address = terms(OTHER, url_words(page.url))

    def share(words: list[str]) -> float:
        return len(wanted.distinct & set(words)) / len(wanted.distinct) if wanted.distinct else 0.0

    def says(words: list[str]) -> bool:
        size = len(wanted.sequence)
        return size > 1 and any(words[at : at + size] == wanted.sequence for at in range(len(words)))

    begun = [
        any(word == term or (len(term) > 2 and word.startswith(term)) for word in address) for term in wanted.distinct
    ]
    return {
        "title_all": float(share(title) == 1.0),
        "title_some": share(title) if share(title) < 1.0 else 0.0,
        "headings": share([word for heading in headings for word in heading]),
        "url": sum(begun) / len(begun) if begun else 0.0,
        "phrase_title": float(says(title)),
        "phrase_headings": float(any(map(says, headings))),
        "phrase_opening": float(says(wanted.terms_of(page.opening))),
        "near_phrase": float(len(wanted.sequence) > 1 and common(title, wanted.sequence) >= 0.9 * len(wanted.sequence)),
    }


def common(first: list[str], second: list[str]) -> int:
    """The longest common subsequence, by the book."""
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for row, one in enumerate(first):
        for column, other in enumerate(second):
            longest = max(table[row][column + 1], table[row + 1][column])
            table[row + 1][column + 1] = table[row][column] + 1 if one == other else longest
    return table[-1][-1]


words = st.sampled_from(["deep", "sea", "Sea", "seas", "the", "dying", "die", "café", "of", "fish-pond", "c", "x"])
text = st.lists(words, max_size=9).map(" ".join)


@settings(max_examples=150)
@given(
    st.lists(words, max_size=12).map(" ".join),
    text,
    st.lists(text, max_size=3).map(tuple),
    text,
    st.sampled_from(["http://a.test/", "http://sea.test/the-deep", "http://a.test/caf%C3%A9/c/dying"]),
    st.sampled_from(["en", "fr"]),
)
def test_the_short_cuts_of_ranking_change_nothing(
    query: str, title: str, headings: tuple[str, ...], opening: str, url: str, language: str
) -> None:
    page = head(title=title, headings=headings, opening=opening, url=url, language=language)
    wanted = QueryWords(query, language_of(language))
    numbers = {"text": 0.0, "rank": 0.0, "quality": 0.0}
    assert contributions(0.0, 1.0, NEUTRAL_QUALITY, page, wanted, ONES) == {**numbers, **plainly(page, wanted)}
