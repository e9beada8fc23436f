"""Writes the documents of one generation of the index."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from tantivy import Document, Index

from periplus.config import Indexing
from periplus.index.arrays import save_array
from periplus.index.forward_writer import ForwardWriter
from periplus.index.pagestore import Head, PageStoreWriter
from periplus.index.schema import (
    HOSTS,
    NUMBER,
    PRIOR,
    QUALITIES,
    RANKS,
    SITE,
    URL_ID,
    URL_WORDS,
    field,
    prior_factor,
    schema,
)
from periplus.index.vectors import write_vectors
from periplus.model import ArchivePosition
from periplus.text.analyzer import language_of, register, url_words
from periplus.url import url_key

_HEAP = 256 << 20  # bytes
_THREADS = 2
_OPENING = 600  # characters of the text that are stored in the head, for ranking and snippets
_TEXT = 200_000  # characters of the text that are stored for snippets


class IndexWriter:
    """Writes one generation: the tantivy index, the page store, the forward index, and arrays by document number."""

    def __init__(self, folder: Path, settings: Indexing) -> None:
        (folder / "tantivy").mkdir()
        self._folder, self._strength, self._vectors = folder, settings.prior_strength, settings.vectors
        self._index = Index(schema(), path=str(folder / "tantivy"))
        register(self._index)
        self._writer = self._index.writer(_HEAP, _THREADS)
        self._pages = PageStoreWriter(folder)
        self._forward = ForwardWriter(folder, settings.forward_words)
        self._ranks: list[float] = []
        self._qualities: list[float] = []
        self._hosts: list[int] = []

    def __enter__(self) -> IndexWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self._forward.close()
        finally:  # closing a file fails on a full disk
            self._pages.close()
        del self._writer  # waits for its threads, so that they do not write into a folder that is being removed

    def add(self, row: Mapping[str, Any]) -> None:
        """Add the document with the next number; *row* is one of `rows` in build.sql."""
        language = language_of(row["language"])
        assert row["number"] == len(self._ranks), "numbers are dense"
        head = [part for part in (row["description"], row["keywords"], *row["categories"], *row["headings"]) if part]
        self._writer.add_document(
            Document(
                **{
                    field("title", language): row["title"],
                    field("head", language): head,
                    field("anchors", language): row["anchors"],
                    field("body", language): row["text"],
                    URL_WORDS: url_words(row["url"]),
                    NUMBER: row["number"],
                    URL_ID: row["url_id"].hex(),
                    SITE: _domains(row["host"]),
                    PRIOR: 2.0 ** float(prior_factor(np.array(row["rank"]), self._strength)) - 2.0,
                }
            )
        )
        self._pages.add(_head(row), row["text"][:_TEXT])
        self._forward.add(row)
        self._ranks.append(row["rank"])
        self._qualities.append(row["quality"])
        self._hosts.append(url_key(row["host"]))

    def finish(self) -> int:
        """Complete all files; returns the number of documents."""
        self._writer.commit()
        self._writer.wait_merging_threads()
        self._pages.finish()
        self._forward.finish()
        save_array(self._folder / RANKS, self._ranks, np.float32)
        save_array(self._folder / QUALITIES, self._qualities, np.float32)
        save_array(self._folder / HOSTS, self._hosts, np.uint64)
        if self._vectors:
            write_vectors(self._folder, np.array(self._ranks, np.float32))
        return len(self._ranks)


def _head(row: Mapping[str, Any]) -> Head:
    position = ArchivePosition(row["archive"], row["offset"], row["length"]) if row["archive"] else None
    return Head(
        url=row["url"],
        host=row["host"],
        title=row["title"],
        description=row["description"],
        headings=tuple(row["headings"]),
        opening=row["text"][:_OPENING],
        mime=row["mime"],
        language=row["language"],
        fetched_at=row["fetched_at"],
        archive=position,
        same_content=tuple(row["copies"][:20]),
    )


def _domains(host: str) -> list[str]:
    """The host and every parent domain."""
    labels = host.split(".")
    return [".".join(labels[start:]) for start in range(len(labels))]
