"""Limits an exception of our own to the page that caused it.

A page whose response raises an exception fails with the reason `internal_error`, and the crawl goes on. Errors of the
collection, the disk and the memory are not caused by a page: they stop the crawl.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from periplus.errors import PeriplusError
from periplus.store.catalog.run_summary import RunCounters
from periplus.store.database.sqlite_database import DatabaseError

logger = logging.getLogger("periplus.crawl")

STOPS_THE_CRAWL = (PeriplusError, DatabaseError, OSError, MemoryError)
_IN_A_ROW = 3  # consecutive exceptions of one kind that are logged as an error
_PACKAGE = Path(__file__).parents[2]


class PageErrors:
    """Counts and logs the exceptions that pages caused in one worker."""

    def __init__(self, counters: RunCounters) -> None:
        self._counters = counters
        self._last, self._in_a_row = "", 0  # kind of the last exception, and how many followed each other

    def record(self, url: str, error: Exception) -> str:
        """Count an exception that a URL caused; returns its kind, for the detail of the decision."""
        kind = kind_of(error)
        self._in_a_row = self._in_a_row + 1 if kind == self._last else 1
        self._last = kind
        first = self._counters.count_exception(kind, url)
        if self._in_a_row == _IN_A_ROW:
            message = "%d pages in a row failed with %s (first of this run: %s); please report this error"
            logger.error(message, _IN_A_ROW, kind, first, exc_info=error)
        else:
            logger.info("internal error at %s: %s", url, kind, exc_info=error)
        return kind

    @contextmanager
    def contained(self, url: str) -> Iterator[None]:
        """Record an exception of the block for a URL instead of raising it."""
        try:
            yield
        except STOPS_THE_CRAWL:
            raise
        except Exception as error:
            self.record(url, error)


def kind_of(error: Exception) -> str:
    """The type of an exception, and the innermost line of Periplus in its traceback."""
    place = "unknown place"
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = Path(frame.f_code.co_filename)
        if file.is_relative_to(_PACKAGE):
            place = f"{_PACKAGE.name}/{file.relative_to(_PACKAGE)}:{line}"
    return f"{type(error).__name__} in {place}"
