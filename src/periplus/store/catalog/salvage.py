"""Reads what is left of a damaged `crawl.db`: its seeds, its URLs and the blocked hosts.

A damaged page of the file hides the rows on it; the rows before and after it are read. The values of a row may be
damaged too, so each is checked.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

from periplus.model import QueuedUrl, Reason
from periplus.url import Canonicalizer, host_of

_Row = TypeVar("_Row")
_ADMITTED = frozenset(Reason) - {Reason.ENTRY}
_DEEPEST = 1_000_000  # links from a seed


class Salvage:
    """What can be read of a damaged catalog."""

    def __init__(self, path: Path, canonicalizer: Canonicalizer) -> None:
        self._path, self._canonicalizer = path, canonicalizer

    def seeds(self) -> set[str]:
        """The seeds."""
        return set(self._rows("SELECT url FROM seeds ORDER BY url", lambda row: self._canonical(row[0])))

    def blocked_hosts(self) -> set[str]:
        """The hosts that the user has blocked."""
        return set(self._rows("SELECT host FROM blocked_hosts ORDER BY host", lambda row: str(row[0].decode())))

    def urls(self) -> Iterator[QueuedUrl]:
        """The URLs that were not refused, as queued; some may come twice."""
        query = "SELECT url, depth, admitted, via, redirects FROM urls WHERE state <> 2 ORDER BY url"
        return self._rows(query, self._queued)

    def _rows(self, query: str, convert: Callable[[Any], _Row]) -> Iterator[_Row]:
        """The converted rows from both ends of a table, up to the damaged pages."""
        if not self._path.exists():
            return
        for order in ("", " DESC"):
            with suppress(sqlite3.DatabaseError, UnicodeDecodeError), closing(sqlite3.connect(self._path)) as database:
                database.text_factory = bytes
                for row in database.execute(query + order):
                    with suppress(ValueError, TypeError, AttributeError):
                        yield convert(row)
                return  # no damage on the way

    def _queued(self, row: Any) -> QueuedUrl:
        url, depth, admitted, via, redirects = row
        if not (0 <= depth <= _DEEPEST and 0 <= redirects <= _DEEPEST):
            raise ValueError("a number is out of range")
        reason = Reason(admitted.decode())
        if reason not in _ADMITTED:
            raise ValueError("not a reason to admit a URL")
        canonical = self._canonical(url)
        return QueuedUrl(canonical, host_of(canonical), depth, float(depth), reason, via.decode(), redirects)

    def _canonical(self, url: bytes) -> str:
        canonical = self._canonicalizer.canonical(url.decode())
        if canonical is None:
            raise ValueError("not a web URL")
        return canonical
