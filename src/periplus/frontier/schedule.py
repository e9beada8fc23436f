"""When is a page fetched again?

After a part of the expected time between its changes. That time is estimated from the visits so far: the time that they
span, and the number of changes seen in it.

    time between changes = time / changes           updated after every visit
    interval             = time between changes / visits_per_change, between *shortest* and *longest*

A change seen after a long time may have been several changes. It counts as the number that is likely at the earlier
rate, given at least one. The time that really passed counts, not the planned interval. So a page that is unchanged
after 30 days gets a longer interval even if it was due daily, and a second fetch after a minute proves nothing. The
estimate covers the last three changes. A page that was never seen to change starts with 0.4 changes, so its interval
doubles with every visit.

The first interval is *first*, or a tenth of the page's age if it sends Last-Modified. Pages that are gone (404, 410)
are fetched at the longest interval. A failed request does not count as a change.

The recrawl class is a name for the interval: *hot* up to 6 hours, *daily* up to a day, *weekly* up to 7 days, *monthly*
above that.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache

from periplus.config import Recrawl
from periplus.frontier.priority import plain
from periplus.model import Decision, QueuedUrl, Reason
from periplus.store.catalog.batch import SitemapNotice

_HOUR, _DAY = 3_600.0, 86_400.0
_SHARE_OF_AGE = 0.1  # of a page's age; the heuristic of RFC 9111
_INITIAL_CHANGES = 0.4  # of a page that was never seen to change
_MAX_CHANGES = 3.0  # that the estimate covers; older ones are forgotten
_MAX_SITEMAP_INTERVALS = 4.0  # by which an unchanged sitemap date may postpone a page
_AFTER_NEW_PAGES = 1_000.0  # more than any depth
_MAY_BE_ALLOWED_AGAIN = frozenset({Reason.ROBOTS, Reason.CRAWL_DELAY_TOO_LONG})
_MONTHS = {
    name: number
    for number, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)  # noqa: SIM905
}


class RecrawlClass(StrEnum):
    """How often a page is fetched."""

    HOT = "hot"
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"


BOUNDS = (6 * _HOUR, _DAY, 7 * _DAY)  # the longest intervals of all classes but the last
_PINNED = {
    RecrawlClass.HOT: _HOUR,
    RecrawlClass.DAILY: _DAY,
    RecrawlClass.WEEKLY: 7 * _DAY,
    RecrawlClass.MONTHLY: 30 * _DAY,
}


def class_of(interval: float) -> RecrawlClass:
    """Return the class of an interval."""
    return next(
        (name for name, bound in zip(RecrawlClass, BOUNDS, strict=False) if interval <= bound), RecrawlClass.MONTHLY
    )


def revisit_priority(item: QueuedUrl) -> float:
    """Return the priority of a revisit: after the URLs of its host that were never fetched, unless it is hot.

    Hot pages are few, and new pages are found there.
    """
    return plain(item.depth) + (0.0 if class_of(item.interval) is RecrawlClass.HOT else _AFTER_NEW_PAGES)


class Schedule:
    """Plans the next visit of a page, from the settings in `recrawl.*`."""

    def __init__(self, settings: Recrawl) -> None:
        self._settings = settings
        self._pinned = [(re.compile(pattern), _PINNED[RecrawlClass(name)]) for pattern, name in settings.pinned.items()]

    def visited(
        self, item: QueuedUrl, at: float, *, changed: bool, last_modified: str = "", counts: bool = False
    ) -> QueuedUrl:
        """Return a visited URL with its next visit planned; *counts*: it was fetched, or found unchanged."""
        visits = item.visits + counts
        if not item.visited:
            return self._schedule_next(item, at, self._first_interval(at, last_modified), 0.0, visits)
        known, evidence = item.interval or self._settings.first, item.evidence or _INITIAL_CHANGES
        between = known * self._settings.visits_per_change  # seconds between two changes
        since = max(at - item.visited, 1.0)
        time = evidence * between + since
        if changed:
            evidence += _likely_changes(since / between)
        interval = time / evidence / self._settings.visits_per_change
        return self._schedule_next(item, at, interval, min(evidence, _MAX_CHANGES), visits)

    def gone(self, item: QueuedUrl, at: float) -> QueuedUrl:
        """Return a URL that is gone, with its next visit at the longest interval."""
        return self._schedule_next(item, at, self._settings.longest, item.evidence, item.visits)

    def refused(self, item: QueuedUrl, decision: Decision, at: float) -> QueuedUrl:
        """Return a refused URL; robots.txt may allow it later, so such URLs are tried again."""
        may_be_allowed = decision.reason in _MAY_BE_ALLOWED_AGAIN
        return item._replace(due=at + self._settings.longest if may_be_allowed else math.inf)

    def notice(self, url: str, lastmod: float) -> SitemapNotice:
        """Return what the `lastmod` of a sitemap means for the recrawl of a known page.

        A date without a time stands for any moment of that day. Many sitemaps have wrong dates, so a page is not
        postponed by more than a few of its intervals.
        """
        settled = lastmod if lastmod % _DAY else lastmod + _DAY
        return SitemapNotice(lastmod, settled, _MAX_SITEMAP_INTERVALS, self._settings.longest, url)

    def _first_interval(self, at: float, last_modified: str) -> float:
        first = self._settings.first
        if last_modified and (modified := _midnight(last_modified[5:16])) is not None:
            return max(first, _SHARE_OF_AGE * (at - modified))
        return first

    def _schedule_next(self, item: QueuedUrl, at: float, interval: float, evidence: float, visits: int) -> QueuedUrl:
        settings = self._settings
        interval = min(max(interval, settings.shortest), settings.longest)
        for pattern, period in self._pinned:
            if pattern.match(item.url):
                interval = period
                break
        return item._replace(interval=interval, due=at + interval, visited=at, evidence=evidence, visits=visits)


def _likely_changes(expected: float) -> float:
    """Return the expected number of changes, given at least one, when *expected* were expected."""
    return expected / -math.expm1(-expected)


@lru_cache(maxsize=1_024)
def _midnight(day: str) -> float | None:
    """Return the start of a day in the form of Last-Modified headers, `06 Nov 1994`; None for other, rare forms."""
    try:
        return datetime(int(day[7:11]), _MONTHS[day[3:6]], int(day[:2]), tzinfo=UTC).timestamp()
    except (ValueError, KeyError, OverflowError):
        return None
