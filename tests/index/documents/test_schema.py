"""Every language has its own fields, and what is looked up exactly is kept exactly."""

from __future__ import annotations

import numpy as np
import pytest
from tantivy import Document, Index, Query

from periplus.index.documents.schema import (
    FULL_BARREL,
    NUMBER,
    PRIOR,
    SHORT_BARREL,
    SITE,
    URL_ID,
    URL_WORDS,
    field,
    prior_factor,
    schema,
    stored_prior,
)
from periplus.text.analyzer import LANGUAGES, register


def index_with(**values: object) -> Index:
    index = Index(schema(LANGUAGES))
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
@pytest.mark.parametrize(("language", "term"), [("en", "run"), ("de", "running"), ("other", "running")])
def test_a_field_is_analysed_in_its_language(name: str, language: str, term: str) -> None:
    index = index_with(**{field(name, language): "The Running"})
    assert found(index, field(name, language), term) == 1
    assert found(index, field(name, language), "the") == 1  # stop words are part of phrases
    for elsewhere in set(LANGUAGES) - {language}:
        assert found(index, field(name, elsewhere), term) == 0


def test_only_languages_with_pages_have_fields() -> None:
    index = Index(schema(["de"]))
    assert Query.term_query(index.schema, field("body", "de"), "haus") is not None
    with pytest.raises(ValueError, match="body_en"):
        Query.term_query(index.schema, field("body", "en"), "house")


def test_the_fields_do_not_depend_on_the_order_of_the_languages() -> None:
    assert schema(["fr", "en"]) == schema(["en", "fr"])
    assert schema(["en"]) != schema(["en", "fr"])


@pytest.mark.parametrize("rank", [0.2, 1.0, 50.0, 1e30])
def test_the_stored_prior_gives_the_factor(rank: float) -> None:
    factor = prior_factor(np.array([rank]), 0.1)[0]
    assert np.log2(2.0 + stored_prior(rank, 0.1)) == pytest.approx(factor)


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
    index = index_with(**{field(URL_WORDS, "en"): "example.org/the_running-man"})
    assert [found(index, field(URL_WORDS, "en"), word) for word in ("the", "running", "man", "run")] == [1, 1, 1, 0]


def test_numbers_and_priors_are_read_without_opening_documents() -> None:
    index = index_with(**{NUMBER: 7, PRIOR: 2.0, field("title", "en"): "word"})
    searcher = index.searcher()
    query = Query.term_query(index.schema, field("title", "en"), "word")
    ((plain, address),) = searcher.search(query, 1).hits
    ((weighted, _),) = searcher.search(query, 1, weight_by_field=PRIOR).hits
    assert searcher.fast_field_values(NUMBER, [address]) == [7]
    assert weighted == pytest.approx(2.0 * plain)  # log2(2 + 2)
