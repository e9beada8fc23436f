"""The records about one page that the search site shows: text, versions and facts."""

from __future__ import annotations

from dataclasses import dataclass

from periplus.parse.html.reader_view import ReaderView

Marks = tuple[tuple[int, int], ...]  # ranges of characters


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of one version of a page, for reading."""

    url: str
    fetched_at: float  # seconds since the epoch, as all times
    mime: str
    language: str
    view: ReaderView
    marks: tuple[Marks, ...] = ()  # the words of the query in every block; empty without a query
    published: float | None = None
    modified: float | None = None


@dataclass(frozen=True, slots=True)
class PageVersion:
    """One archived version of a page."""

    at: float  # the first fetch
    last: float  # the last fetch with the same content
    visits: int  # fetches with this content
    size: int  # bytes


@dataclass(frozen=True, slots=True)
class PageRank:
    """The rank of a page."""

    value: float
    percentile: float  # per cent of the indexed pages with a lower rank
    in_links: int  # pages that link here


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What the panel shows about a page."""

    url: str
    host: str
    site_name: str
    title: str
    opening: str
    headings: tuple[str, ...]
    mime: str
    language: str
    fetched_at: float
    published: float | None
    modified: float | None
    same_content: tuple[str, ...]  # other URLs
    link_count: int  # links on the page
    anchors: tuple[str, ...]  # texts of links to the page
    rank: PageRank | None
    versions: tuple[PageVersion, ...]  # oldest first


@dataclass(frozen=True, slots=True)
class PageLink:
    """A page in a list."""

    url: str
    title: str


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """What the panel shows about a site."""

    host: str
    name: str
    pages: int  # in the index
    newest: PageLink
    newest_at: float
    top: tuple[PageLink, ...]  # by PageRank
