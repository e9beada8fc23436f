"""Finds the page that crashed a worker.

A worker writes the URL that it is about to parse into shared state and clears it afterwards (0.5 µs). When the worker
dies or hangs, the supervisor reads that URL there, and the replacement parses the pages of that host in the sandbox.
A sitemap, which the sandbox does not parse, is skipped after it has crashed two workers.
"""

from __future__ import annotations

from collections.abc import Mapping

from periplus.crawl.coordination.shared_state import SharedState
from periplus.url import host_of

_GIVEN_UP_AFTER = 2  # workers that died while parsing one URL


class CrashGuard:
    """Reports to the supervisor which URL one worker parses, and to the worker which URLs crashed others."""

    def __init__(self, shared: SharedState, worker: int, suspects: Mapping[str, int] | None = None) -> None:
        """*suspects*: URL -> number of workers that died while parsing it."""
        self._shared, self._worker = shared, worker
        self._suspects = dict(suspects or {})
        self._hosts = frozenset(map(host_of, self._suspects))

    def begin(self, url: str) -> None:
        """The worker begins to parse a URL."""
        self._shared.begin_parsing(self._worker, url)

    def end(self) -> None:
        """The worker has parsed the URL."""
        self._shared.end_parsing(self._worker)

    def needs_sandbox(self, url: str) -> bool:
        """Whether the sandbox must parse a URL."""
        return bool(self._hosts) and host_of(url) in self._hosts

    def must_skip(self, url: str) -> bool:
        """Whether a URL has crashed too many workers to be parsed at all."""
        return self._suspects.get(url, 0) >= _GIVEN_UP_AFTER
