"""Which pages does a site list for crawlers, and how fresh are they?

A sitemap is XML, an index of other sitemaps, a text with one address a line, or a feed; compressed or not. Addresses on
other hosts are kept: whether they may be crawled is decided where every address is. Pictures, videos and the versions
in other languages (``xhtml:link``) are not: such a version has an entry of its own, or is linked from its page.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from periplus.parse.dates import epoch
from periplus.parse.feed import LARGEST, MOST, fields, read_feed, records, tags, utf8
from periplus.parse.limits import ADDRESS
from periplus.url import Canonicalizer

_GZIP = b"\x1f\x8b"
_LAYERS = 2  # of compression: some servers compress what is compressed already
_MOST_MEMBERS = 10_000  # of a compressed file
_STEP = 128  # bytes decompressed at once: what is lost where a file is damaged
_MOST_LINES = 1_000_000
_SNIFFED = 1024 * 1024  # bytes in which the root must begin
_FUTURE = 86_400.0  # seconds a clock may be wrong by

_ROOT = tags("urlset", "sitemapindex", "url", "sitemap", "rss", "rdf", "feed", "channel", "html")
_FEEDS = frozenset({"rss", "rdf", "feed", "channel"})
_RECORDS = tags("urlset", "sitemapindex", "url", "sitemap")
_FIELDS = tags("loc", "lastmod", "changefreq", "priority")
_CLOSED = re.compile(rb"</(?:[\w.-]++:)?(?:urlset|sitemapindex|rss|rdf|feed)\s*+>", re.IGNORECASE)
_LINE = re.compile(rb"[^\s#][^\r\n]*+|#[^\r\n]*+")
_FREQUENCIES = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"})
_PRIORITY = re.compile(r"(?:0?[.,]\d{1,9}|[01](?:[.,]\d{0,9})?)", re.ASCII)


class SitemapEntry(NamedTuple):
    """One page, or one sitemap, as a site describes it."""

    loc: str  # canonical
    lastmod: float | None = None  # when it last changed; seconds since the epoch
    changefreq: str = ""  # a word of the protocol, in lower case
    priority: float | None = None  # among the pages of the site, 0 to 1


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What a sitemap lists, each address once."""

    urls: tuple[SitemapEntry, ...] = ()
    sitemaps: tuple[SitemapEntry, ...] = ()  # the children of an index
    problems: tuple[str, ...] = ()  # what was wrong, and what was kept


def read_sitemap(body: bytes, url: str, canonicalizer: Canonicalizer, *, now: float | None = None) -> Sitemap:
    """What the sitemap at *url* lists; a body that makes no sense lists nothing, and the problems say why.

    With *now*, a change in the future is not believed.
    """
    found = _Found(url, canonicalizer, now)
    body = found.uncompressed(body)
    data = utf8(body)
    root = _root(data)
    ...
