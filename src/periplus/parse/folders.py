"""Where does this link lead, seen from that page?

Joining an address with a link is dear, and a site repeats the same links on page after page. A relative link means the
same on every page of a folder, and one that begins with a slash or a scheme on every page of a site, so both are
remembered. The targets are shared too: one string, however many pages lead there.
"""

from __future__ import annotations

import re

from periplus.parse.limits import ADDRESS
from periplus.url import Canonicalizer

_REMEMBERED = 20_000  # links, about 6 MB
_LONGEST_REMEMBERED = 300  # characters of a link
_BLANK = "".join(map(chr, range(0x21)))  # what the standard removes around an address
_NOT_WEB = ("javascript:", "mailto:", "tel:", "data:", "#")
_OF_SITE = ("/", "http://", "https://")
# Names without a dot in front: joined with a folder they need no change, and most links are such.
_PLAIN = re.compile(r"(/|(?:\.\./)*+)(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*+(?:/|$))++")
_OF_FOLDER = re.compile(r"[^\x00-\x20:?#][^\x00-\x20:]*")  # anything else may depend on the page: "?a", "http:?a"


class Folder(dict[str, str]):
    """The targets of the links in the pages of one folder, by href; "" leads nowhere."""

    def __init__(self, address: str, site: Folder | None, memory: Folders) -> None:
        super().__init__()
        self.page = address  # the page that is being read
        self._address = address
        self._site = site  # the folder at the root of the same site, if this is not it
        self._memory = memory

    def __missing__(self, href: str) -> str:
        target = self._resolved(href)
        if target is None:
            return self._memory.join(self.page, href)
        if len(href) <= _LONGEST_REMEMBERED:
            self[href] = target
            self._memory.size += 1
        return target

    def _resolved(self, href: str) -> str | None:
        """The target, if it is the same for every page of the folder."""
        is_of_site = href.startswith(_OF_SITE)
        if is_of_site and self._site is not None:
            return self._site[href]
        if self._address and len(href) <= _LONGEST_REMEMBERED and (plain := _PLAIN.fullmatch(href)):
            return self._above(plain.end(1) // len("../")) + href[plain.end(1) :]
        if not is_of_site and not _OF_FOLDER.fullmatch(href):
            return None
        return self._memory.join(self._address, href)

    def _above(self, steps: int) -> str:
        """The address of the folder so many steps up; above the root there is only the root."""
        address, root = self._address, (self if self._site is None else self._site)._address
        for _ in range(steps):
            address = address[: address.rfind("/", 0, -1) + 1] if address != root else root
        return address


class Folders:
    """The folders of a crawl, forgotten all at once when they hold too much."""

    def __init__(self, canonicalizer: Canonicalizer, remembered: int = _REMEMBERED) -> None:
        self.size = 0  # of all folders
        self._canonicalizer = canonicalizer
        self._remembered = remembered
        self._folders: dict[str, Folder] = {}

    def open(self, page: str) -> Folder:
        """The folder of a canonical address, ready for the links of that page."""
        if self.size > self._remembered:
            self._folders.clear()
            self.size = 0
        path, _, _ = page.partition("?")
        folder = self._at(path[: path.rfind("/") + 1])
        folder.page = page
        return folder

    def join(self, base: str, href: str) -> str:
        """The target of a link, or "" if it does not lead to another page of the web."""
        link = href.strip(_BLANK)
        if not link or len(link) > ADDRESS or link[:11].lower().startswith(_NOT_WEB):
            return ""
        return self._canonicalizer.join(base, link) or ""

    def _at(self, address: str) -> Folder:
        folder = self._folders.get(address)
        if folder is None:
            root = address[: address.find("/", len("https://")) + 1]
            site = self._at(root) if root not in {"", address} else None
            folder = self._folders[address] = Folder(address, site, self)
            self.size += 1
        return folder
