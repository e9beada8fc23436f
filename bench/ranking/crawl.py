"""Writes a synthetic web as the segments of a collection, as a crawl would."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.checksums import file_digest
from periplus.store.collection import Collection, create_collection, open_collection
from periplus.store.manifest import SealedSegment, segment_name
from periplus.store.segments.schema import LINKS, PAGES
from periplus.url import url_id
from ranking.web import SEED, Numbers, Web, web_like

_PAGES_A_SEGMENT, _PAGES_A_GROUP = 80 * 1024, 2048
_SUFFIXES = ("com", "org", "net", "de", "co.uk")


def crawled(home: Path, pages: int, edges: int) -> Collection:
    """Opens the collection of such a web; creates it first if it does not exist."""
    if not (home / "complete").exists():
        print(f"making a web of {pages:,} pages and {edges:,} links in {home}", file=sys.stderr)
        _write(create_collection(home), web_like(pages, edges))
        (home / "complete").touch()
    return open_collection(home)


def _write(collection: Collection, web: Web) -> None:
    """Writes segment by segment, so that a stopped bench can continue."""
    catalog, words = open_catalog(collection, create=True), _Words(web.host)
    done = catalog.last_segment(0)
    for number, first in enumerate(range(0, len(web.host), _PAGES_A_SEGMENT), 1):
        if number > done:
            pages = range(first, min(first + _PAGES_A_SEGMENT, len(web.host)))
            catalog.seal(0, number, _segment(collection.segments, number, web, pages, words), {})
    catalog.close()


def _segment(folder: Path, number: int, web: Web, of: range, words: _Words) -> list[SealedSegment]:
    paths = {kind: folder / segment_name(kind, 0, number) for kind in ("pages", "links")}
    with (
        parquet.ParquetWriter(paths["pages"], PAGES, compression="zstd", compression_level=1) as pages,
        parquet.ParquetWriter(paths["links"], LINKS, compression="zstd", compression_level=1) as links,
    ):
        for start in of[::_PAGES_A_GROUP]:
            part = slice(*np.searchsorted(web.source, [start, start + _PAGES_A_GROUP]))
            pages.write_table(words.pages(np.unique(web.source[part])))
            links.write_table(words.links(web.source[part], web.target[part]))
    return [_sealed(kind, path) for kind, path in paths.items()]


def _sealed(kind: str, path: Path) -> SealedSegment:
    return SealedSegment(path.name, kind, parquet.read_metadata(path).num_rows, path.stat().st_size, file_digest(path))


class _Words:
    """URLs, host names and anchor texts, by number."""

    def __init__(self, host: Numbers) -> None:
        random = np.random.default_rng(SEED)
        names = [f"www.site{n:06d}.{_SUFFIXES[n % len(_SUFFIXES)]}" for n in range(int(host[-1]) + 1)]
        urls = [f"https://{names[h]}/{n % 97:02d}/article-{n:08d}.html" for n, h in enumerate(host.tolist())]
        self._host, self._names, self._urls = host, pa.array(names), pa.array(urls)
        self._ids = pa.array([url_id(url) for url in urls], pa.binary(16))
        letters = np.array(list("aeioulmnrst"))
        said = np.array(["".join(random.choice(letters, 6)) for _ in range(4000)])
        texts = [" ".join(random.choice(said, 1 + n % 4)) for n in range(min(200_000, len(host)))]
        self._texts, self._random = pa.array([*texts, *["click here", "read more", "home"] * 2000]), random

    def pages(self, nodes: Numbers) -> pa.Table:
        ids = self._ids.take(nodes)
        known = {
            "url_id": ids,
            "url": self._urls.take(nodes),
            "host": self._names.take(self._host[nodes]),
            "fetched_at": pa.array(1e9 + nodes / 100),
            "content_id": pa.array([identity * 2 for identity in ids.to_pylist()], pa.binary(32)),
            "canonical": pa.array([""] * len(nodes)),
        }
        return pa.table([known.get(f.name, pa.nulls(len(nodes), f.type)) for f in PAGES], schema=PAGES)

    def links(self, source: Numbers, target: Numbers) -> pa.Table:
        text = (target * 3 + self._random.integers(0, 3, len(target))) % len(self._texts)
        columns = {
            "source_id": self._ids.take(source),
            "target_id": self._ids.take(target),
            "source_host": self._names.take(self._host[source]),
            "target_host": self._names.take(self._host[target]),
            "target": self._urls.take(target),
            "anchor": self._texts.take(text),
            "nofollow": pa.array(self._random.random(len(source)) < 0.01),
            "fetched_at": pa.array(1e9 + source / 100),
        }
        return pa.table([columns[name] for name in LINKS.names], schema=LINKS)
