"""The words of a query are found in the forward index by stem, in every language of the query, and counted exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from index.made_index import BARE, write_forward
from periplus.index.forward.forward_index import ForwardIndex
from periplus.search.query.terms import MOST_TERMS, QueryTerms

TEXTS = [
    "Merging commits: a commit merges two branches",
    "Ein Commit führt Zweige zusammen",
    "北京の港 と 東京の港",
    "",
]
PAGES: list[dict[str, Any]] = [
    BARE | {"text": text, "language": language} for text, language in zip(TEXTS, ("en", "de", "ja", "en"), strict=True)
]


@pytest.fixture(scope="module")
def forward(tmp_path_factory: pytest.TempPathFactory) -> ForwardIndex:
    return write_forward(Path(tmp_path_factory.mktemp("terms")), PAGES)


def counts(forward: ForwardIndex, texts: list[str], languages: list[str], **options: Any) -> dict[str, list[int]]:
    query = QueryTerms(texts, forward, languages, **options)
    found = query.hits(forward.read(np.arange(len(PAGES)), "body")).counts
    return {term.text: found[:, place].tolist() for place, term in enumerate(query.terms)}


@pytest.mark.parametrize(
    ("texts", "languages", "expected"),
    [
        (["commit"], ["en"], {"commit": [2, 1, 0, 0]}),
        (["Merge", "commits"], ["en"], {"merge": [2, 0, 0, 0], "commits": [2, 1, 0, 0]}),
        (["merge", "merging"], ["en"], {"merge": [2, 0, 0, 0]}),  # one term
        (["zweig"], ["en"], {"zweig": [0, 0, 0, 0]}),
        (["zweig"], ["en", "de"], {"zweig": [0, 1, 0, 0]}),
        (["fuhrt"], ["de"], {"fuhrt": [0, 1, 0, 0]}),  # without its accent
        (["東京の港"], ["other"], {"東京": [0, 0, 1, 0], "港": [0, 0, 2, 0]}),
        (["港"], ["other"], {"港": [0, 0, 2, 0]}),
        (["two branches"], ["en"], {"two": [1, 0, 0, 0], "branches": [1, 0, 0, 0]}),
        (["xyzzy"], ["en"], {"xyzzy": [0, 0, 0, 0]}),
        (["…"], ["en"], {}),
    ],
)
def test_terms_are_counted(
    forward: ForwardIndex, texts: list[str], languages: list[str], expected: dict[str, list[int]]
) -> None:
    found = counts(forward, texts, languages)
    assert {text: found.get(text) for text in expected} == expected
    assert len(found) >= len(expected)


def test_another_spelling_counts_as_the_word(forward: ForwardIndex) -> None:
    assert counts(forward, ["union"], ["en"], variants={"union": ["merge"]}) == {"union": [2, 0, 0, 0]}


def test_a_rare_word_weighs_more_and_an_unknown_one_nothing(forward: ForwardIndex) -> None:
    common, rare, unknown = QueryTerms(["commit", "branches", "xyzzy"], forward, ["en"]).idf
    assert rare > common > 0 == unknown


def test_hits_are_in_order_and_name_their_page(forward: ForwardIndex) -> None:
    query = QueryTerms(["commit", "merge"], forward, ["en"])
    hits = query.hits(forward.read(np.array([0, 1]), "body"))
    assert hits.at.tolist() == sorted(hits.at.tolist())
    assert hits.document.tolist() == [0, 0, 0, 0, 1]
    assert [query.terms[term].text for term in hits.term] == ["merge", "commit", "commit", "merge", "commit"]


def test_a_long_query_is_cut(forward: ForwardIndex) -> None:
    assert len(QueryTerms([f"word{number}" for number in range(200)], forward, ["en"])) == MOST_TERMS


@pytest.mark.parametrize(("texts", "bare"), [(["C++"], [True]), (["std::map"], [False, False]), (["c"], [False])])
def test_the_word_of_a_code_like_token_is_known_as_bare(
    forward: ForwardIndex, texts: list[str], bare: list[bool]
) -> None:
    assert QueryTerms(texts, forward, ["en"]).is_bare.tolist() == bare


def test_two_words_written_together_are_found_as_one(tmp_path: Path) -> None:
    forward = write_forward(tmp_path, [BARE | {"text": "nodejs"}])
    number = forward.lexicon.number("nodejs")
    assert QueryTerms(["node", "js"], forward, ["en"]).joined() == {number: (0, 1)}
