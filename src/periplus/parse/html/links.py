"""Collects the links of a page and resolves them to canonical URLs.

`LinkCollector` keeps one Link per distinct target. Its anchor text is the first that is not empty: later ones are
mostly "read more", and ignoring them saves a quarter of the work. A Link is nofollow only if every occurrence is.

`LinkResolver` caches resolved links, because joining URLs is expensive and a site repeats its links on every page. A
relative link has the same target on every page of a folder. A link that begins with a slash or a scheme has the same
target on every page of a site. Pages share the target strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import repeat

from turbohtml import Document, Element

from periplus.model import Link
from periplus.parse.directives import UNENDORSED
from periplus.parse.glance import Glance
from periplus.parse.limits import ADDRESS, ANCHOR, squeeze
from periplus.url import Canonicalizer

_MAX_CACHED = 20_000  # links, about 6 MB
_LONGEST_CACHED = 300  # characters of a link
_BLANK = "".join(map(chr, range(0x21)))  # characters that the URL standard strips
_NOT_WEB = ("javascript:", "mailto:", "tel:", "data:", "#")
_OF_SITE = ("/", "http://", "https://")
# Path segments without a leading dot: joining them with a folder needs no normalisation. Most links are such paths.
_PLAIN = re.compile(r"(/|(?:\.\./)*+)(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*+(?:/|$))++")
_OF_FOLDER = re.compile(r"[^\x00-\x20:?#][^\x00-\x20:]*")  # other links may depend on the page: "?a", "http:?a"


class BaseUrl(dict[str, str]):
    """Cached link targets for the pages of one folder, by href; "" for a link that is not followed."""

    def __init__(self, address: str, site: BaseUrl | None, resolver: LinkResolver) -> None:
        super().__init__()
        self.page = address  # the page that is being parsed
        self._address = address
        self._site = site  # the root folder of the same site; None if this is the root
        self._resolver = resolver

    def __missing__(self, href: str) -> str:
        target = self._resolved(href)
        if target is None:
            return self._resolver.join(self.page, href)
        if len(href) <= _LONGEST_CACHED:
            self[href] = target
            self._resolver.size += 1
        return target

    def _resolved(self, href: str) -> str | None:
        """The target, if it is the same for every page of the folder; else None."""
        is_of_site = href.startswith(_OF_SITE)
        if is_of_site and self._site is not None:
            return self._site[href]
        if self._address and len(href) <= _LONGEST_CACHED and (plain := _PLAIN.fullmatch(href)):
            return self._above(plain.end(1) // len("../")) + href[plain.end(1) :]
        if not is_of_site and not _OF_FOLDER.fullmatch(href):
            return None
        return self._resolver.join(self._address, href)

    def _above(self, steps: int) -> str:
        """The URL of the folder *steps* levels up; the root at most."""
        address, root = self._address, (self if self._site is None else self._site)._address
        for _ in range(steps):
            address = address[: address.rfind("/", 0, -1) + 1] if address != root else root
        return address


class LinkResolver:
    """Resolves and caches links by folder; the whole cache is cleared when it is full."""

    def __init__(self, canonicalizer: Canonicalizer, max_cached: int = _MAX_CACHED) -> None:
        self.size = 0  # links and folders in the cache
        self._canonicalizer = canonicalizer
        self._max_cached = max_cached
        self._folders: dict[str, BaseUrl] = {}

    def open(self, page: str) -> BaseUrl:
        """The cache of the folder of a canonical URL, ready to resolve the links of that page."""
        if self.size > self._max_cached:
            self._folders.clear()
            self.size = 0
        path, _, _ = page.partition("?")
        folder = self._at(path[: path.rfind("/") + 1])
        folder.page = page
        return folder

    def join(self, base: str, href: str) -> str:
        """The target of a link, or "" if it is not a web page."""
        link = href.strip(_BLANK)
        if not link or len(link) > ADDRESS or link[:11].lower().startswith(_NOT_WEB):
            return ""
        return self._canonicalizer.join(base, link) or ""

    def _at(self, address: str) -> BaseUrl:
        folder = self._folders.get(address)
        if folder is None:
            root = address[: address.find("/", len("https://")) + 1]
            site = self._at(root) if root not in {"", address} else None
            folder = self._folders[address] = BaseUrl(address, site, self)
            self.size += 1
        return folder


_tuple = tuple.__new__


class LinkCollector:
    """Collects the links of one page, up to a limit."""

    def __init__(self, folder: BaseUrl, most: int) -> None:
        self._folder = folder
        self._most = most
        self._anchors: dict[str, str] = {}  # by target
        self._unendorsed: set[str] = set()  # targets that every link so far marks nofollow
        self.dropped = 0  # distinct hrefs past the limit, not resolved

    def add(self, href: str, anchor: str) -> None:
        """Add a link that is not an ``<a>``."""
        if len(self._anchors) >= self._most:
            self.dropped += 1
            return
        target = self._folder[_without_fragment(href)]
        if target and not self._anchors.get(target):
            self._anchors[target] = squeeze(anchor, ANCHOR)

    def add_all(self, links: Iterable[tuple[str, str]]) -> None:
        """Add links that are not ``<a>``, each with its text."""
        for href, anchor in links:
            self.add(href, anchor)

    def add_anchors(self, document: Document | Glance) -> None:
        """Add every ``<a href>`` in document order, except links within the page."""
        if isinstance(document, Document):
            self._add_elements(document)
        else:
            self._add_glanced(document)

    def _add_glanced(self, page: Glance) -> None:
        folder, anchors, unendorsed, most = self._folder, self._anchors, self._unendorsed, self._most
        found = iter(page.links())
        for written, anchor, is_unendorsed in found:
            href = _without_fragment(written) if "#" in written else written
            target = folder[href]
            known = anchors.get(target)
            if known is None:
                if not target:
                    continue
                if len(anchors) >= most:
                    self.dropped += self._count_rest(href, (written for written, _, _ in found))
                    return
                anchors[target] = anchor
                if is_unendorsed:
                    unendorsed.add(target)
                continue
            if not known:
                anchors[target] = anchor
            if not is_unendorsed:
                unendorsed.discard(target)

    def _add_elements(self, document: Document) -> None:
        folder, anchors, unendorsed, most = self._folder, self._anchors, self._unendorsed, self._most
        elements = _anchors(document)
        for written, element in elements:
            if not written or written[0] == "#":
                continue
            href = _without_fragment(written) if "#" in written else written
            target = folder[href]
            known = anchors.get(target)
            if not target or (known and not unendorsed):  # most links of most pages
                continue
            if known is None:
                if len(anchors) >= most:
                    self.dropped += self._count_rest(href, (written for written, _ in elements))
                    return
                if _is_unendorsed(element.attr("rel")):
                    unendorsed.add(target)
            elif not _is_unendorsed(element.attr("rel")):
                unendorsed.discard(target)
            if not known:
                anchors[target] = _anchor(element)

    def links(self, *, nofollow: bool) -> tuple[Link, ...]:
        """The collected links; *nofollow* marks all of them."""
        anchors, unendorsed = self._anchors, self._unendorsed
        flags = map(unendorsed.__contains__, anchors) if unendorsed and not nofollow else repeat(nofollow)
        fields = zip(anchors, anchors.values(), flags, strict=False)
        return tuple(map(_tuple, repeat(Link), fields))  # half the time of calling Link

    def _count_rest(self, first: str, rest: Iterator[str]) -> int:
        hrefs = {_without_fragment(href or "#") for href in rest}
        hrefs.add(first)
        return sum(self._folder.get(href, href) not in self._anchors for href in hrefs if href[0] != "#")


def _anchors(document: Document) -> Iterator[tuple[str, Element]]:
    for element in document.find_all("a"):  # measured: half the cost of iter_elements
        yield element.attr("href") or "", element


def _without_fragment(href: str) -> str:
    page = href.partition("#")[0]
    return page if page[-1:] > " " else href  # a space before the # is part of the URL; at the end it would be stripped


def _is_unendorsed(rel: str | None) -> bool:
    return rel is not None and not UNENDORSED.isdisjoint(rel.lower().split())


def _anchor(element: Element) -> str:
    words = element.to_text()
    if not words.isascii() or "\n" in words:
        words = " ".join(words.split())
    if words:
        return words if len(words) <= ANCHOR else words[:ANCHOR].rstrip()
    image = element.find("img")
    return squeeze(image.attr("alt") or "", ANCHOR) if image is not None else ""
