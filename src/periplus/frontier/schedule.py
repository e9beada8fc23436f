"""When is a page asked for again?

After a part of the time in which it is expected to change. That time is learned from what the visits have shown: they
span some time, and so many changes were seen in it.

    time between changes = time / changes           after every visit
    interval             = time between changes / visits_per_change, between *shortest* and *longest*

A change that is seen after a while may have been several: as many as are likely at the rate known before, given that
there was one. The time that really passed counts, not the interval that was planned. So a page that is as it was after
a month deserves a longer interval even if it should have been asked every day, and one that was asked again after a
minute has proved nothing. Of the past, as much counts as held the last three changes. A page that was never seen to
change is credited with a part of one: its interval doubles with every visit.

The first interval is *first*, or a tenth of the age of a page that tells it. What is gone is asked for at the longest
interval, and a server that does not answer has not changed its page.

The class of a page is a name for its interval: *hot* pages are asked every six hours or more often, *daily* and
*weekly* ones at least so often, *monthly* ones more rarely.
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
from periplus.store.batch import SitemapNotice

_HOUR, _DAY = 3_600.0, 86_400.0
_OF_AGE = 0.1  # how much of its age a page is likely to stay as it is, says RFC 9111
_CREDIT = 0.4  # changes that a page has before any was seen
_REMEMBERED = 3.0  # changes; of what was learned from more, the older part is forgotten
_PATIENCE = 4.0  # intervals that a page may rest because its sitemap says that it has not changed
_BEHIND_NEW_PAGES = 1_000.0  # deeper than any page lies
_MAY_BE_ALLOWED_AGAIN = frozenset({Reason.ROBOTS, Reason.CRAWL_DELAY_TOO_LONG})
_MONTHS = {
    name: number
    for number, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)  # noqa: SIM905
}


class RecrawlClass(StrEnum):
    """How often a page is asked for."""

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
    """The class that an interval belongs to."""
    return next(
        (name for name, bound in zip(RecrawlClass, BOUNDS, strict=False) if interval <= bound), RecrawlClass.MONTHLY
    )


def revisit_priority(item: QueuedUrl) -> float:
    """The place of a revisit among the URLs of its host: behind those never asked, unless it is hot.

    Hot pages are few, and they are where new ones are found.
    """
    return plain(item.depth) + (0.0 if class_of(item.interval) is RecrawlClass.HOT else _BEHIND_NEW_PAGES)


class Schedule:
    """The law of one configuration."""

    def __init__(self, settings: Recrawl) -> None:
        self._settings = settings
        self._pinned = [(re.compile(pattern), _PINNED[RecrawlClass(name)]) for pattern, name in settings.pinned.items()]

    def visited(
        self, item: QueuedUrl, at: float, *, changed: bool, last_modified: str = "", counts: bool = False
    ) -> QueuedUrl:
        """A URL that was asked for, with its next visit planned; *counts*: it was fetched, or found as it was."""
        visits = item.visits + counts
        if not item.visited:
            return self._planned(item, at, self._first(at, last_modified), 0.0, visits)
        known, evidence = item.interval or self._settings.first, item.evidence or _CREDIT
        between = known * self._settings.visits_per_change  # two changes
        since = max(at - item.visited, 1.0)
        time = evidence * between + since
        if changed:
            evidence += _likely_changes(since / between)
        interval = time / evidence / self._settings.visits_per_change
        return self._planned(item, at, interval, min(evidence, _REMEMBERED), visits)

    def gone(self, item: QueuedUrl, at: float) -> QueuedUrl:
        """A URL at which there is nothing."""
        return self._planned(item, at, self._settings.longest, item.evidence, item.visits)

    def refused(self, item: QueuedUrl, decision: Decision, at: float) -> QueuedUrl:
        """A URL that must not be asked for; what its site forbids today it may allow later."""
        relents = decision.reason in _MAY_BE_ALLOWED_AGAIN
        return item._replace(due=at + self._settings.longest if relents else math.inf)

    def notice(self, url: str, lastmod: float) -> SitemapNotice:
        """What follows for a known page from the time of its last change, if its sitemap tells the truth.

        A date without a time leaves open when on that day it was. Many sitemaps do not tell the truth, so a page is not
        left alone for more than a few of its intervals.
        """
        settled = lastmod if lastmod % _DAY else lastmod + _DAY
        return SitemapNotice(lastmod, settled, _PATIENCE, self._settings.longest, url)

    def _first(self, at: float, last_modified: str) -> float:
        first = self._settings.first
        if last_modified and (modified := _midnight(last_modified[5:16])) is not None:
            return max(first, _OF_AGE * (at - modified))
        return first

    def _planned(self, item: QueuedUrl, at: float, interval: float, evidence: float, visits: int) -> QueuedUrl:
        settings = self._settings
        interval = min(max(interval, settings.shortest), settings.longest)
        for pattern, period in self._pinned:
            if pattern.match(item.url):
                interval = period
                break
        return item._replace(interval=interval, due=at + interval, visited=at, evidence=evidence, visits=visits)


def _likely_changes(expected: float) -> float:
    """How many there were, if so many were expected and there was at least one."""
    return expected / -math.expm1(-expected)


@lru_cache(maxsize=1_024)
def _midnight(day: str) -> float | None:
    """The beginning of a day as Last-Modified headers write it, `06 Nov 1994`; None for other forms, which are rare."""
    try:
        return datetime(int(day[7:11]), _MONTHS[day[3:6]], int(day[:2]), tzinfo=UTC).timestamp()
    except (ValueError, KeyError, OverflowError):
        return None
