"""The routes of what is known about a page and its site: a page of its own, and the panel beside the results."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from periplus.errors import UsageError
from periplus.inspector.page_records import PageFacts, PageLink, PageRank, SiteFacts
from periplus.model import Hit
from periplus.site.pages import Pages
from periplus.url import host_of
from periplus.web.display import cached_link, day, moment, page_link, visible, web_link
from periplus.web.page.languages import language_name, language_tag
from periplus.web.page.library_port import Library
from periplus.web.parameters import QUERY_LENGTH, SearchParameters, read_url
from periplus.web.search_queue import SearchQueue

_UNLISTED = {"x-robots-tag": "noindex, nofollow"}
_HOST_LENGTH = 253  # characters
_OTHERS_SHOWN = 10
_TYPES = {"text/html": "Web page", "application/xhtml+xml": "Web page", "application/pdf": "PDF", "text/plain": "Text"}
_FRONT = re.compile(r"https?://[^/?#]+/?", re.IGNORECASE)
_UNKNOWN_PAGE = "This page is not in the index."
_UNKNOWN_SITE = "No page of this site is in the index."


class _Link(NamedTuple):
    link: str  # empty when the URL is not http or https
    text: str


class PagePanel:
    """The handlers of the page about a page, and of the panel."""

    def __init__(self, library: Library, pages: Pages, queue: SearchQueue, *, inspects: bool) -> None:
        """*inspects*: whether readers may see the history of a URL."""
        self._library, self._pages, self._queue, self._inspects = library, pages, queue, inspects

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [
            Route("/page", self.page),
            Route("/panel", self.panel),
            Route("/panel/site", self.site_panel),
        ]

    async def page(self, request: Request) -> Response:
        """The full page about a page and its site."""
        query = _query(request)
        facts = await self._facts(request)
        site = await self._queue.work(request, lambda: self._library.site(facts.host))
        return self._pages.response(
            "page_about.html",
            headers=_UNLISTED,
            query=query,
            page=self._shown(facts, query),
            site=None if site is None else _shown_site(site),
        )

    async def panel(self, request: Request) -> Response:
        """The fragment about a page."""
        shown = self._shown(await self._facts(request), _query(request))
        return self._pages.response("panel_page.html", headers=_UNLISTED, page=shown)

    async def site_panel(self, request: Request) -> Response:
        """The fragment about a site."""
        host = request.query_params.get("host", "").strip()
        if not 0 < len(host) <= _HOST_LENGTH:
            raise UsageError("invalid host name", hint="Add it: /panel/site?host=example.org.")
        site = await self._queue.work(request, lambda: self._library.site(host))
        if site is None:
            raise HTTPException(404, _UNKNOWN_SITE)
        return self._pages.response("panel_site.html", headers=_UNLISTED, site=_shown_site(site))

    async def _facts(self, request: Request) -> PageFacts:
        url = read_url(request.query_params)
        facts = await self._queue.work(request, lambda: self._library.facts(url))
        if facts is None:
            raise HTTPException(404, _UNKNOWN_PAGE)
        return facts

    def _shown(self, facts: PageFacts, query: str) -> dict[str, object]:
        """The facts for the templates."""
        link = web_link(facts.url)
        others = facts.same_content[:_OTHERS_SHOWN]
        return {
            "title": visible(facts.title).strip() or visible(facts.url),
            "link": link,
            "url": visible(facts.url),
            "host": visible(facts.host),
            "site_name": visible(facts.site_name),
            "opening": visible(facts.opening).strip(),
            "lang": language_tag(facts.language),
            "headings": [_Link(_text_fragment(link, text), visible(text)) for text in _headings(facts)],
            "rows": [row for row in _rows(facts) if row[1]],
            "anchors": [visible(text) for text in facts.anchors],
            "others": [_Link(web_link(url), visible(url)) for url in others],
            "others_left_out": len(facts.same_content) - len(others),
            "cached": cached_link(facts.url, query),
            "about": page_link("/page", facts.url, q=query),
            "versions": page_link("/cached/versions", facts.url, q=query),
            "version_count": len(facts.versions),
            "inspect": page_link("/inspect", facts.url) if self._inspects else "",
        }


def _query(request: Request) -> str:
    return request.query_params.get("q", "").strip()[:QUERY_LENGTH]


def _headings(facts: PageFacts) -> list[str]:
    """The headings that do not repeat the title."""
    return [text for text in facts.headings if text.casefold() not in facts.title.casefold()]


def _text_fragment(link: str, text: str) -> str:
    """The URL of a heading: browsers scroll to the text after `:~:text=`."""
    if not link or "#" in link:
        return link
    return f"{link}#:~:text={quote(text, safe='', errors='replace').replace('-', '%2D')}"


def _rows(facts: PageFacts) -> list[tuple[str, str, str]]:
    """Label, text and time (for the `datetime` attribute) of the facts that are one line."""
    versions, rank = facts.versions, facts.rank
    dates = (("Published", facts.published), ("Changed", facts.modified), ("Fetched", facts.fetched_at))
    return [
        ("Rank", _rank(rank), ""),
        ("Links to this page", f"from {_plural(rank.in_links, 'page')}" if rank else "", ""),
        ("Links on this page", f"{facts.link_count:,}", ""),
        ("Language", language_name(facts.language), ""),
        ("Type", _TYPES.get(facts.mime, visible(facts.mime)), ""),
        *((label, day(at), moment(at)) for label, at in dates if at),
        ("Size", _size(versions[-1].size) if versions else "", ""),
    ]


def _rank(rank: PageRank | None) -> str:
    if rank is None:
        return ""
    decimals = 1 if rank.percentile > 99 else 0
    return f"above {rank.percentile:.{decimals}f} % of pages (PageRank {rank.value:.2g})"


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB" if size >= 1e4 else f"{size:,} bytes"


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _shown_site(site: SiteFacts) -> dict[str, object]:
    """The facts about a site, for the templates."""
    return {
        "host": visible(site.host),
        "name": visible(site.name) or visible(site.host),
        "pages": _plural(site.pages, "page"),
        "all": SearchParameters(f"site:{site.host}").link(),
        "newest": _page_link(site.newest),
        "newest_day": day(site.newest_at),
        "newest_moment": moment(site.newest_at),
        "top": [_page_link(page) for page in site.top],
    }


def _page_link(page: PageLink) -> _Link:
    return _Link(web_link(page.url), visible(page.title).strip() or visible(page.url))


def named_site(hits: tuple[Hit, ...], page: int) -> str:
    """The host that a query names: that of the first result, if it is a front page and the words name its site."""
    if page != 1 or not hits:
        return ""
    first = hits[0]
    return host_of(first.url) if _FRONT.fullmatch(first.url) and first.explain.get("site", 0.0) > 0 else ""


def site_link(host: str) -> str:
    """The URL of the fragment about a site; empty for no host."""
    return f"/panel/site?host={quote(host, safe='')}" if host else ""
