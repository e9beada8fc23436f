"""A query has the language of most of its words, and only stop words of that language are ignored."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from periplus.search.engine import SearchEngine
from periplus.search.query.parser import parse_query
from periplus.search.query.tree import wanted_words
from periplus.search.query_language import query_language
from search.library import Doc, library

DOCS = [
    Doc("http://en.test/", "", "A hard day, a house and a garden, computer error, war and peace", language="en"),
    Doc("http://de.test/", "", "Ein Haus und ein Garten, Rechner, Fehler", language="de"),
    Doc("http://ja.test/", "", "コンピュータ", language="ja"),
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchEngine]:
    with library(tmp_path_factory.mktemp("languages"), DOCS) as found:
        yield found


@pytest.mark.parametrize(
    ("query", "language", "ignored"),
    [
        ("the house", "en", {"the"}),
        ("das Haus", "de", {"das"}),
        ("die hard", None, set()),  # as many words of either language
        ("war and peace", "en", {"and"}),  # "war" is a stop word in German
        ("was the error", "en", {"was", "the"}),
        ("in the", "en", set()),  # nothing else
        ('the "house of"', "en", {"the"}),
        ("the, is-a house", "en", {"the,", "the", "is", "a", "is-a"}),
        ("xyzzy plugh", None, set()),
        ("the xyzzy", "en", {"the"}),
        ("コンピュータ", None, set()),
        ("house -the +of", "en", set()),
        ("site:en.test", None, set()),
    ],
)
def test_the_language_of_a_query(engine: SearchEngine, query: str, language: str | None, ignored: set[str]) -> None:
    root = parse_query(query).root
    assert root is not None
    found = query_language(wanted_words(root), engine.counts)
    first, second = sorted(found.likely, key=lambda one: -found.likely[one])[:2]
    assert language in {None, first}
    assert language is None or found.likely[first] > 1.5 * found.likely[second]
    assert found.ignored - {"of"} == ignored
