"""Stores what results are filtered by and counted by, as fast fields of the full-text index.

Fast fields are read for many documents at once. They are integers: a short name such as `de` or `pdf` is stored as
the number that its letters are in ASCII, so a new name needs no table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tantivy import DocAddress, SchemaBuilder, Searcher

from periplus.index.documents.kinds import Kind
from periplus.url import url_key

LANGUAGE = "language"
TYPE = "type"  # html, pdf, text, feed, xml or other
KIND = "kind"  # one of `kinds.Kind`
DATE = "date"  # seconds since the epoch: published, else modified, else fetched
HOST = "host"  # the hash of the host, signed
NEWS = "news"  # 1 for pages with a publication date

_DAY = 86_400.0  # seconds
_NEVER_NEWS = frozenset({Kind.HOME, Kind.INDEX, Kind.PDF, Kind.SOURCE})
_NAME_BYTES = 7  # of a name in an integer with a sign
_TYPES = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "text/plain": "text",
    "application/rss+xml": "feed",
    "application/atom+xml": "feed",
    "application/rdf+xml": "feed",
    "application/feed+json": "feed",
    "application/xml": "xml",
    "text/xml": "xml",
}


class Facets(NamedTuple):
    """What one document is filtered by and counted by."""

    language: str
    type: str
    kind: str
    date: int  # seconds since the epoch
    host: int  # the hash of the host, as in `hosts.npy`


def add_facets(builder: SchemaBuilder) -> None:
    """Add the fast fields to a schema."""
    for name in (LANGUAGE, TYPE, KIND):
        builder.add_integer_field(name, indexed=True, fast=True)
    for name in (DATE, HOST):
        builder.add_integer_field(name, fast=True)
    builder.add_integer_field(NEWS, indexed=True)


def facet_values(row: Mapping[str, Any], kind: str) -> dict[str, int]:
    """The values of the fast fields of a document; *row* is one of `rows` in plan.sql."""
    return {
        LANGUAGE: number_of_name(row["language"]),
        TYPE: number_of_name(_TYPES.get(row["mime"], "other")),
        KIND: number_of_name(kind),
        DATE: _date(row),
        HOST: url_key(row["host"]) - (1 << 63),
        **({NEWS: 1} if is_news(row, kind) else {}),
    }


def is_news(row: Mapping[str, Any], kind: str) -> bool:
    """Whether a page was published on a known day.

    A feed lists it, or it states its date. A date more than a day after the fetch is wrong. The first date on a home
    page or a list is that of another page, and the date of a PDF is that of the file.
    """
    published = row["published"]
    if published is None or published > row["fetched_at"] + _DAY:
        return False
    return row["is_listed"] or kind not in _NEVER_NEWS


def read_facets(searcher: Searcher, addresses: Sequence[DocAddress]) -> list[Facets]:
    """The facets of the documents at these addresses."""
    columns = [searcher.fast_field_values(name, list(addresses)) for name in (LANGUAGE, TYPE, KIND, DATE, HOST)]
    return [
        Facets(name_of_number(language), name_of_number(kind_of_file), name_of_number(kind), date, host + (1 << 63))
        for language, kind_of_file, kind, date, host in zip(*columns, strict=True)
    ]


def number_of_name(name: str) -> int:
    """The number of a short name, for a term query; only the first seven letters count."""
    return int.from_bytes(name.encode("ascii", "ignore")[:_NAME_BYTES], "big")


def name_of_number(number: int) -> str:
    """The short name that a number stands for."""
    return number.to_bytes(_NAME_BYTES, "big").lstrip(b"\0").decode("ascii")


def _date(row: Mapping[str, Any]) -> int:
    """The date of a page; a date after the fetch is wrong and counts as that of the fetch."""
    stated = row["published"] if row["published"] is not None else row["modified"]
    return int(row["fetched_at"] if stated is None else min(stated, row["fetched_at"]))
