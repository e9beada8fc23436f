"""How fresh does a continuous crawl keep a web that changes for weeks, and how many requests does that take?

The weeks are simulated: the clock of the crawl jumps to the next time at which there is something to do, and the web
uses the same clock. Everything else is real: requests, responses, archive, catalog. The result is compared with an
oracle, which knows when pages change and fetches each right then. It is also compared with fetching all pages equally
often, with as many requests.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from crawl.crawling import settings_for
from periplus.crawl.assignment import Budget, RecrawlPolicy
from periplus.crawl.run import Request, Result, crawl
from testweb import Page, Site, TestWeb, Writer
from testweb import Request as Asked

HOUR, DAY = 3_600.0, 86_400.0
BEGIN = 1_800_000_000.0
HOST = "a.test"
KINDS: dict[str, tuple[float | None, dict[str, Any]]] = {  # seconds between changes, and what else is special
    "often": (8 * HOUR, {}),
    "daily": (DAY, {}),
    "weekly": (7 * DAY, {}),
    "announced": (7 * DAY, {"listed": True}),
    "never": (None, {}),
    "gone": (None, {"gone": BEGIN + 2 * DAY}),
}


class Calendar:
    """A clock for a crawl that jumps over all time in which nothing is to be done, up to an end."""

    def __init__(self, begin: float, end: float) -> None:
        self._now, self.begin, self.end = begin, begin, end

    def now(self) -> float:
        return self._now

    def ahead(self) -> float:
        return 0.0

    def idle(self, until: float) -> None:
        self._now = max(self._now, min(until, self.end))


@dataclass
class Leaf:
    """A page that changes at known times, and what was asked of it."""

    path: str
    kind: str
    calendar: Calendar
    changes: list[float] = field(default_factory=list)
    listed: bool = False  # the sitemap lists its changes
    gone: float = float("inf")  # from then on there is nothing
    visits: list[tuple[float, int]] = field(default_factory=list)  # when, and with which status

    def version(self) -> int:
        return bisect_right(self.changes, self.calendar.now())

    def last_change(self) -> float:
        return self.changes[self.version() - 1] if self.version() else self.calendar.begin - 365 * DAY

    async def answer(self, request: Asked, writer: Writer) -> Page:
        now, tag = self.calendar.now(), f"v{self.version()}"
        if now >= self.gone:
            self.visits.append((now, 404))
            return Page(status=404)
        self.visits.append((now, 304 if request.headers.get("if-none-match") == f'"{tag}"' else 200))
        return Page(f"{self.path} {tag}", f"This is version {tag} of {self.path}.", etag=tag)

    # -- what it shows ------------------------------------------------------------------------------------------

    def gaps(self, after: float = 0.0) -> list[float]:
        """Seconds between visits, from a time on."""
        times = [when for when, _ in self.visits if when >= after]
        return [later - earlier for earlier, later in itertools.pairwise(times)]

    def statuses(self, after: float = 0.0) -> list[int]:
        return [status for when, status in self.visits if when >= after]

    def fresh(self, visits: list[float], begin: float, end: float) -> float:
        """The share of a time in which the last copy was current, if copies were made by these visits."""
        current = 0.0
        for visit, following in itertools.pairwise([*visits, end]):
            stale = next((change for change in self.changes if change > visit), end)
            current += max(min(following, stale) - max(visit, begin), 0.0)
        return current / (end - begin)


class ChangingWeb:
    """Pages of one site that change on schedules of their own."""

    def __init__(self, days: float, pages_of_a_kind: int, kinds: Sequence[str] = tuple(KINDS)) -> None:
        self.calendar = Calendar(BEGIN, BEGIN + days * DAY)
        self.leaves = [self._leaf(kind, number, pages_of_a_kind) for kind in kinds for number in range(pages_of_a_kind)]

    def _leaf(self, kind: str, number: int, of: int) -> Leaf:
        period, facts = KINDS[kind]
        changes = []
        if period is not None:
            first = BEGIN + period * (number + 0.5) / of
            changes = [first + turn * period for turn in range(int((self.calendar.end - first) / period) + 1)]
        return Leaf(f"/{kind}/{number}", kind, self.calendar, changes, **facts)

    def site(self) -> Site:
        pages = {leaf.path: Page(handler=leaf.answer) for leaf in self.leaves}
        home = Page("Home", links=[leaf.path for leaf in self.leaves if not leaf.listed], etag="home")
        robots = f"Sitemap: http://{HOST}/sitemap.xml\n"
        return Site(HOST, {"/": home, "/sitemap.xml": Page(handler=self._sitemap), **pages}, robots)

    async def _sitemap(self, request: Asked, writer: Writer) -> Page:
        entries = "".join(
            f"<url><loc>http://{HOST}{leaf.path}</loc><lastmod>{_w3c(leaf.last_change())}</lastmod></url>"
            for leaf in self.leaves
            if leaf.listed
        )
        return Page(body=f"<urlset>{entries}</urlset>", content_type="application/xml")

    def of(self, kind: str) -> Iterator[Leaf]:
        return (leaf for leaf in self.leaves if leaf.kind == kind)


def _w3c(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def crawl_for_days(web: ChangingWeb, home: Path, **flags: Any) -> Result:
    """Crawl continuously until the last simulated day is over."""
    calendar = web.calendar
    with TestWeb([web.site()]) as running:
        budget = Budget(seconds=calendar.end - calendar.begin)
        request = Request(
            home, settings_for(running, **flags), [f"http://{HOST}/"], budget, recrawl=RecrawlPolicy(continuous=True)
        )
        return crawl(request, clock=calendar)


def report(web: ChangingWeb, learning_days: float) -> dict[str, Any]:
    """Freshness and requests once the crawl has had some days to learn, for each kind of page and for all."""
    since = web.calendar.begin + learning_days * DAY
    kinds = {leaf.kind: list(web.of(leaf.kind)) for leaf in web.leaves}
    return {
        "days": (web.calendar.end - since) / DAY,
        **_figures(web.calendar, web.leaves, since),
        "kinds": {kind: _figures(web.calendar, leaves, since) for kind, leaves in kinds.items()},
    }


def _figures(calendar: Calendar, leaves: list[Leaf], since: float) -> dict[str, Any]:
    end, requests = calendar.end, [status for leaf in leaves for status in leaf.statuses(since)]
    gaps = [gap for leaf in leaves for gap in leaf.gaps(since)]
    there = [leaf for leaf in leaves if leaf.gone > end]
    step = len(leaves) * (end - since) / max(len(requests), 1)
    evenly = [since + step * number for number in range(int((end - since) / step) + 1)]
    return {
        "pages": len(leaves),
        "requests": len(requests),
        "unchanged": requests.count(304),
        "oracle_requests": sum(change >= since for leaf in leaves for change in leaf.changes),
        "freshness": _mean([leaf.fresh([when for when, _ in leaf.visits], since, end) for leaf in there]),
        "evenly_freshness": _mean([leaf.fresh(evenly, since, end) for leaf in there]),
        "days_between_visits": round(median(gaps) / DAY, 2) if gaps else None,
    }


def _mean(shares: list[float]) -> float | None:
    return round(sum(shares) / len(shares), 3) if shares else None
