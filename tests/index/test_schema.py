"""Every language has its own fields, and what is looked up exactly is kept exactly."""

from __future__ import annotations

import pytest
from tantivy import Document, Index, Query

from periplus.index.schema import FULL_BARREL, NUMBER, PRIOR, SHORT_BARREL, SITE, URL_ID, URL_WORDS, field, schema
from periplus.text.analyzer import LANGUAGES, register


def index_with(**values: object) -> Index:
    index = Index(schema())
    register(index)
    writer = index.writer(15_000_000, 1)
    writer.add_document(Document(**{NUMBER: 0, PRIOR: 0.0, **values}))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index


def found(index: Index, name: str, value: object) -> int:
    return len(index.searcher().search(Query.term_query(index.schema, name, value), 5).hits)


def test_the_short_barrel_is_the_beginning_of_the_full_one() -> None:
    assert FULL_BARREL[: len(SHORT_BARREL)] == SHORT_BARREL
    assert FULL_BARREL == ("title", "head", "anchors", "body")


@pytest.mark.parametrize("name", FULL_BARREL)
@pytest.mark.parametrize(("language", "term"), [("en", "run"), ("other", "running")])
def test_a_field_is_analysed_in_its_language(name: str, language: str, term: str) -> None:
    index = index_with(**{field(name, language): "The Running"})
    assert found(index, field(name, language), term) == 1
    assert found(index, field(name, language), "the") == (language == "other")
    for elsewhere in set(LANGUAGES) - {language}:
        assert found(index, field(name, elsewhere), term) == 0


def test_identities_and_hosts_are_kept_as_they_are() -> None:
    index = index_with(**{URL_ID: "00ff", SITE: ["www.example.org", "example.org", "org"]})
    assert found(index, URL_ID, "00ff") == 1
    assert [found(index, SITE, host) for host in ("www.example.org", "example.org", "org", "example", "www")] == [
        1,
        1,
        1,
        0,
        0,
    ]


def test_the_words_of_a_url_are_not_stemmed() -> None:
    index = index_with(**{URL_WORDS: "example.org/the_running-man"})
    assert [found(index, URL_WORDS, word) for word in ("the", "running", "man", "run")] == [1, 1, 1, 0]


def test_numbers_and_priors_are_read_without_opening_documents() -> None:
    index = index_with(**{NUMBER: 7, PRIOR: 2.0, field("title", "en"): "word"})
    searcher = index.searcher()
    query = Query.term_query(index.schema, field("title", "en"), "word")
    ((plain, address),) = searcher.search(query, 1).hits
    ((weighted, _),) = searcher.search(query, 1, weight_by_field=PRIOR).hits
    assert searcher.fast_field_values(NUMBER, [address]) == [7]
    assert weighted == pytest.approx(2.0 * plain)  # log2(2 + 2)
