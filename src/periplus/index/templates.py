"""What does a site write on most of its pages, and is therefore not what one of them is about?

Menus, notices of licence, invitations to subscribe: no page tells by itself that others say the same. A few pages of
every site are compared, line by line; the lines that most of them hold are taken off both ends of the main text. Lines
within it stay, however common: there they are headings ("Description", "See also") more often than not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

PAGES_COMPARED = 20  # of a site
FEWEST = 5  # pages that tell what is common to them
_COMMON = 0.6  # of the pages compared
_LINES = 1_000  # of a page, at either end
_WORTH_KEEPING = 0.2  # of the main text: with less left, the pages are copies of each other rather than a template

_Keys = NDArray[np.uint32]


class Templates:
    """The common lines of sites, each known by 32 bits: a line taken for another one costs nothing but itself."""

    def __init__(self, samples: Iterable[tuple[str, str]]) -> None:
        """*samples*: host and text of some pages of every site, a line for each block."""
        pages: dict[str, list[_Keys]] = defaultdict(list)
        for host, text in samples:
            pages[host].append(_keys(text))
        self._common = {host: _common(keys) for host, keys in pages.items() if len(keys) >= FEWEST}

    def strip(self, host: str, main: str) -> str:
        """The main text of a page of *host* without what it shares with others at its beginning and end."""
        common = self._common.get(host)
        if not common:
            return main
        lines = main.split("\n")
        first, last = 0, len(lines)
        while first < last and _key(lines[first]) in common:
            first += 1
        while last > first and _key(lines[last - 1]) in common:
            last -= 1
        kept = "\n".join(lines[first:last])
        return kept if len(kept) >= _WORTH_KEEPING * len(main) else main


def _key(line: str) -> int:
    return crc32(line.encode("utf-8", "surrogatepass"))


def _keys(text: str) -> _Keys:
    """The lines of a page, each once; of a very long one those where templates stand."""
    lines = text.split("\n")
    if len(lines) > 2 * _LINES:
        lines = lines[:_LINES] + lines[-_LINES:]
    return np.unique(np.fromiter(map(_key, lines), np.uint32, len(lines)))


def _common(pages: list[_Keys]) -> frozenset[int]:
    keys, counts = np.unique(np.concatenate(pages), return_counts=True)
    return frozenset(keys[counts >= _COMMON * len(pages)].tolist())
