"""Writes documents: full-text index, page store, arrays, images and videos."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tantivy import Document, Index

from periplus.config import Indexing
from periplus.index.documents.facets import facet_values
from periplus.index.documents.kinds import Kind, page_kind
from periplus.index.documents.media import MEDIA_STORED, MediaWriter
from periplus.index.documents.schema import (
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
from periplus.index.storage.pagestore import Details, Head, PageStoreWriter
from periplus.index.storage.parts import part_folder
from periplus.index.update import Base, link_tantivy
from periplus.model import ArchivePosition, Image, Quality, Video
from periplus.store.arrays import write_array
from periplus.text.analyzer import language_of, register, url_words
from periplus.text.code_tokens import code_tokens
from periplus.text.unspaced import spaced
from periplus.url import url_key

_HEAP = 256 << 20  # bytes
_PARTITION_HEAP = 128 << 20  # bytes; as much as a thread has of the other
_LEAST_HEAP = 16 << 20  # bytes, of a shard
_THREADS = 2
_OPENING = 600  # characters of the text that are stored in the head, for ranking and snippets
_TEXT = 200_000  # characters of the text that are stored for snippets
_LISTED = 20  # other URLs and categories of a page that are stored
_WORDS = 200  # characters of keywords, and of the words of an image or video


class Figures(NamedTuple):
    """The numbers of documents that are stored in arrays, in the order of the documents."""

    ranks: NDArray[Any]
    qualities: NDArray[Any]
    hosts: NDArray[Any]  # hashes


class DocumentWriter:
    """Writes documents of a generation, a shard or a partition: full-text index, page store, arrays, media."""

    def __init__(
        self,
        folder: Path,
        settings: Indexing,
        languages: Iterable[str],
        base: Base | None = None,
        furniture: Mapping[str, frozenset[str]] = MappingProxyType({}),  # it is frozen
        *,
        partition: int | None = None,
        shards: int = 1,
    ) -> None:
        """*base*: the generation that is continued; *partition*: write no generation, but the documents from a number.

        The page store of a partition is in *folder* itself. *shards*: number of writers that share the memory.
        """
        self._folder, self._strength = folder, settings.prior_strength
        self._index = _new_index(folder / "tantivy", languages) if base is None else _linked_index(folder, base)
        register(self._index)
        is_whole = base is None and partition is None and shards == 1
        heap = max((_HEAP if partition is None else _PARTITION_HEAP) // shards, _LEAST_HEAP)
        self._writer = self._index.writer(heap, _THREADS if is_whole else 1)  # each thread writes its own segment
        self._first = partition or (base.first if base else 0)
        part = part_folder(folder, self._first) if partition is None else folder
        part.mkdir(parents=True, exist_ok=True)
        self._pages = PageStoreWriter(part, self._first)
        strength = settings.prior_strength
        self._media = MediaWriter(folder, languages, strength, furniture, base) if settings.media else None
        self.media = 0  # number of images and videos in the index; known after `finish`
        self.ranks: list[float] = []
        self._qualities: list[float] = []
        self._hosts: list[int] = []
        for number in base.removed.tolist() if base else ():
            self._writer.delete_documents_by_term(NUMBER, number)

    @property
    def next_number(self) -> int:
        """The number of the next document."""
        return self._first + len(self.ranks)

    def close(self) -> None:
        """Close the files; waits for the threads, so that they do not write into a folder that is being removed."""
        try:
            self._pages.close()
        finally:  # closing a file fails on a full disk
            if self._media is not None:
                self._media.close()
            del self._writer

    def add(self, row: Mapping[str, Any]) -> None:
        """Add the document with the next number; *row* is one of `rows` in plan.sql."""
        language = language_of(row["language"])
        assert row["number"] == self.next_number, "numbers are dense"
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
        if self._media is not None:
            self._media.add(row, _domains(row["host"]))
        self.ranks.append(row["rank"])
        self._qualities.append(row["quality"])
        self._hosts.append(url_key(row["host"]))

    def finish(self) -> None:
        """Complete the full-text index, the page store, the images and the videos."""
        self._writer.commit()
        self._writer.wait_merging_threads()
        self._pages.finish()
        if self._media is not None:
            self.media = self._media.finish()

    @property
    def figures(self) -> Figures:
        """Rank, quality and host of every document."""
        ranks, qualities = np.array(self.ranks, np.float32), np.array(self._qualities, np.float32)
        return Figures(ranks, qualities, np.array(self._hosts, np.uint64))


def save_figures(folder: Path, figures: Figures, base: Base | None = None) -> None:
    """Write the arrays of documents; those of the base come first."""
    before = (base.ranks, base.qualities, base.hosts) if base is not None else (None, None, None)
    for name, added, earlier in zip((RANKS, QUALITIES, HOSTS), figures, before, strict=True):
        write_array(folder / name, added if earlier is None else np.concatenate([earlier, added]))


def _new_index(folder: Path, languages: Iterable[str]) -> Index:
    folder.mkdir()
    return Index(schema(languages), path=str(folder))


def _linked_index(folder: Path, base: Base) -> Index:
    link_tantivy(base.folder / "tantivy", folder / "tantivy")
    return Index.open(str(folder / "tantivy"))


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
