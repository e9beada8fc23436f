"""What does the crawl beside the site do? One line for the start page, from the rows that processes publish."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from threading import Lock

from periplus.errors import PeriplusError
from periplus.store.catalog.live_state import LiveState, Role
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.queries import Queries
from periplus.store.collection import Collection

_KEPT_SECONDS = 1.0  # that a reading is shown before the next one


@dataclass(frozen=True, slots=True)
class CrawlState:
    """What the crawl does now."""

    is_crawling: bool = False
    is_paused: bool = False
    pages: int = 0  # fetched so far
    newest_age: float | None = None  # seconds since the newest searchable page was fetched

    def line(self, documents: int) -> str:
        """One line about a running crawl; *documents*: how many pages can be searched."""
        parts = [_counted(documents)]
        if self.newest_age is not None:
            parts.append(f"newest {_duration(self.newest_age)} ago")
        return ", ".join([*parts, "crawl paused" if self.is_paused else "crawling"])

    @property
    def starting_line(self) -> str:
        """One line before the first page can be searched."""
        return f"{_counted(self.pages)} so far, {'crawling …' if self.is_crawling else 'nothing is being crawled.'}"


ReadCrawl = Callable[[], CrawlState]


class CrawlReader:
    """Reads the state of the crawl at most once a second; may be called from several threads."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._lock = Lock()
        self._read_at = 0.0
        self._state = CrawlState()

    def __call__(self) -> CrawlState:
        """The state of at most a second ago."""
        with self._lock:
            if time.monotonic() - self._read_at >= _KEPT_SECONDS:
                self._state = _read(self._collection)
                self._read_at = time.monotonic()
            return self._state


def _read(collection: Collection) -> CrawlState:
    now = time.time()
    try:
        with closing(open_catalog(collection, LiveState, read_only=True)) as rows:
            live = [row for row in rows.workers() if not row.is_silent(now)]
        with closing(open_catalog(collection, Queries, read_only=True)) as catalog:
            pages = catalog.counters()["fetched"]
    except PeriplusError:
        return CrawlState()
    newest = max((row.figures.get("newest", 0.0) for row in live if row.role is Role.INDEX), default=0.0)
    states = {row.state for row in live if row.role is Role.CRAWL}
    return CrawlState(
        collection.in_use() or bool(states), "paused" in states, pages, max(now - newest, 0.0) if newest else None
    )


def _counted(pages: int) -> str:
    return "1 page" if pages == 1 else f"{pages:,} pages"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return "1 second" if round(seconds) == 1 else f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"
