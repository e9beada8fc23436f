"""Parses sitemaps: which pages does a site list, and when did they change?

A sitemap is XML, an index of other sitemaps, a text with one URL per line, or a feed; compressed or not. URLs on other
hosts are kept, because the frontier decides about scope. Images, videos and alternate languages (``xhtml:link``) are
ignored: an alternate has its own entry, or a link on its page.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from periplus.parse.dates import epoch
from periplus.parse.formats.feed import LARGEST, MOST, Feed, field_tags, fields, read_feed, record_tags, records, utf8
from periplus.parse.limits import ADDRESS
from periplus.url import Canonicalizer

_GZIP = b"\x1f\x8b"
_LAYERS = 2  # of compression: some servers compress what is compressed already
_MOST_MEMBERS = 10_000  # of a compressed file
_STEP = 128  # bytes decompressed at once: at most so many are lost at a damaged place
_MOST_LINES = 1_000_000
_SNIFFED = 1024 * 1024  # bytes in which the root element must start
_TAIL = 65_536  # bytes in which the root element must end; generator comments may follow it
_SHOWN = 80  # characters of an invalid value in a message
_FUTURE = 86_400.0  # seconds of tolerated clock error

_ROOTS = ("urlset", "sitemapindex", "rss", "rdf", "feed")
_ROOT = record_tags(*_ROOTS, "url", "sitemap", "channel", "html")
_OPENING = 1024  # bytes in which the root element of an undeclared sitemap must start
_LISTS = re.compile(rb"<(?:urlset|sitemapindex)[\s>]")
_FEEDS = frozenset({"rss", "rdf", "feed", "channel"})
_RECORDS = record_tags("urlset", "sitemapindex", "url", "sitemap")
_FIELDS = field_tags("loc", "lastmod", "changefreq", "priority")
_CLOSED = re.compile(rb"<(?:/|(?=[^<>]*+(?<=/)>))(?:[\w.-]++:)?(?:%b)[\s/>]" % "|".join(_ROOTS).encode(), re.IGNORECASE)
_LINE = re.compile(rb"\S[^\r\n]*+")
_FREQUENCIES = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"})
_PRIORITY = re.compile(r"0?[.,]\d{1,9}|[01](?:[.,]\d{0,9})?", re.ASCII)


class SitemapEntry(NamedTuple):
    """One page or child sitemap listed in a sitemap."""

    loc: str  # canonical
    lastmod: float | None = None  # when it last changed; seconds since the epoch
    changefreq: str = ""  # a value of the protocol, in lower case
    priority: float | None = None  # among the pages of the site, 0 to 1


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The entries of a sitemap, each URL once."""

    urls: tuple[SitemapEntry, ...] = ()
    sitemaps: tuple[SitemapEntry, ...] = ()  # the children of an index
    problems: tuple[str, ...] = ()  # messages for the site's owner


def is_sitemap(mime: str, body: bytes) -> bool:
    """Whether a page is an XML sitemap; feeds and text lists count as pages unless they are declared as sitemaps."""
    return mime.endswith("xml") and _LISTS.search(body, 0, _OPENING) is not None


def read_sitemap(body: bytes, url: str, canonicalizer: Canonicalizer, *, now: float | None = None) -> Sitemap:
    """Parse the sitemap at *url*; an unreadable body gives no entries, and `problems` says why.

    With *now*, a lastmod in the future is ignored.
    """
    listing = _Listing(url, canonicalizer, now)
    body = _uncompressed(body, listing.problems)
    data = utf8(body)
    root = next((tag["name"].decode().lower() for tag in _ROOT.finditer(data, 0, _SNIFFED) if tag["name"]), "")
    if root in _FEEDS:
        listing.add_feed(read_feed(body, url, canonicalizer))
    elif root and root != "html":
        listing.add_xml(data)
    elif root or data.lstrip().startswith(b"<"):
        listing.problems.append(f"Not a sitemap or feed, but {'an HTML page' if root else 'other XML'}.")
    else:
        listing.add_lines(data)
    if root in _ROOTS and not _CLOSED.search(data, max(0, len(data) - _TAIL)):
        listing.problems.append("The sitemap is truncated; the entries before the end were kept.")
    return listing.finished()


class _Listing:
    """Collects the entries and problems of one sitemap."""

    def __init__(self, url: str, canonicalizer: Canonicalizer, now: float | None) -> None:
        self.problems: list[str] = []
        self._url = url
        self._canonicalizer = canonicalizer
        self._latest = float("inf") if now is None else now + _FUTURE
        self._urls: dict[str, SitemapEntry] = {}
        self._sitemaps: dict[str, SitemapEntry] = {}
        self._number = 0  # of entries, with those past the limit
        self._invalid: dict[str, tuple[int, str]] = {}  # by problem: the count, and the first value

    def add_xml(self, data: bytes) -> None:
        if b"<!ENTITY" in data[:_SNIFFED]:
            self.problems.append("Entity declarations were ignored.")
        for record in records(data, _RECORDS):
            if record.name in {"url", "sitemap"}:
                self._number += 1
                if self._number <= MOST:
                    found = fields(record, _FIELDS)
                    loc = found.get("loc") or found.get("", "")  # some sites omit the <loc> tag
                    address = self._canonicalizer.join(self._url, loc) if 0 < len(loc) <= ADDRESS else None
                    self._add(self._urls if record.name == "url" else self._sitemaps, loc, address, found)

    def add_lines(self, data: bytes) -> None:
        for line in islice(_LINE.finditer(data), _MOST_LINES):
            self._number += 1
            if self._number <= MOST:
                loc = line[0][: ADDRESS + 1].decode("utf-8", "replace").strip()
                self._add(self._urls, loc, self._canonicalizer.canonical(loc) if len(loc) <= ADDRESS else None, {})

    def add_feed(self, feed: Feed) -> None:
        for entry in feed.entries:
            at = entry.published if entry.updated is None else entry.updated
            self._urls[entry.link] = SitemapEntry(entry.link, at if at is not None and at <= self._latest else None)
        self._number = min(len(feed.entries) + feed.left_out, MOST)
        if feed.left_out:
            why = f"no web URL, or after the first {MOST:,}"
            self.problems.append(f"Feed entries skipped ({why}): {feed.left_out:,}.")

    def finished(self) -> Sitemap:
        for what, (count, first) in self._invalid.items():
            self.problems.append(f"{what}: {count:,} of {self._number:,} entries; first value {first!r}.")
        if self._number > MOST:
            self.problems.append(f"{self._number:,} entries; those after the first {MOST:,} were skipped.")
        if not self._number and not self.problems:
            self.problems.append("The sitemap is empty.")
        return Sitemap(tuple(self._urls.values()), tuple(self._sitemaps.values()), tuple(self.problems))

    def _add(self, entries: dict[str, SitemapEntry], loc: str, address: str | None, found: dict[str, str]) -> None:
        if address is None:
            self._add_invalid("Not a web URL, skipped", loc)
        elif entries is self._sitemaps and address == self._canonicalizer.canonical(self._url):
            self._add_invalid("Link to the index itself, skipped", loc)
        elif address not in entries:
            frequency = found.get("changefreq", "").lower()
            entries[address] = SitemapEntry(
                address,
                self._lastmod(found.get("lastmod", "")),
                frequency if frequency in _FREQUENCIES else "",
                self._priority(found.get("priority", "")),
            )

    def _lastmod(self, text: str) -> float | None:
        at = epoch(text)
        if text and at is None:
            self._add_invalid("Invalid lastmod, ignored", text)
        elif at is not None and at > self._latest:
            self._add_invalid("lastmod in the future, ignored", text)
            return None
        return at

    def _priority(self, text: str) -> float | None:
        number = float(text.replace(",", ".")) if _PRIORITY.fullmatch(text) else None
        if text and (number is None or number > 1):
            self._add_invalid("Priority not from 0 to 1, ignored", text)
            return None
        return number

    def _add_invalid(self, what: str, text: str) -> None:
        count, first = self._invalid.get(what, (0, text[:_SHOWN]))
        self._invalid[what] = (count + 1, first)


def _uncompressed(body: bytes, problems: list[str]) -> bytes:
    for _ in range(_LAYERS):
        if body.startswith(_GZIP):
            body = _gunzipped(body, problems)
    if len(body) > LARGEST:
        problems.append(f"Larger than {LARGEST >> 20} MiB; the rest was skipped.")
    return body[:LARGEST]


def _gunzipped(body: bytes, problems: list[str]) -> bytes:
    """Decompress as much as possible, up to one byte past the limit."""
    out = bytearray()
    position = members = 0
    reader = None
    while position < len(body) and len(out) <= LARGEST:
        if reader is None:
            if not body.startswith(_GZIP, position):
                return bytes(out)  # what follows is padding
            if members == _MOST_MEMBERS:
                break
            reader, members = zlib.decompressobj(31), members + 1
        step = body[position : position + _STEP]
        try:
            out += reader.decompress(step, LARGEST + 1 - len(out))
        except zlib.error:
            break
        position += len(step) - len(reader.unused_data)
        reader = None if reader.eof else reader
    if (position < len(body) or reader is not None) and len(out) <= LARGEST:
        problems.append("The gzip data is damaged or truncated; the part before was kept.")
    return bytes(out)
