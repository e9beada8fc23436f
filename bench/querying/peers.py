"""Searches the same pages with tantivy alone and with SQLite: any word in title or text, the best ten titles."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import tee
from pathlib import Path
from typing import NamedTuple, Protocol

from tantivy import Document, Index, SchemaBuilder

from periplus.text.analyzer import is_stop_word
from periplus.text.words import split
from querying import lucene

BEST = 10
_HEAP = 256 << 20  # bytes


class Page(NamedTuple):
    """What the peers index of a page."""

    title: str
    text: str


class Peer(Protocol):
    """A search engine to compare with."""

    def search(self, words: Sequence[str]) -> list[str]:
        """The titles of the best pages with any of the words."""


def words_of(query: str) -> list[str]:
    """The words that a peer searches; without stop words, as our search."""
    words = list(dict.fromkeys(split(query)))
    return [word for word in words if not is_stop_word("en", word)] or words


def build(folder: Path, pages: Iterable[Page]) -> None:
    """Write the index of every peer, and the file from which Lucene writes its own."""
    first, second, third = tee(pages, 3)
    for _ in zip(_to_tantivy(folder, first), _to_sqlite(folder, second), lucene.saved(folder, third), strict=True):
        pass  # one page after the other: the texts of all pages would need too much memory


def _to_tantivy(folder: Path, pages: Iterable[Page]) -> Iterator[None]:
    (folder / "tantivy").mkdir()
    builder = SchemaBuilder().add_text_field("title", stored=True, tokenizer_name="en_stem")
    schema = builder.add_text_field("text", tokenizer_name="en_stem").build()
    writer = Index(schema, path=str(folder / "tantivy")).writer(_HEAP, 1)
    for page in pages:
        writer.add_document(Document(title=page.title, text=page.text))
        yield
    writer.commit()
    writer.wait_merging_threads()


def _to_sqlite(folder: Path, pages: Iterable[Page]) -> Iterator[None]:
    with sqlite3.connect(folder / "pages.sqlite") as database:
        database.execute("CREATE TABLE titles (number INTEGER PRIMARY KEY, title TEXT)")
        tokenizer = "tokenize = 'porter unicode61'"
        database.execute(f"CREATE VIRTUAL TABLE pages USING fts5 (title, text, content = '', {tokenizer})")
        for number, page in enumerate(pages):
            database.execute("INSERT INTO titles VALUES (?, ?)", (number, page.title))
            database.execute("INSERT INTO pages (rowid, title, text) VALUES (?, ?, ?)", (number, *page))
            yield
        database.execute("INSERT INTO pages (pages) VALUES ('optimize')")
    database.close()


class RawTantivy:
    """tantivy without our ranking, snippets and count of matches."""

    def __init__(self, folder: Path) -> None:
        self._index = Index.open(str(folder / "tantivy"))
        self._searcher = self._index.searcher()

    def search(self, words: Sequence[str]) -> list[str]:
        """The titles of the best pages with any of the words."""
        query = self._index.parse_query(" ".join(words), ["title", "text"])
        found = self._searcher.search(query, BEST, count=False).hits
        return [self._searcher.doc(address)["title"][0] for _, address in found]


class Sqlite:
    """SQLite's FTS5 with its BM25."""

    def __init__(self, folder: Path) -> None:
        self._database = sqlite3.connect(folder / "pages.sqlite")

    def search(self, words: Sequence[str]) -> list[str]:
        """The titles of the best pages with any of the words."""
        best = "SELECT rowid FROM pages WHERE pages MATCH ? ORDER BY rank LIMIT ?"
        query = " OR ".join(f'"{word}"' for word in words)
        rows = self._database.execute(f"SELECT title FROM titles WHERE number IN ({best})", (query, BEST))
        return [title for (title,) in rows]
