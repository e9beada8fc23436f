"""Builds small collections for search tests, without a crawl.

Pages go straight into an archive, the catalog and a segment, in the order a crawl would write them, so that `verify`
finds nothing wrong with the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from periplus.config import Indexing, Settings, load
from periplus.graph.rank_writer import writing_ranks
from periplus.index.build import IndexSummary, build_index
from periplus.index.planning.lineage import Continuation
from periplus.model import (
    Decision,
    Fetch,
    Hit,
    Image,
    Link,
    ListedPage,
    Page,
    Quality,
    QueuedUrl,
    Reason,
    Response,
    Results,
    UrlState,
    Verdict,
    Video,
)
from periplus.search.engine import SearchEngine
from periplus.store.archive.warc_files import ArchiveWriter, archive_name
from periplus.store.catalog.batch import Batch, Settled, Written
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection, create_collection
from periplus.store.manifest import PageRow
from periplus.store.ranks import Figures
from periplus.store.segments.segment_writer import SegmentWriter
from periplus.url import host_of, url_id

_WORKER = 0
_NO_QUALITY = Quality()


@dataclass(frozen=True)
class Doc:
    """A page as a test describes it."""

    url: str
    title: str = ""
    text: str = ""
    description: str = ""
    keywords: str = ""
    headings: tuple[str, ...] = ()
    language: str = "en"
    at: float = 1_700_000_000.0
    body: bytes | None = None  # what was fetched; pages with equal bodies are duplicates
    mime: str = "text/html"
    noindex: bool = False
    links: tuple[Link, ...] = ()
    signature: int = 0  # needs `shelve(..., reparsed=True)`, as do the quality and the dates
    quality: Quality = _NO_QUALITY
    published: float | None = None
    modified: float | None = None
    listed: tuple[ListedPage, ...] = ()  # by a feed; needs `reparsed`, too
    images: tuple[Image, ...] = ()
    videos: tuple[Video, ...] = ()

    @property
    def payload(self) -> bytes:
        return self.url.encode() + repr((self.title, self.text, self.at)).encode() if self.body is None else self.body

    @property
    def page(self) -> Page:
        return Page(
            title=self.title,
            description=self.description,
            keywords=self.keywords,
            headings=self.headings,
            text=self.text,
            language=self.language,
            noindex=self.noindex,
            links=self.links,
            published=self.published,
            modified=self.modified,
            signature=self.signature,
            quality=self.quality,
            listed=self.listed,
            images=self.images,
            videos=self.videos,
        )


def shelve(home: Path, docs: Iterable[Doc], *, reparsed: bool = False) -> Collection:
    """Add pages to the collection in *home*, as one segment; it is made if there is none."""
    collection = create_collection(home)
    catalog = open_catalog(collection, create=True)
    try:
        number = catalog.last_segment(_WORKER) + 1
        archive = ArchiveWriter(collection.archive, archive_name(_WORKER, number), 0)
        segment = SegmentWriter(collection.segments, _WORKER, number, int(reparsed))
        settled = []
        for doc in docs:
            fetch = _fetched(doc, archive)
            settled.append(_settled(fetch))
            segment.add(PageRow(fetch, doc.page))
        archive.sync(archive.cut())
        archive.close()
        new = [entry.item for entry in settled if catalog.url(entry.item.url) is None]
        run_id = catalog.begin_run({})
        archive_id = catalog.commit(
            Batch(settled=settled, admitted=new), Written(_WORKER, archive.name, archive.size), run_id, {}
        )
        catalog.seal(_WORKER, number, segment.seal(), {archive_id: archive.size})
        catalog.end_run(run_id, "done", {})
    finally:
        catalog.close()
    return collection


def _fetched(doc: Doc, archive: ArchiveWriter) -> Fetch:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {doc.mime}; charset=utf-8\r\n".encode()
    headers = {"content-type": f"{doc.mime}; charset=utf-8"}
    response = Response(doc.url, doc.at, 200, head, headers, doc.payload, request=b"GET / HTTP/1.1\r\n\r\n")
    kept = archive.append(response)
    decision = Decision(Verdict.FETCHED, Reason.OK)
    return Fetch(doc.url, doc.at, 200, decision, doc.mime, len(doc.payload), kept.content_id, kept.position)


def _settled(fetch: Fetch) -> Settled:
    item = QueuedUrl(fetch.url, host_of(fetch.url), 0, 0.0, Reason.SEED)
    return Settled(item, UrlState.DONE, fetch.decision, fetch)


def give_ranks(
    collection: Collection, ranks: Mapping[str, float], anchors: Mapping[str, Sequence[str]] | None = None
) -> None:
    """Publishes the given ranks, relative to the rank of a page without links, and anchor texts by URL."""
    texts = {url_id(url): list(found) for url, found in (anchors or {}).items()}
    known = sorted((url_id(url), rank) for url, rank in ranks.items())
    floor = 1e-6
    with writing_ranks(collection.ranks) as draft:
        draft.save("ids", np.array([key for key, _ in known], "S16"))
        draft.save("numbers", np.arange(len(known), dtype=np.uint32))
        draft.save("ranks", np.array([rank * floor for _, rank in known], np.float32))
        columns = [pa.array(texts, pa.binary(16)), pa.array(texts.values(), pa.list_(pa.string()))]
        parquet.write_table(pa.table(columns, names=["target_id", "anchors"]), draft.path / "anchors.parquet")
        draft.publish(Figures(len(known), 0, 0, 1, 0.0, 0.85, floor, floor, ""), keep=2)


def settings(**flags: Any) -> Settings:
    """The settings with `section__name` overrides."""
    return load(Path("no-such-folder"), {key.replace("__", "."): value for key, value in flags.items()}, {}).settings


def index(collection: Collection, *, full: bool = False, **flags: Any) -> IndexSummary:
    """Build and publish a generation; without *full* only when something has changed."""
    return build_index(collection, Indexing(memory_mb=128, **flags), limits=Continuation(full=full))


@contextmanager
def opened(collection: Collection, **flags: Any) -> Iterator[SearchEngine]:
    """The engine over the live generation; `section__name` overrides a setting."""
    engine = SearchEngine.open(collection, settings(**flags))
    try:
        yield engine
    finally:
        engine.close()


@contextmanager
def library(home: Path, docs: Iterable[Doc], **flags: Any) -> Iterator[SearchEngine]:
    """An engine over these pages."""
    collection = shelve(home, docs)
    index(collection)
    with opened(collection, **flags) as engine:
        yield engine


def urls(results: Results) -> list[str]:
    """What was found, best first."""
    return [hit.url for hit in results.hits]


def marked(hit: Hit) -> list[str]:
    """The words that are highlighted in a snippet."""
    return [hit.snippet[start:end] for start, end in hit.highlights]


def documents_of(engine: SearchEngine) -> Mapping[str, Sequence[str]]:
    """Every page an engine can find, with the other addresses of each."""
    found = engine.search("site:test OR site:example OR site:org", size=10_000).hits
    return {hit.url: hit.same_content for hit in found}
