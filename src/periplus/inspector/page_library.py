"""What is known about one indexed page? Reads its text, its archived versions, its facts and those of its site.

Only pages that are in the index now are shown, with all their versions. The catalog also knows pages that ask not to
be indexed.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from itertools import islice

from periplus.config import Settings
from periplus.errors import PeriplusError
from periplus.index.storage.pagestore import Head
from periplus.inspector.page_records import (
    PageFacts,
    PageLink,
    PageRank,
    PageText,
    PageVersion,
    SiteFacts,
)
from periplus.inspector.versions import versions_of
from periplus.model import CachedPage, Fetch, Page, Response
from periplus.parse.charset import decode
from periplus.parse.html.profiles import Profiles
from periplus.parse.html.reader_view import LARGEST_HTML, ReaderView, html_view, plain_view, text_view
from periplus.parse.page import PageParser
from periplus.search.engine import SearchEngine, charset_of
from periplus.search.shards.port import StoredPage
from periplus.store.archive.archive_lookup import read_version
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.queries import Queries
from periplus.store.collection import Collection
from periplus.store.ranks import RankTable, open_ranks
from periplus.url import Canonicalizer, url_id

logger = logging.getLogger("periplus.inspector")

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_PDF = "application/pdf"
_OPENING = 400  # characters
_HEADINGS = 12
_ANCHORS = 6
_TOP_PAGES = 5
_SENTENCES_END = re.compile(r"[.!?…。！？][\"'”’)\]]*$")  # noqa: RUF001


class PageLibrary:
    """Reads what the search site shows about one page; safe to share between threads, never writes."""

    def __init__(
        self, collection: Collection, settings: Settings, live: Callable[[], AbstractContextManager[SearchEngine]]
    ) -> None:
        """*live* opens the engine of the live generation for the duration of a block."""
        self._collection, self._settings, self._live = collection, settings, live
        self._profiles = Profiles(settings.parse.profiles)

    def text(self, url: str, query: str = "", at: float | None = None) -> PageText | None:
        """The text of a page, with the words of a query marked; *at*: of its version at that time."""
        with self._live() as engine:
            stored = engine.pages.of_url(url)
            if stored is None:
                return None
            page = self._indexed(stored) if at is None else self._version_text(stored.head, at)
            forms = engine.word_forms(query, page.language) if page is not None and query.strip() else None
        if page is None or forms is None:
            return page
        marks = (tuple((found.start, found.end) for found in forms.matches(block.text)) for block in page.view.blocks)
        return replace(page, marks=tuple(marks))

    def version(self, url: str, at: float) -> CachedPage | None:
        """The archived body of the version of a page at a time."""
        with self._live() as engine:
            if engine.pages.find(url) is None:
                return None
        fetch = self._fetch_at(url, at)
        if fetch is None or fetch.position is None:
            return None
        response = read_version(self._collection, url, fetch.at, fetch.position)
        if response is None:
            return None
        return CachedPage(url, fetch.at, fetch.mime, response.body, charset_of(response.headers))

    def versions(self, url: str) -> tuple[PageVersion, ...]:
        """The archived versions of an indexed page, oldest first; empty when the catalog cannot be read."""
        with self._live() as engine:
            return self._versions(url) if engine.pages.find(url) is not None else ()

    def _versions(self, url: str) -> tuple[PageVersion, ...]:
        found = versions_of(self._fetches(url))
        return tuple(PageVersion(one["first"], one["last"], one["visits"], one["bytes"]) for one in found)

    def facts(self, url: str) -> PageFacts | None:
        """What the panel shows about a page."""
        with self._live() as engine:
            stored = engine.pages.of_url(url)
            if stored is None:
                return None
            head = stored.head
            return PageFacts(
                url=head.url,
                host=head.host,
                site_name=engine.sites.of(head.host).name,
                title=head.title or head.url,
                opening=_opening(head),
                headings=head.headings[:_HEADINGS],
                mime=head.mime,
                language=head.language,
                fetched_at=head.fetched_at,
                published=head.published,
                modified=head.modified,
                same_content=head.same_content,
                link_count=stored.details.link_count,
                anchors=tuple(islice(filter(None, stored.anchors), _ANCHORS)),
                rank=self._rank(head.url, engine.pages.lower_ranks(stored.rank)),
                versions=self._versions(head.url),
            )

    def site(self, host: str) -> SiteFacts | None:
        """What the panel shows about a site."""
        with self._live() as engine:
            found, name = engine.pages.site(host.lower(), _TOP_PAGES), engine.sites.of(host).name
        if found.newest is None:
            return None
        last = found.newest
        stated = last.published if last.published is not None else last.modified
        at = last.fetched_at if stated is None else min(stated, last.fetched_at)
        return SiteFacts(host, name, found.total, _link(last), at, tuple(_link(head) for _, _, head in found.best))

    # -- text -------------------------------------------------------------------------------------------------------

    def _indexed(self, stored: StoredPage) -> PageText | None:
        """The text of the version in the index."""
        head, details = stored.head, stored.details
        if details.archive is None:
            return None
        response = read_version(self._collection, head.url, head.fetched_at, details.archive)
        view = None if response is None else self._view(response, head.mime, head.title)
        if view is None:
            view = text_view(stored.text, head.title, head.headings)
        return PageText(
            head.url,
            head.fetched_at,
            head.mime,
            head.language,
            view._replace(title=head.title or view.title),
            published=head.published,
            modified=head.modified,
        )

    def _version_text(self, head: Head, at: float) -> PageText | None:
        """The text of the version at a time; the language is that of the version in the index."""
        fetch = self._fetch_at(head.url, at)
        if fetch is None or fetch.position is None:
            return None
        response = read_version(self._collection, head.url, fetch.at, fetch.position)
        if response is None:
            return None
        view = self._view(response, fetch.mime, head.title)
        if view is None:
            page = self._parsed(response)
            view = text_view(page.main_text, page.title or head.title, page.headings)
        return PageText(head.url, fetch.at, fetch.mime, head.language, view)

    def _view(self, response: Response, mime: str, title: str) -> ReaderView | None:
        """The view of HTML and plain text; None when only extracted text can be shown."""
        text = decode(response.body, response.headers.get("content-type", "")) if mime != _PDF else ""
        if mime in _HTML and len(text) <= LARGEST_HTML:
            return html_view(text, response.url, self._profiles)
        return plain_view(text, title) if mime.startswith("text/") and mime not in _HTML else None

    def _parsed(self, response: Response) -> Page:
        """The page that the sandbox extracts from a PDF or a large page."""
        canonicalizer = Canonicalizer.of(self._settings.addresses)
        links = self._settings.scope.links_per_page
        with closing(PageParser(canonicalizer, links_per_page=links, settings=self._settings.parse)) as parser:
            return parser.parse(response, sandboxed=True)

    # -- versions and rank ------------------------------------------------------------------------------------------

    def _fetches(self, url: str) -> Sequence[Fetch]:
        if not self._collection.has_catalog:
            return ()
        try:
            with closing(open_catalog(self._collection, Queries, read_only=True)) as catalog:
                return catalog.fetches_of(url)
        except PeriplusError as error:
            logger.warning("no versions are shown: %s", error)
            return ()

    def _fetch_at(self, url: str, at: float) -> Fetch | None:
        """The fetch of the version at a time; of the first version for an earlier time."""
        versions = [fetch for fetch in self._fetches(url) if fetch.is_version]
        earlier = [fetch for fetch in versions if int(fetch.at) <= at]
        return earlier[-1] if earlier else next(iter(versions), None)

    def _rank(self, url: str, lower: float) -> PageRank | None:
        """The rank of a page; *lower*: the share of the indexed pages with a lower one."""
        try:
            table = open_ranks(self._collection.ranks)
            node = None if table is None else table.node_of(url_id(url))
            return None if table is None or node is None else _rank_of(table, node, lower)
        except PeriplusError as error:
            logger.warning("no rank is shown: %s", error)
            return None


def _rank_of(table: RankTable, node: int, lower: float) -> PageRank:
    with table.naming_damage():
        return PageRank(float(table.ranks[node]), 100 * lower, len(table.sources(node)))


def _link(head: Head) -> PageLink:
    return PageLink(head.url, head.title or head.url)


def _opening(head: Head) -> str:
    """The description of a page, or else the first sentences of its text."""
    if head.description:
        return head.description[:_OPENING]
    sentences = (line for line in head.opening.split("\n") if _SENTENCES_END.search(line) and line != head.title)
    return " ".join(sentences)[:_OPENING]
