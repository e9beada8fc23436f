"""Language, type, kind, date and host of documents are read from the index alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tantivy import FieldType, Index, Query

from index.test_writer import write
from periplus.index.documents.facets import DATE, HOST, KIND, LANGUAGE, TYPE, Facets, number_of_name, read_facets
from periplus.index.documents.kinds import Kind
from periplus.index.documents.schema import NUMBER
from periplus.url import url_key

FETCHED = 1_700_000_000.0


def facets(index: Index) -> list[Facets]:
    """The facets of all documents, in the order of their numbers."""
    searcher = index.searcher()
    addresses = [address for _, address in searcher.search(Query.all_query(), 100).hits]
    numbers = searcher.fast_field_values(NUMBER, addresses)
    return [found for _, found in sorted(zip(numbers, read_facets(searcher, addresses), strict=True))]


def matching(index: Index, query: Query) -> int:
    return len(index.searcher().search(query, 100).hits)


def test_the_facets_of_documents_are_read_together(tmp_path: Path) -> None:
    paper: dict[str, Any] = {"host": "b.test", "language": "zh-hant", "mime": "application/pdf", "published": 5.0}
    assert facets(write(tmp_path, {}, paper)) == [
        Facets("en", "html", "other", 1_600_000_000, url_key("www.example.org")),
        Facets("zh-hant", "pdf", "pdf", 5, url_key("b.test")),
    ]


def test_no_documents_have_no_facets(tmp_path: Path) -> None:
    assert read_facets(write(tmp_path, {}).searcher(), []) == []


@pytest.mark.parametrize(
    ("mime", "name"),
    [
        ("text/html", "html"),
        ("application/xhtml+xml", "html"),
        ("text/plain", "text"),
        ("application/atom+xml", "feed"),
        ("text/xml", "xml"),
        ("image/png", "other"),
        ("", "other"),
    ],
)
def test_a_mime_type_has_a_short_name(tmp_path: Path, mime: str, name: str) -> None:
    (found,) = facets(write(tmp_path, {"mime": mime}))
    assert found.type == name


@pytest.mark.parametrize(
    ("published", "modified", "date"),
    [
        (10.0, 20.0, 10),
        (None, 20.0, 20),
        (None, None, FETCHED),
        (0.0, 20.0, 0),
        (-86_400.0, None, -86_400),
        (FETCHED + 1e9, None, FETCHED),
        (None, FETCHED + 1.0, FETCHED),
    ],
)
def test_the_date_is_that_of_publication_else_of_the_change_else_of_the_fetch(
    tmp_path: Path, published: float | None, modified: float | None, date: float
) -> None:
    (found,) = facets(write(tmp_path, {"published": published, "modified": modified, "fetched_at": FETCHED}))
    assert found.date == date


@pytest.mark.parametrize("language", ["", "de", "日本"])
def test_any_language_is_a_number(tmp_path: Path, language: str) -> None:
    (found,) = facets(write(tmp_path, {"language": language}))
    assert found.language == (language if language.isascii() else "")


def test_documents_are_filtered_by_facets(tmp_path: Path) -> None:
    index = write(tmp_path, {}, {"language": "de", "mime": "application/pdf", "published": 100.0}, {"language": "de"})
    assert matching(index, Query.term_query(index.schema, LANGUAGE, number_of_name("de"))) == 2
    assert matching(index, Query.term_query(index.schema, TYPE, number_of_name("pdf"))) == 1
    assert matching(index, Query.term_query(index.schema, KIND, number_of_name("pdf"))) == 1
    assert matching(index, Query.range_query(index.schema, DATE, FieldType.Integer, upper_bound=100)) == 1


def test_documents_are_counted_by_facets(tmp_path: Path) -> None:
    index = write(tmp_path, {}, {"host": "b.test"}, {"host": "b.test"})
    found = index.searcher().aggregate(Query.all_query(), {"hosts": {"terms": {"field": HOST}}})
    assert [bucket["doc_count"] for bucket in found["hosts"]["buckets"]] == [2, 1]


def test_every_kind_is_short_enough_for_a_number() -> None:
    assert all(number_of_name(kind).to_bytes(7, "big").strip(b"\0").decode() == kind for kind in Kind)
