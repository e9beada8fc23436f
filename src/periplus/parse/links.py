"""Where does a page lead?

One Link per distinct target. Its anchor is the first one that is not empty: later ones are mostly "read more", and not
looking at them saves a quarter of the work. It is nofollow only if every occurrence says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat

from turbohtml import Document, Element

from periplus.model import Link
from periplus.parse.directives import UNENDORSED
from periplus.parse.folders import Folder
from periplus.parse.glance import Glance
from periplus.parse.limits import ANCHOR, squeeze

_tuple = tuple.__new__


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
        if len(self._anchors) >= self._most:
            self.dropped += 1
            return
        target = self._folder[_without_fragment(href)]
        if target and not self._anchors.get(target):
            self._anchors[target] = squeeze(anchor, ANCHOR)

    def add_all(self, links: Iterable[tuple[str, str]]) -> None:
        """Links that are no ``<a>``, each with its text."""
        for href, anchor in links:
            self.add(href, anchor)

    def add_anchors(self, document: Document | Glance) -> None:
        """Every ``<a href>``, in document order, but those that stay on the page."""
        if isinstance(document, Document):
            self._add_elements(document)
        else:
            self._add_seen(document)

    def _add_seen(self, page: Glance) -> None:
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
            if not target or (known and not unendorsed):  # as most links of most pages
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
        """What was collected; *nofollow* marks all of it."""
        anchors, unendorsed = self._anchors, self._unendorsed
        flags = map(unendorsed.__contains__, anchors) if unendorsed and not nofollow else repeat(nofollow)
        fields = zip(anchors, anchors.values(), flags, strict=False)
        return tuple(map(_tuple, repeat(Link), fields))  # half of what the class itself would take

    def _count_rest(self, first: str, rest: Iterator[str]) -> int:
        hrefs = {_without_fragment(href or "#") for href in rest}
        hrefs.add(first)
        return sum(self._folder.get(href, href) not in self._anchors for href in hrefs if href[0] != "#")


def _anchors(document: Document) -> Iterator[tuple[str, Element]]:
    for element in document.find_all("a"):  # measured: half the cost of iter_elements
        yield element.attr("href") or "", element


def _without_fragment(href: str) -> str:
    page = href.partition("#")[0]
    return page if page[-1:] > " " else href  # a space before the # is part of the address, at its end it would not be


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
