"""How far is `periplus up`? Figures for one status line, from the rows of its processes."""

from __future__ import annotations

import time
from collections import deque
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from periplus.errors import PeriplusError
from periplus.store.catalog.live_state import LiveState, Role
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.queries import Queries
from periplus.store.collection import Collection

_RATE_SECONDS = 10.0  # window of the current rate


@dataclass(frozen=True, slots=True)
class Status:
    """The figures of a moment."""

    pages: int  # of the collection
    pages_per_second: float
    queued: int
    searchable: int
    waiting: int
    freshness: float  # seconds that the oldest page waits to become searchable
    freshness_p95: float
    step: str  # of the builder
    rate_limit: float | None
    address: str
    restarting: tuple[str, ...] = ()  # names of children that are not running
    is_crawl_finished: bool = False
    is_paused: bool = False


@dataclass(slots=True)
class StatusReader:
    """Reads the status again and again; opens the catalog for each reading only, because the supervisor forks."""

    collection: Collection
    address: str
    _seen: deque[tuple[float, int]] = field(default_factory=deque)
    _index: dict[str, Any] = field(default_factory=dict)  # the last row of the builder, which ends before its site

    def read(self, restarting: tuple[str, ...] = (), *, is_crawl_finished: bool = False) -> Status | None:
        """The status now; None when the catalog cannot be read."""
        try:
            with closing(open_catalog(self.collection, Queries, read_only=True)) as catalog:
                counters = catalog.counters()
            with closing(open_catalog(self.collection, LiveState, read_only=True)) as rows:
                live = rows.workers()
        except PeriplusError:
            return None
        index = self._index = next((row.figures for row in live if row.role is Role.INDEX), self._index)
        pages = counters["fetched"]
        return Status(
            pages,
            self._rate(pages),
            counters["queued"],
            index.get("documents", 0),
            index.get("waiting", 0),
            index.get("freshness", 0.0),
            index.get("freshness_p95", 0.0),
            index.get("step", ""),
            index.get("rate_limit"),
            self.address,
            restarting,
            is_crawl_finished,
            any(row.role is Role.CRAWL and row.state == "paused" for row in live),
        )

    def _rate(self, pages: int) -> float:
        now = time.monotonic()
        self._seen.append((now, pages))
        while len(self._seen) > 2 and now - self._seen[0][0] > _RATE_SECONDS:
            self._seen.popleft()
        since, before = self._seen[0]
        return (pages - before) / (now - since) if now > since else 0.0
