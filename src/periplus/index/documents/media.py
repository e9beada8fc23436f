"""Indexes the images and videos of pages in a tantivy index of their own: one document for each that a page shows.

A document has the fields of a page document, so that the query language works on it unchanged. `head` has the
alternative text or title, `anchors` the caption or the text around, `title` the title of the page, and `url_words` the
words of the file name. Site, language, type, date and prior are those of the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tantivy import Document, Index, Schema, SchemaBuilder

from periplus.index.documents.facets import KIND, add_facets, facet_values, number_of_name
from periplus.index.documents.schema import (
    CODE,
    FIELD_LANGUAGE,
    NUMBER,
    PRIOR,
    SHORT_BARREL,
    SITE,
    URL_WORDS,
    field,
    stored_prior,
)
from periplus.index.storage.records import read_records, write_records
from periplus.index.update import Base, link_tantivy
from periplus.text.analyzer import CODE_ANALYZER, LANGUAGES, OTHER, analyzer_name, language_of, register
from periplus.text.code_tokens import code_tokens
from periplus.text.file_names import file_name_words, without_language
from periplus.text.unspaced import spaced
from periplus.url import url_key

FOLDER = "media"
MEDIA_STORED = 32  # images, and videos, of a page that are stored and indexed
COLUMNS = {"image": "images", "video": "videos"}  # of a segment, by kind
PLACE = "place"  # the position among the images or videos of the page
KEY = "key"  # a hash of the URL, signed: an image that several pages show, or translations of a page, is found once
MOST_PAGES = 5  # pages of a host that may show the same image; more of them show furniture
LARGEST_SHARE = 0.1  # of the pages of a host, likewise
_HEAP = 64 << 20  # bytes
_FURNITURE = "furniture"  # files: the hosts that were compared, and the URLs that they repeat


def media_schema(languages: Iterable[str]) -> Schema:
    """The schema of an index of images and videos on pages in these languages."""
    present, builder = set(languages), SchemaBuilder()
    for language in filter(present.__contains__, LANGUAGES):
        for name in SHORT_BARREL:
            builder.add_text_field(field(name, language), tokenizer_name=analyzer_name(language))
        builder.add_text_field(field(URL_WORDS, language), tokenizer_name=analyzer_name(OTHER))
    builder.add_text_field(CODE, tokenizer_name=CODE_ANALYZER, index_option="basic")
    for name in (FIELD_LANGUAGE, SITE):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_integer_field(NUMBER, indexed=True, fast=True)
    for name in (PLACE, KEY):
        builder.add_integer_field(name, fast=True)
    builder.add_float_field(PRIOR, fast=True)
    add_facets(builder)
    return builder.build()


class MediaWriter:
    """Writes the images and videos of the pages of one generation."""

    def __init__(
        self,
        folder: Path,
        languages: Iterable[str],
        prior_strength: float,
        furniture: Mapping[str, frozenset[str]],
        base: Base | None = None,
    ) -> None:
        """*folder*: of the generation; *furniture*: by host, the URLs to leave out; *base*: continued by an update."""
        path = folder / FOLDER
        if base is None:
            path.mkdir()
            self._index = Index(media_schema(languages), path=str(path))
        else:
            link_tantivy(base.folder / FOLDER, path)
            self._index = Index.open(str(path))
        register(self._index)
        self._strength, self._furniture = prior_strength, furniture
        self._writer = self._index.writer(_HEAP, 1)
        for number in base.removed.tolist() if base else ():
            self._writer.delete_documents_by_term(NUMBER, number)

    def add(self, row: Mapping[str, Any], domains: list[str]) -> None:
        """Add the images and videos of a page; *row* is one of `rows` in plan.sql, *domains* those of its host."""
        shown = list(_shown(row, self._furniture.get(row["host"], frozenset())))
        if not shown:
            return
        language, title = language_of(row["language"]), spaced(row["short_title"])
        of_page = {
            field("title", language): title,
            FIELD_LANGUAGE: language,
            NUMBER: row["number"],
            SITE: domains,
            PRIOR: stored_prior(row["rank"], self._strength),
            **facet_values(row, ""),
        }
        for kind, place, media in shown:
            words, context = media["words"], media["context"] or ""
            self._writer.add_document(
                Document(
                    **{
                        **of_page,
                        field("head", language): spaced(words),
                        field("anchors", language): spaced(context),
                        field(URL_WORDS, language): spaced(file_name_words(media["url"])),
                        CODE: code_tokens("\n".join((words, context, row["short_title"]))),
                        KIND: number_of_name(kind),
                        PLACE: place,
                        KEY: url_key(without_language(media["url"])) - (1 << 63),
                    }
                )
            )

    def finish(self) -> int:
        """Complete the index; returns the number of its documents, with those of the base."""
        self._writer.commit()
        self._writer.wait_merging_threads()
        self._index.reload()
        return int(self._index.searcher().num_docs)

    def close(self) -> None:
        """Wait for the threads, so that they do not write into a folder that is being removed."""
        del self._writer


def _shown(row: Mapping[str, Any], furniture: frozenset[str]) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """The kind and position of every image and video of a page that its site does not repeat."""
    for kind, column in COLUMNS.items():
        for place, media in enumerate(row[column][:MEDIA_STORED]):
            if media["url"] not in furniture:
                yield kind, place, media


def write_furniture(folder: Path, furniture: Mapping[str, frozenset[str]]) -> None:
    """Write what every compared host repeats into the folder of a generation."""
    rows = ((host, sorted(urls)) for host, urls in furniture.items())
    write_records(folder / _FURNITURE, ("host", "urls"), rows)


def read_furniture(folder: Path) -> dict[str, frozenset[str]]:
    """The compared hosts of a generation, with the URLs of the images and videos that each repeats."""
    return {host: frozenset(urls) for host, urls in read_records(folder / _FURNITURE, {"host": "", "urls": ()})}
