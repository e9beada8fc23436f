"""What is on this page, whatever it was written in?"""

from __future__ import annotations

import re
from dataclasses import replace

from periplus.model import Link, Page, Response
from periplus.parse import directives
from periplus.parse.charset import decode
from periplus.parse.feed import read_feed
from periplus.parse.html import HtmlReader
from periplus.parse.plain import read_text, read_xml
from periplus.parse.sitemap import read_sitemap
from periplus.url import Canonicalizer

_UNSAID = frozenset({"", "*/*", "application/octet-stream", "application/unknown", "unknown/unknown"})
_XHTML_NAMESPACE = "http://www.w3.org/1999/xhtml"
_SNIFFED = 1_024
_HTML_START = re.compile(
    rb"\s*<(?:!doctype\s+html|!--|(?:a|b|body|br|div|font|h1|head|html|iframe|p|script|style|table|title)[\s>])",
    re.IGNORECASE,
)
_SITEMAPS = frozenset({"urlset", "sitemapindex"})
_LISTING = re.compile(r"<(urlset|sitemapindex|rss|feed|rdf:RDF)[\s>]")
_BINARY = re.compile(rb"%PDF-|[^\0]*\0")


class PageParser:
    """Turns responses into pages, and never fails: one that makes no sense gives as much as could be had of it.

    It remembers where links lead, so keep one for a whole crawl, and one for each thread.
    """

    def __init__(self, canonicalizer: Canonicalizer, *, links_per_page: int) -> None:
        self._canonicalizer = canonicalizer
        self._html = HtmlReader(canonicalizer, links_per_page)

    def parse(self, response: Response) -> Page:
        """What is on the page; nothing, when it is not text."""
        mime = response.mime
        if mime in _UNSAID:
            mime = _sniffed(response.body)
        asked = directives.header_words(response)
        if mime == "text/html":
            return self._html.read(_text(response), response.url, asked)
        if mime == "application/xhtml+xml":
            return self._html.read_xhtml(_text(response), response.url, asked)
        if mime in {"text/xml", "application/xml"} or mime.endswith("+xml"):
            return self._parse_xml(response, asked)
        page = read_text(_text(response)) if mime.startswith("text/") else Page()
        return _marked(page, asked)

    def _parse_xml(self, response: Response, asked: set[str]) -> Page:
        text = _text(response)
        if _XHTML_NAMESPACE in text[:_SNIFFED]:
            return self._html.read_xhtml(text, response.url, asked)
        if (listing := _LISTING.search(text[:_SNIFFED])) is not None:
            return self._parse_listing(response, is_feed=listing[1] not in _SITEMAPS)
        return _marked(read_xml(text), asked)

    def _parse_listing(self, response: Response, *, is_feed: bool) -> Page:
        """A sitemap or feed is a list of links: they are followed, the list itself is not a page to be found."""
        if is_feed:
            feed = read_feed(response.body, response.url, self._canonicalizer)
            links = [Link(entry.link, entry.title, False) for entry in feed.entries if entry.link]
            return Page(title=feed.title, noindex=True, links=tuple(links))
        sitemap = read_sitemap(response.body, response.url, self._canonicalizer)
        entries = (*sitemap.sitemaps, *sitemap.urls)
        return Page(noindex=True, links=tuple(Link(entry.loc, "", False) for entry in entries))


def _text(response: Response) -> str:
    return decode(response.body, response.headers.get("content-type", ""))


def _sniffed(body: bytes) -> str:
    """The type of a body whose server does not name one."""
    start = body[:_SNIFFED].removeprefix(b"\xef\xbb\xbf")
    if _HTML_START.match(start):
        return "text/html"
    if start.lstrip().startswith(b"<?xml"):
        return "application/xml"
    return "" if _BINARY.match(start) else "text/plain"


def _marked(page: Page, asked: set[str]) -> Page:
    return replace(page, noindex=directives.noindex(asked), nofollow=directives.nofollow(asked)) if asked else page
