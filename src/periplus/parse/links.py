"""Where does a page lead?

One Link per distinct target. Its anchor is the first one that is not empty: later ones are mostly "read more", and not
looking at them saves a third of the work. It is nofollow only if every occurrence says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import repeat

from turbohtml import Document, Element

from periplus.model import Link
from periplus.parse.limits import ANCHOR, squeeze
from periplus.url import Canonicalizer

_REMEMBERED = 100_000  # targets, about 30 MB
_LONGEST_REMEMBERED = 300  # characters of an href
_STRIPPED = "".join(map(chr, range(0x21)))  # what the standard removes around an address
_NOT_WEB = ("javascript:", "mailto:", "tel:", "data:")
# Relative to the page, not to its folder: a query, a scheme without slashes ("http:?a"), a tab that may hide either.
_OF_PAGE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!//)|\?|[^\t\r\n]*[\t\r\n]")
_UNENDORSED = frozenset({"nofollow", "ugc", "sponsored"})


class Folder(dict[str, str]):
    """The targets of links found in the pages of one folder, by href without fragment; "" leads nowhere."""

    def __init__(self, address: str, canonicalizer: Canonicalizer) -> None:
        super().__init__()
        self.page = address  # the page that is being read
        self._address = address
        self._join = canonicalizer.join

    def __missing__(self, href: str) -> str:
        stripped = href.strip(_STRIPPED)
        if not stripped or stripped[:11].lower().startswith(_NOT_WEB):
            return ""
        if _OF_PAGE.match(stripped):
            return self._join(self.page, stripped) or ""
        target = self._join(self._address, stripped) or ""
        if len(href) <= _LONGEST_REMEMBERED:
            self[href] = target
        return target


class Folders:
    """Remembers where links lead: pages of a folder share most of theirs, and joining is dear."""

    def __init__(self, canonicalizer: Canonicalizer, remembered: int = _REMEMBERED) -> None:
        self._canonicalizer = canonicalizer
        self._remembered = remembered
        self._folders: dict[str, Folder] = {}
        self._open: Folder | None = None
        self._size = 0  # of the folders that are not open

    def open(self, page: str) -> Folder:
        """The folder of an address, ready for the links of that page; the one opened before is closed by it."""
        address = self._canonicalizer.join(page, ".") or page
        if self._open is not None:
            self._size += len(self._open) + 1
        if self._size > self._remembered:
            self._folders.clear()
            self._size = 0
        folder = self._folders.get(address)
        if folder is None:
            folder = self._folders[address] = Folder(address, self._canonicalizer)
        else:
            self._size -= len(folder) + 1
        folder.page = page
        self._open = folder
        return folder


class LinkCollector:
    """The links of one page, up to a cap."""

    def __init__(self, folder: Folder, most: int) -> None:
        self._folder = folder
        self._most = most
        self._anchors: dict[str, str] = {}  # by target
        self._unendorsed: set[str] = set()  # targets that every link so far marks nofollow
        self.dropped = 0  # different hrefs past the cap, not resolved

    def add(self, href: str, anchor: str) -> None:
        """A link that is no ``<a>``."""
        target = self._folder[href.partition("#")[0]]
        if not target or target in self._anchors:
            return
        if len(self._anchors) < self._most:
            self._anchors[target] = squeeze(anchor, ANCHOR)
        else:
            self.dropped += 1

    def add_anchors(self, document: Document) -> None:
        """Every ``<a href>``, in document order, but those that stay on the page."""
        folder, anchors, unendorsed, most = self._folder, self._anchors, self._unendorsed, self._most
        elements = document.iter_elements("a")
        for element in elements:
            href = element.attr("href")
            if not href or href[0] == "#":
                continue
            if "#" in href:
                href = href.partition("#")[0]
            target = folder[href]
            if not target:
                continue
            known = anchors.get(target)
            if known is None:
                if len(anchors) >= most:
                    self.dropped += self._count_rest(href, elements)
                    return
                anchors[target] = _anchor(element)
                if _is_unendorsed(element):
                    unendorsed.add(target)
                continue
            if not known:
                anchors[target] = _anchor(element)
            if unendorsed and target in unendorsed and not _is_unendorsed(element):
                unendorsed.discard(target)

    def links(self, *, nofollow: bool) -> tuple[Link, ...]:
        """What was collected; *nofollow* marks all of it."""
        anchors, unendorsed = self._anchors, self._unendorsed
        flags = map(unendorsed.__contains__, anchors) if unendorsed and not nofollow else repeat(nofollow)
        return tuple(map(Link._make, zip(anchors, anchors.values(), flags, strict=False)))

    def _count_rest(self, first: str, elements: Iterator[Element]) -> int:
        hrefs = {(element.attr("href") or "").partition("#")[0] for element in elements}
        hrefs.add(first)
        hrefs.discard("")
        return sum(dict.get(self._folder, href, href) not in self._anchors for href in hrefs)


def _anchor(element: Element) -> str:
    words = " ".join(element.to_text().split())
    if words:
        return words if len(words) <= ANCHOR else words[:ANCHOR].rstrip()
    image = element.find("img")
    return squeeze(image.attr("alt") or "", ANCHOR) if image is not None else ""


def _is_unendorsed(element: Element) -> bool:
    rel = element.attr("rel")
    return rel is not None and not _UNENDORSED.isdisjoint(rel.lower().split())
