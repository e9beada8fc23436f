"""Writes the documents of one generation of the index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tantivy import Document, Index

from periplus.config import Indexing
from periplus.index.document_vectors import write_document_vectors
from periplus.index.facets import facet_values
from periplus.index.forward import ForwardIndex
from periplus.index.forward_writer import Continued, ForwardWriter
from periplus.index.kinds import Kind, page_kind
from periplus.index.media import MEDIA_STORED, MediaWriter
from periplus.index.pagestore import Details, Head, PageStoreWriter
from periplus.index.parts import part_folder
from periplus.index.phrases import FOLDER as PHRASES
from periplus.index.phrases import write_phrases
from periplus.index.schema import (
    CODE,
    FIELD_LANGUAGE,
    HOSTS,
    NUMBER,
    PRIOR,
    QUALITIES,
    RANKS,
    SITE,
    URL_ID,
    URL_WORDS,
    field,
    schema,
    stored_prior,
)
from periplus.index.update import Base, link_folder, link_tantivy, take_over_parts
from periplus.index.vectors import keep_vectors, write_vectors
from periplus.index.vocabulary import FOLDER as VOCABULARY
from periplus.index.vocabulary import write_vocabulary
from periplus.model import ArchivePosition, Image, Quality, Video
from periplus.store.arrays import write_array
from periplus.text.analyzer import language_of, register, url_words
from periplus.text.code_tokens import code_tokens
from periplus.text.unspaced import spaced
from periplus.url import url_key

_HEAP = 256 << 20  # bytes
_THREADS = 2
_OPENING = 600  # characters of the text that are stored in the head, for ranking and snippets
_TEXT = 200_000  # characters of the text that are stored for snippets
_LISTED = 20  # other URLs and categories of a page that are stored
_WORDS = 200  # characters of keywords, and of the words of an image or video


class IndexWriter:
    """Writes one generation: the tantivy index, the page store, the forward index, and arrays by document number."""

    def __init__(
        self,
        folder: Path,
        settings: Indexing,
        languages: Iterable[str],
        base: Base | None = None,
        furniture: Mapping[str, frozenset[str]] = MappingProxyType({}),  # it is frozen
    ) -> None:
        """*languages*: those of all pages, as `language_of` names them; *base*: the generation that is continued.

        *furniture*: by host, the URLs of images and videos that are not indexed.
        """
        self._folder, self._base = folder, base
        self._strength, self._vectors = settings.prior_strength, settings.vectors
        self._index = _new_index(folder / "tantivy", languages) if base is None else _linked_index(folder, base)
        register(self._index)
        self._writer = self._index.writer(_HEAP, _THREADS if base is None else 1)  # each thread writes its own segment
        self._first = base.first if base else 0
        self._forward = ForwardWriter(folder, settings.forward_words, _continued(base))
        self._pages = PageStoreWriter(part_folder(folder, self._first), self._first)
        strength = settings.prior_strength
        self._media = MediaWriter(folder, languages, strength, furniture, base) if settings.media else None
        self.media = 0  # number of images and videos in the index; known after `finish`
        self._ranks: list[float] = []
        self._qualities: list[float] = []
        self._hosts: list[int] = []
        for number in base.removed.tolist() if base else ():
            self._writer.delete_documents_by_term(NUMBER, number)

    def __enter__(self) -> IndexWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self._forward.close()
        finally:  # closing a file fails on a full disk
            self._pages.close()
        if self._media is not None:
            self._media.close()
        del self._writer  # waits for its threads, so that they do not write into a folder that is being removed

    def add(self, row: Mapping[str, Any]) -> None:
        """Add the document with the next number; *row* is one of `rows` in build.sql."""
        language = language_of(row["language"])
        assert row["number"] == self._first + len(self._ranks), "numbers are dense"
        kind = page_kind(row["url"], row["short_title"], row["mime"], row["text"])
        head = [spaced(part) for part in _head_parts(row) if part]
        self._writer.add_document(
            Document(
                **{
                    field("title", language): spaced(row["title"]),
                    field("head", language): head,
                    field("anchors", language): list(map(spaced, row["anchors"])),
                    field("body", language): spaced(row["text"]),
                    field(URL_WORDS, language): spaced(url_words(row["url"])),
                    CODE: code_tokens("\n".join((row["title"], *_head_parts(row), row["text"]))),
                    FIELD_LANGUAGE: language,
                    NUMBER: row["number"],
                    URL_ID: row["url_id"].hex(),
                    SITE: _domains(row["host"]),
                    PRIOR: stored_prior(row["rank"], self._strength),
                    **facet_values(row, kind),
                }
            )
        )
        self._pages.add(_head(row, kind), row["text"][:_TEXT], _details(row))
        self._forward.add(row)
        if self._media is not None:
            self._media.add(row, _domains(row["host"]))
        self._ranks.append(row["rank"])
        self._qualities.append(row["quality"])
        self._hosts.append(url_key(row["host"]))

    def finish(self) -> int:
        """Complete all files; returns the number of documents that were added."""
        self._writer.commit()
        self._writer.wait_merging_threads()
        self._pages.finish()
        self._forward.finish()
        if self._media is not None:
            self.media = self._media.finish()
        base, added = self._base, len(self._ranks)
        if base is not None:
            take_over_parts(base, self._folder, added)
        self._save(RANKS, np.array(self._ranks, np.float32), base.ranks if base else None)
        self._save(QUALITIES, np.array(self._qualities, np.float32), base.qualities if base else None)
        self._save(HOSTS, np.array(self._hosts, np.uint64), base.hosts if base else None)
        if self._vectors and base is None:
            write_vectors(self._folder, np.array(self._ranks, np.float32))
            write_document_vectors(self._folder)
        elif self._vectors and base is not None:
            keep_vectors(base.folder, self._folder, len(ForwardIndex(self._folder).lexicon))
            write_document_vectors(self._folder)
        self._write_words(base)
        return added

    def _write_words(self, base: Base | None) -> None:
        """Write the words and phrases for spelling and completion; an update keeps those of its base."""
        if base is not None:
            for name in (VOCABULARY, PHRASES):
                link_folder(base.folder / name, self._folder / name)
            return
        write_vocabulary(self._folder)
        write_phrases(self._folder, np.array(self._ranks, np.float32))

    def _save(self, name: str, added: NDArray[Any], before: NDArray[Any] | None) -> None:
        write_array(self._folder / name, added if before is None else np.concatenate([before, added]))


def _new_index(folder: Path, languages: Iterable[str]) -> Index:
    folder.mkdir()
    return Index(schema(languages), path=str(folder))


def _linked_index(folder: Path, base: Base) -> Index:
    link_tantivy(base.folder / "tantivy", folder / "tantivy")
    return Index.open(str(folder / "tantivy"))


def _continued(base: Base | None) -> Continued | None:
    return None if base is None else Continued(ForwardIndex(base.folder), base.is_kept, base.removed)


def _head_parts(row: Mapping[str, Any]) -> tuple[str, ...]:
    return row["description"], row["keywords"], *row["categories"], *row["headings"]


def _head(row: Mapping[str, Any], kind: Kind) -> Head:
    return Head(
        url=row["url"],
        host=row["host"],
        title=row["title"] if kind is Kind.HOME else row["short_title"],
        full_title=row["title"],
        description=row["description"],
        opening=row["text"][:_OPENING],
        mime=row["mime"],
        language=row["language"],
        kind=kind,
        fetched_at=row["fetched_at"],
        published=row["published"],
        modified=row["modified"],
        same_content=tuple(row["copies"][:_LISTED]),
        headings=tuple(row["headings"]),
    )


def _details(row: Mapping[str, Any]) -> Details:
    return Details(
        archive=ArchivePosition(row["archive"], row["offset"], row["length"]) if row["archive"] else None,
        keywords=row["keywords"][:_WORDS],
        categories=tuple(row["categories"][:_LISTED]),
        quality=_quality(row["features"]),
        link_count=row["link_count"],
        links=tuple(row["links"]),
        images=tuple(Image(*_described(image)) for image in row["images"][:MEDIA_STORED]),
        videos=tuple(Video(*_described(video)) for video in row["videos"][:MEDIA_STORED]),
    )


def _described(media: Mapping[str, str | None]) -> tuple[str, str, str]:
    """URL, words and context of an image or video; segments of earlier releases have no context."""
    return media["url"] or "", (media["words"] or "")[:_WORDS], (media["context"] or "")[:_WORDS]


def _quality(features: Mapping[str, float | None] | None) -> Quality | None:
    """The features of the quality, to four digits; None for a page that was not reparsed yet."""
    if not features or None in features.values():
        return None
    return Quality(*[round(features[name] or 0.0, 4) for name in Quality._fields])


@lru_cache(maxsize=1024)
def _domains(host: str) -> list[str]:
    """The host and every parent domain."""
    labels = host.split(".")
    return [".".join(labels[start:]) for start in range(len(labels))]
