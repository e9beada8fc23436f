"""Indexes a file of documents in a temporary collection, so that public test collections can be searched.

Every document is a page of a host of its own. All have the same rank, quality and date, and no links: only the words
tell them apart.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from periplus.config import Indexing
from periplus.errors import UsageError
from periplus.evaluation.judgements import lines_of
from periplus.index.documents.sites import write_sites
from periplus.index.writer import IndexWriter
from periplus.search.scoring.features import NEUTRAL_QUALITY
from periplus.store.collection import Collection, create_collection
from periplus.store.generations import INDEX_KIND, Generations
from periplus.text.analyzer import language_of
from periplus.url import url_id

_LANGUAGE = "en"  # of a document that does not state its language
_DOMAIN = "q7x"  # no word of any language, so that no query names the host of a document
_SAME_FOR_ALL: Mapping[str, Any] = {
    "description": "",
    "keywords": "",
    "categories": [],
    "headings": [],
    "anchors": [],
    "copies": [],
    "mime": "text/html",
    "fetched_at": 0.0,
    "archive": None,
    "published": None,
    "is_listed": False,
    "modified": None,
    "features": None,
    "rank": 1.0,
    "quality": NEUTRAL_QUALITY,
    "link_count": 0,
    "links": [],
    "images": [],
    "videos": [],
}


class _Document(NamedTuple):
    id: str
    title: str
    text: str
    language: str


class DocumentIndex(NamedTuple):
    """A collection made of documents."""

    collection: Collection
    ids: list[str]  # of the documents, by their number in the index


@contextmanager
def indexed_documents(path: Path, settings: Indexing) -> Iterator[DocumentIndex]:
    """The index of a file with a JSON object per line: `id`, `title`, `text`, and `language` if it is not English."""
    documents = list(_documents(path))
    if not documents:
        raise UsageError(f"{path} has no documents")
    with tempfile.TemporaryDirectory(prefix="periplus-eval-") as folder:
        collection = create_collection(Path(folder))
        _write(collection, documents, settings)
        yield DocumentIndex(collection, [document.id for document in documents])


def _documents(path: Path) -> Iterator[_Document]:
    for number, line in lines_of(path):
        try:
            found = json.loads(line)
            title, language = found.get("title") or "", found.get("language") or _LANGUAGE
            yield _Document(str(found["id"]), str(title), str(found["text"] or ""), str(language))
        except (ValueError, TypeError, AttributeError, KeyError):
            raise UsageError(f"line {number} of {path} is not an object with `id`, `title` and `text`") from None


def _write(collection: Collection, documents: list[_Document], settings: Indexing) -> None:
    languages = Counter(language_of(document.language) for document in documents)
    generations = Generations(collection.index, INDEX_KIND)
    with generations.writing() as folder:
        write_sites(folder, [])
        with IndexWriter(folder, settings, languages) as writer:
            for number, document in enumerate(documents):
                writer.add(_row(number, document))
            total = writer.finish().documents
        facts: dict[str, Any] = {"documents": total, "duplicates": 0, "ranks": 0, "languages": dict(languages)}
        generations.publish(folder, facts | {"prior_strength": settings.prior_strength}, settings.generations)


def _row(number: int, document: _Document) -> Mapping[str, Any]:
    host = f"d{number}.{_DOMAIN}"
    url = f"http://{host}/"
    place = {"number": number, "url": url, "url_id": url_id(url), "host": host}
    words = {"title": document.title, "short_title": document.title, "text": document.text}
    return {**_SAME_FOR_ALL, **place, **words, "language": document.language}
