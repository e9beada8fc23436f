"""A collection with all that an index has: several languages, hosts, segments, links, images, duplicates and ranks."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from index.content import urls_of
from periplus.model import Image, Link, Quality, Video
from periplus.search.engine import SearchEngine
from periplus.store.collection import Collection
from search.library import Doc, give_ranks, opened, shelve
from testweb import prose

_LANGUAGES = ("en", "de", "fr", "en", "ja")
_SHARED = {
    "de": "der Hafen und die Laterne",
    "fr": "le phare et la lanterne",
    "ja": "港と灯台",
    "en": "the harbour light",
}
_QUALITY = Quality(0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5)
QUERIES = 200


def make_collection(home: Path, pages: int = 240, segments: int = 3) -> Collection:
    """Write the pages into segments, and publish ranks and anchor texts."""
    docs = [_doc(number) for number in range(pages)]
    for number in range(segments):
        collection = shelve(home, docs[number::segments], reparsed=True)
    ranks = {doc.url: 1.0 + (number * 7 % 40) for number, doc in enumerate(docs)}
    anchors = {doc.url: [f"about {prose.title(doc.url)}", "read more"] for doc in docs[::3]}
    give_ranks(collection, ranks, anchors)
    return collection


def make_archive(home: Path, pages: int, segments: int = 3) -> Collection:
    """Write the same pages as HTML, as a crawl leaves them: not parsed closely, and without ranks."""
    docs = [_doc(number) for number in range(pages)]
    crawled = [replace(doc, body=_html(docs[7] if doc.body else doc)) for doc in docs]
    for number in range(segments):
        collection = shelve(home, crawled[number::segments])
    return collection


def _html(doc: Doc) -> bytes:
    links = "".join(f'<li><a href="{link.target}">{link.anchor}</a></li>' for link in doc.links)
    images = "".join(f'<img src="{image.url}" alt="{image.words}">' for image in doc.images)
    headings = "".join(f"<h2>{heading}</h2>" for heading in doc.headings)
    lines = "".join(f"<p>{line}</p>" for line in doc.text.splitlines())
    head = f'<title>{doc.title}</title><meta name="description" content="{doc.description}">'
    body = f"<main>{headings}{lines}{images}</main><ul>{links}</ul>"
    return f'<!doctype html><html lang="{doc.language}"><head>{head}</head><body>{body}</body></html>'.encode()


def _doc(number: int) -> Doc:
    host, language = f"h{number % 4}.test", _LANGUAGES[number % len(_LANGUAGES)]
    url = f"http://{host}/{number}"
    text = f"Menu of {host}\n{_SHARED[language]} {number % 17} compass\n{prose.text(url)}\nImprint"
    image = Image(f"http://{host}/images/harbour-{number}.png", prose.title(url), "a picture")
    logo = Image(f"http://{host}/logo.png", "logo", "")
    return Doc(
        url,
        f"{prose.title(url)} - Site {number % 4}",
        text,
        description=prose.title(f"{url}?"),
        headings=(prose.title(f"{url}#1"), "See also"),
        language=language,
        body=b"the same content" if number % 60 == 7 else None,
        links=tuple(Link(f"http://{host}/{other}", f"page {other}", False) for other in range(number, number + 12)),
        quality=_QUALITY,
        images=(image, logo),
        videos=(Video(f"http://{host}/{number}.mp4", "a harbour film", ""),) if number % 5 == 0 else (),
    )


def files_of(generation: Path) -> dict[str, bytes]:
    """The files that do not depend on the segments of tantivy."""
    paths = {str(path.relative_to(generation)): path for path in generation.rglob("*") if path.is_file()}
    skipped = {"tantivy", "media", "meta.json", "near.parquet", "documents.parquet"}
    return {name: path.read_bytes() for name, path in paths.items() if skipped.isdisjoint(Path(name).parts)}


def queries(generation: Path) -> list[str]:
    """Words and phrases of the pages."""
    urls = urls_of(generation)
    words = [prose.text(url).split()[number % 30] for number, url in enumerate(urls)]
    made = [*(prose.title(url) for url in urls[::3]), *map(" ".join, pairwise(words)), *words]
    return ["harbour", "compass site:h1.test", '"harbour light"', "lanterne lang:fr", *islice(made, QUERIES - 4)]


def result_lists(collection: Collection, asked: list[str], **flags: Any) -> list[list[tuple[str, float, str]]]:
    """URL, score and snippet of every result, of the live generation; *flags*: settings of the search."""
    with opened(collection, **flags) as engine:
        return [_results(engine, query) for query in asked]


def _results(engine: SearchEngine, query: str) -> list[tuple[str, float, str]]:
    return [(hit.url, round(hit.score, 4), hit.snippet) for hit in engine.search(query).hits]
