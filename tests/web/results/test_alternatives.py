"""A search without results leads to searches that find something."""

from __future__ import annotations

from dataclasses import replace

import pytest

from periplus.web.parameters import SearchParameters
from periplus.web.results.alternatives import Alternative, alternatives
from web.engines import FakeEngine

NOTHING = FakeEngine(hits=[]).search("x")


def offered(asked: SearchParameters, found: dict[tuple[str, str], int], **about: str) -> list[Alternative]:
    results = replace(NOTHING, **about)  # type: ignore[arg-type]
    return alternatives(asked, results, lambda text, mode: found.get((text, mode), 0))


def test_only_searches_that_find_something_are_offered_with_their_counts() -> None:
    asked = SearchParameters('"new harbour" rome', lang="de")
    found = {('"new harbour" rome', "auto"): 3, ("new harbour rome", "auto"): 7}
    assert offered(asked, found) == [
        Alternative("without filters", '"new harbour" rome', "/search?q=%22new+harbour%22+rome", 3),
        Alternative("without operators and filters", "new harbour rome", "/search?q=new+harbour+rome", 7),
    ]
    assert offered(asked, {}) == []


def test_the_corrected_query_keeps_the_filters() -> None:
    asked = SearchParameters("harbuor", lang="de")
    (first,) = offered(asked, {("lang:de (harbour)", "auto"): 5}, suggestion="lang:de harbour")
    assert first == Alternative("", "harbour", "/search?q=harbour&lang=de", 5)


def test_fewer_words_and_any_word() -> None:
    asked = SearchParameters("old roman harbour", mode="and")
    found = {("old roman harbour", "auto"): 9, ("old harbour", "and"): 2, ("roman harbour", "and"): 4}
    assert [(one.query, one.label, one.pages) for one in offered(asked, found)] == [
        ("old roman harbour", "any of the words", 9),
        ("roman harbour", "", 4),
        ("old harbour", "", 2),
    ]


def test_at_most_four_searches_are_offered() -> None:
    asked = SearchParameters("a b c d e f", mode="and")
    assert len(alternatives(asked, NOTHING, lambda text, mode: 1)) == 4


@pytest.mark.parametrize("query", ["-rome", "harbour", "x" * 2_000])
def test_no_empty_query_is_tried(query: str) -> None:
    tried: list[str] = []

    def count(text: str, mode: str) -> int:
        tried.append(text)
        return len(mode) * 0

    assert alternatives(SearchParameters(query), NOTHING, count) == []
    assert "" not in tried
