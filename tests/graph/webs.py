"""Builds collections from short descriptions of small webs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from periplus.config import LinkAnalysis
from periplus.graph.run import RankSummary, rank
from periplus.model import ArchivePosition, Decision, Fetch, Link, Page, QueuedUrl, Reason, UrlState, Verdict
from periplus.store.catalog.batch import Batch, Settled, Written
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection, create_collection
from periplus.store.manifest import PageRow
from periplus.store.ranks import RankTable, open_ranks
from periplus.store.segments.segment_writer import SegmentWriter
from periplus.url import host_of, url_id

ARCHIVE = "w00-000001.warc.gz"
QUICK = LinkAnalysis(memory_mb=256)


def quick(**changes: Any) -> LinkAnalysis:
    """The settings of a small graph, with changes."""
    return QUICK.model_copy(update=changes)


@dataclass(frozen=True)
class CrawledPage:
    """A crawled page; links are URLs, or (URL, text), or (URL, text, nofollow)."""

    url: str
    links: Iterable[str | tuple[str, str] | tuple[str, str, bool]] = ()
    at: float = 1000.0
    body: str = ""  # pages with the same body are duplicates; empty: unique
    canonical: str = ""


@dataclass(frozen=True)
class RedirectedUrl:
    """A URL that redirects."""

    url: str
    target: str
    at: float = 1000.0


@dataclass
class Web:
    """A collection for a test."""

    home: Path
    collection: Collection = field(init=False)
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.collection = create_collection(self.home)
        open_catalog(self.collection, create=True).close()

    def add(self, *entries: CrawledPage | RedirectedUrl) -> None:
        """Add these pages and redirects as a new segment."""
        number = next(self._numbers)
        catalog = open_catalog(self.collection)
        writer = SegmentWriter(self.collection.segments, 0, number)
        for page in entries:
            if isinstance(page, CrawledPage):
                writer.add(_row(page))
        catalog.seal(0, number, writer.seal(), {})
        moves = [_settled(move, number) for move in entries if isinstance(move, RedirectedUrl)]
        if moves:
            run = catalog.begin_run({})
            catalog.commit(Batch(settled=moves), Written(0, ARCHIVE, 4096), run, {})
        catalog.close()

    def rank(self, settings: LinkAnalysis = QUICK, *, warm: bool = False) -> Ranks:
        """Rank what was crawled so far."""
        summary = rank(self.collection, settings, warm=warm)
        table = open_ranks(self.collection.ranks)
        assert table is not None
        return Ranks(table, summary)


@dataclass(frozen=True)
class Ranks:
    """The answer, in the words of a test."""

    table: RankTable
    summary: RankSummary

    def of(self, url: str) -> float:
        """The rank of an address."""
        return float(self.table.of(np.frombuffer(url_id(url), "S16"))[0])

    def known(self, url: str) -> bool:
        """Whether the address leads to a node."""
        return self.table.node_of(url_id(url)) is not None

    def stands_at(self, url: str) -> str:
        """The address of the page that an address leads to."""
        node = self.table.node_of(url_id(url))
        assert node is not None
        return self.table.url(node)

    def voters(self, url: str) -> set[str]:
        """Who links to an address, as far as it counts."""
        node = self.table.node_of(url_id(url))
        assert node is not None
        return {self.table.url(int(source)) for source in self.table.sources(node)}

    def host(self, name: str) -> float:
        """The rank of a host."""
        return float(self.table.of_hosts([name])[0])

    def names(self, url: str) -> dict[str, float]:
        """What others call a page, and how loudly."""
        anchors = self.table.anchors(url_id(url))
        return dict(zip(anchors.texts, anchors.weights, strict=True)) if anchors else {}


def web(home: Path, *entries: CrawledPage | RedirectedUrl) -> Web:
    """A collection that holds these."""
    made = Web(home)
    made.add(*entries)
    return made


def _row(crawled: CrawledPage) -> PageRow:
    links = [Link(link, "", False) if isinstance(link, str) else Link(*(*link, False)[:3]) for link in crawled.links]
    content = hashlib.sha256((crawled.body or crawled.url).encode()).digest()
    fetch = Fetch(crawled.url, crawled.at, 200, Decision(Verdict.FETCHED, Reason.OK), "text/html", 8, content)
    page = Page(canonical=crawled.canonical, links=tuple(links))
    return PageRow(fetch, page)


def _settled(move: RedirectedUrl, number: int) -> Settled:
    decision = Decision(Verdict.MERGED, Reason.REDIRECTED, move.target)
    position = ArchivePosition(ARCHIVE, number * 1000, 100)
    fetch = Fetch(move.url, move.at, 301, decision, position=position, redirect_to=move.target)
    return Settled(QueuedUrl(move.url, host_of(move.url), 0, 0.0, Reason.LINK), UrlState.DONE, decision, fetch)
