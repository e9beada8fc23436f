"""Which page is a worker reading, and what if that brings it down?

Before a worker reads a page itself it writes the address on the board, and wipes it off afterwards: 0.5 µs. When it
dies, or does not come to an end, its parent reads there which page it was at. The worker that takes its place has
everything of that host read behind the fence. What cannot be read there, a sitemap, is given up when it brings down a
second one.
"""

from __future__ import annotations

from collections.abc import Mapping

from periplus.crawl.shared_state import Board
from periplus.url import host_of

_GIVEN_UP_AFTER = 2  # workers that died over one address


class Vigil:
    """One worker's page under the eyes of its parent."""

    def __init__(self, board: Board, worker: int, suspects: Mapping[str, int] | None = None) -> None:
        """*suspects*: how many workers died while reading an address."""
        self._board, self._worker = board, worker
        self._suspects = dict(suspects or {})
        self._hosts = frozenset(map(host_of, self._suspects))

    def begin(self, url: str) -> None:
        """An address is about to be read."""
        self._board.begin_reading(self._worker, url)

    def end(self) -> None:
        """It has been read."""
        self._board.end_reading(self._worker)

    def distrusts(self, url: str) -> bool:
        """Whether an address must not be read by a worker itself."""
        return bool(self._hosts) and host_of(url) in self._hosts

    def gives_up(self, url: str) -> bool:
        """Whether an address has brought down too many workers to be read at all."""
        return self._suspects.get(url, 0) >= _GIVEN_UP_AFTER
