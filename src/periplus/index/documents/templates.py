"""Removes the template of a site from the main text of its pages: menus, licence notices, calls to subscribe.

A single page does not show which lines are part of the template. So some pages of every site are compared line by line,
and lines that most of them have are removed from both ends of the main text. Common lines within the text stay: most of
them are headings ("Description", "See also").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from periplus.index.storage.records import read_records, write_records

PAGES_COMPARED = 20  # maximum per site
FEWEST = 5  # minimum pages of a site to compare
_COMMON = 0.6  # share of the compared pages that have a template line
_LINES = 1_000  # compared at either end of a page
_LEAST_KEPT = 0.2  # share of the main text: with less left, the pages are duplicates rather than a template

_FILE = "templates"  # files: a record of every site
_Keys = NDArray[np.uint32]
_NONE: Mapping[str, frozenset[int]] = MappingProxyType({})


class Templates:
    """The template lines of sites, as 32-bit hashes: a collision removes one line too many."""

    def __init__(self, samples: Iterable[tuple[str, str]], known: Mapping[str, frozenset[int]] = _NONE) -> None:
        """*samples*: host and text of some pages of every new site, one line per block; *known*: lines of others."""
        pages: dict[str, list[_Keys]] = defaultdict(list)
        for host, text in samples:
            pages[host].append(_keys(text))
        self.lines = {**known, **{host: _common(keys) for host, keys in pages.items() if len(keys) >= FEWEST}}

    def strip(self, host: str, main: str) -> str:
        """Remove template lines of *host* from both ends of the main text of a page."""
        common = self.lines.get(host)
        if not common:
            return main
        start, end = 0, len(main)  # only the lines at both ends are looked at: the whole text takes ten times as long
        while start < end and _key(main[start : (stop := _line_end(main, start, end))]) in common:
            start = stop + 1
        while start < end and _key(main[(begin := main.rfind("\n", start, end) + 1 or start) : end]) in common:
            end = begin - 1
        kept = main[start : max(start, end)]
        return kept if len(kept) >= _LEAST_KEPT * len(main) else main


def write_templates(folder: Path, lines: Mapping[str, frozenset[int]]) -> None:
    """Write the template lines of every site into the folder of a generation."""
    write_records(folder / _FILE, ("host", "lines"), ((host, sorted(found)) for host, found in lines.items()))


def read_templates(folder: Path) -> dict[str, frozenset[int]]:
    """The template lines of every site of a generation."""
    return {host: frozenset(lines) for host, lines in read_records(folder / _FILE, {"host": "", "lines": ()})}


def _line_end(text: str, start: int, end: int) -> int:
    stop = text.find("\n", start, end)
    return end if stop < 0 else stop


def _key(line: str) -> int:
    return crc32(line.encode("utf-8", "surrogatepass"))


def _keys(text: str) -> _Keys:
    """The hashes of the distinct lines of a page; of a very long page only those at both ends."""
    lines = text.split("\n")
    if len(lines) > 2 * _LINES:
        lines = lines[:_LINES] + lines[-_LINES:]
    return np.unique(np.fromiter(map(_key, lines), np.uint32, len(lines)))


def _common(pages: list[_Keys]) -> frozenset[int]:
    keys, counts = np.unique(np.concatenate(pages), return_counts=True)
    return frozenset(keys[counts >= _COMMON * len(pages)].tolist())
