"""Query words are found exactly where an analysis of the whole text finds them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from periplus.search.match_positions import QueryWords
from periplus.text.analyzer import LANGUAGES, content_terms, terms

WORDS = ["run", "Running", "runner", "cry", "cries", "die", "dying", "happy", "happily", "the", "a", "C", "x1", "café"]
ODD = [
    "foo_run",
    "rerun",
    "run-time",
    "Über",
    "uber",
    "ßtraße",
    "RUN",
    "it's",
    "naïve",
    "naive",
    "2024",
    "Häuser",
    "Haus",
    "книгами",
    "книга",
]
language = st.sampled_from(LANGUAGES)
query = st.lists(st.sampled_from(WORDS + ODD), max_size=4).map(" ".join)
text = st.lists(st.sampled_from([*WORDS, *ODD, ".", "\n", "(", "_"]), max_size=30).map(" ".join)


def analysis(query: str, language: str) -> Callable[[str, str], list[str]]:
    """How a text is analysed for a query: stop words count only when the query has no other word."""
    return content_terms if content_terms(language, query) else terms


@settings(max_examples=200)
@given(query, text, language)
@example("", "a text", "en")
@example("die", "she was dying", "en")
def test_found_words_are_those_of_the_analyzer(query: str, page: str, language: str) -> None:
    wanted = QueryWords(query, language)
    assert wanted.found_in(page) == wanted.distinct & set(analysis(query, language)(language, page))


@settings(max_examples=200)
@given(query, text, language)
@example("über", "ÜBER uber", "en")
def test_matches_are_whole_words_and_all_of_them(query: str, page: str, language: str) -> None:
    wanted = QueryWords(query, language)
    words = [(found.start(), found.end()) for found in re.finditer(r"[^\W_]+", page)]
    expected = [
        (start, end, term)
        for start, end in words
        for term in analysis(query, language)(language, page[start:end])
        if term in wanted.distinct
    ]
    assert [tuple(match) for match in wanted.matches(page)] == expected


@given(st.text(max_size=40), st.text(st.characters(exclude_categories=["Cs"]), max_size=200), language)
def test_any_text_can_be_searched_for_matches(query: str, page: str, language: str) -> None:
    query = query.encode("utf-8", "replace").decode()
    wanted = QueryWords(query, language)
    assert wanted.found_in(page) == wanted.distinct & set(analysis(query, language)(language, page))
    for start, end, term in wanted.matches(page):
        assert term in [*terms(language, page[start:end]), page[start:end]]


@pytest.mark.parametrize(
    ("query", "page", "marked"),
    [
        ("東京", "大東京市と京都", ["東京"]),
        ("ファイルの削除方法", "ファイルを削除する方法。除草", ["ファイル", "削除", "方法"]),
        ("C言語", "C言語とc", ["C", "言語", "c"]),
        ("한국어", "한국어는 한국", ["한국", "한국"]),
        ("ไทย", "ภาษาไทย", ["ไทย"]),
        ("run 東京", "東京run Running", ["東京", "run", "Running"]),
        ("مدرسة", "إلى المدرسة", ["المدرسة"]),
        ("புத்தகம்", "புத்தகங்கள் நல்ல", ["புத்தகங்கள்"]),
    ],
)
def test_words_are_marked_in_every_script(query: str, page: str, marked: list[str]) -> None:
    language = {"م": "ar", "ப": "ta", "r": "en"}.get(query[0], "other")
    assert [page[match.start : match.end] for match in QueryWords(query, language).matches(page)] == marked


def test_stop_words_count_only_when_the_query_has_no_other() -> None:
    assert QueryWords("the cat", "en").sequence == ["cat"]
    assert QueryWords("to be or not to be", "en").sequence == ["to", "be", "or", "not", "to", "be"]


@pytest.mark.parametrize(("query", "is_phrase"), [("", False), ("one", False), ("the one", False), ("one two", True)])
def test_one_word_is_no_phrase(query: str, is_phrase: bool) -> None:
    assert QueryWords(query, "en").is_phrase is is_phrase


def test_repeats_count_in_the_sequence_only() -> None:
    wanted = QueryWords("Running runs fast", "en")
    assert wanted.sequence == ["run", "run", "fast"]
    assert wanted.distinct == {"run", "fast"}
