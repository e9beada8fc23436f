"""Which hosts, errors, refusals, seeds and traps are there? Reads one page of a list at a time.

Every list continues after a key. So a page takes the same time at the beginning and at the end of a list, and a row
that is added meanwhile neither repeats nor hides another one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from periplus.model import Pattern, UrlState
from periplus.store.database.database import Database

HOST_ORDERS = ("name", "queued", "errors", "urls", "next")
HOST_FILTERS = ("", "queued", "waiting", "errors", "blocked")
_LARGEST = 1 << 62
_LAST_TEXT = chr(0x10FFFF)
FIRST = (math.inf, _LAST_TEXT)  # the key before the newest row


@dataclass(frozen=True, slots=True)
class HostQuery:
    """Which hosts a page of the list shows."""

    order: str = "name"
    only: str = ""
    contains: str = ""
    after: tuple[float, str] | None = None  # sort key and host of the row before the page


class HostRow(NamedTuple):
    """A host as the lists show it."""

    host: str
    domain: str
    urls: int
    queued: int
    refused: int
    failed: int
    delay: float | None  # seconds between requests; None: the configured delay
    delay_why: str
    next_fetch: float
    failures: int  # errors in a row
    blocked: float | None  # since when the user has blocked the host


@dataclass(frozen=True, slots=True)
class Group:
    """URLs or links with the same reason."""

    reason: str
    status: str  # the code of an HTTP error
    count: int


class Listings:
    """The lists of a collection, for reading."""

    def __init__(self, database: Database) -> None:
        """*database* is closed with this object."""
        self._database = database

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    # -- hosts --------------------------------------------------------------------------------------------------

    def hosts(self, query: HostQuery, now: float, most: int) -> list[tuple[HostRow, float]]:
        """A page of hosts, each with its sort key."""
        key, host = query.after or (-math.inf, "")
        values = (host, query.contains, query.only, now, most)
        if query.order == "name":
            rows = self._database.rows("hosts_by_name", *values)
        else:
            rows = self._database.rows("hosts_by_figure", *values, query.order, key)
        return [(HostRow(*row[:-1]), row[-1]) for row in rows]

    def host(self, name: str) -> HostRow | None:
        """One host; None when no URL of it was admitted."""
        row = self._database.row("host", name)
        return HostRow(*row) if row else None

    def blocked_since(self, host: str) -> float | None:
        """When the user blocked a host; None when it is not blocked."""
        row = self._database.row("blocked_since", host)
        return float(row[0]) if row else None

    def first_states(self, host: str, most: int) -> dict[tuple[UrlState, str], int]:
        """Number of URLs by state and reason among the first *most* URLs of a host, per scheme."""
        found: dict[tuple[UrlState, str], int] = {}
        for scheme in ("http", "https"):
            start = f"{scheme}://{host}"
            # The characters after a host are "/" and ":"; ";" is the one after both.
            for state, reason, count in self._database.rows("states_of_first_urls", f"{start}/", f"{start};", most):
                key = UrlState(state), reason
                found[key] = found.get(key, 0) + count
        return found

    # -- errors and refusals ------------------------------------------------------------------------------------

    def outcomes(self, state: UrlState) -> list[Group]:
        """Refused or failed URLs by reason, the most frequent first."""
        return [Group(*row) for row in self._database.rows("outcomes", int(state))]

    def urls_with(
        self, state: UrlState, group: tuple[str, str], most: int, before: tuple[float, str] = FIRST
    ) -> list[dict[str, Any]]:
        """The newest refused or failed URLs with a reason and status, before a time and URL."""
        return list(self._database.records("urls_with_outcome", int(state), *group, *before, most))

    def refused_links(self) -> list[Group]:
        """Refused links by reason, the most frequent first."""
        return [Group(reason, "", count) for reason, count in self._database.rows("refused_links")]

    def refusal_samples(self, reason: str, most: int, after: tuple[str, str] = ("", "")) -> list[dict[str, Any]]:
        """Some links that were refused for a reason, after a host and URL."""
        return list(self._database.records("refusal_samples", reason, *after, most))

    # -- seeds, sitemaps and traps ------------------------------------------------------------------------------

    def seeds(self, most: int, before: tuple[float, str] = FIRST) -> list[dict[str, Any]]:
        """The newest seeds before a time and URL."""
        return list(self._database.records("seeds_listed", *before, most))

    def sitemaps(self, most: int, before: tuple[float, str] = FIRST) -> list[dict[str, Any]]:
        """The newest sitemaps before a time and URL."""
        return list(self._database.records("sitemaps_listed", *before, most))

    def patterns(self, score: float, most: int, after: tuple[int, str, str] = (_LARGEST, "", "")) -> list[Pattern]:
        """URL patterns with at least this score, those with the most refusals first."""
        return [Pattern(*row) for row in self._database.rows("patterns_listed", score, *after, most)]

    # -- samples ------------------------------------------------------------------------------------------------

    def samples(self, since: float, until: float, most: int) -> Iterator[tuple[float, dict[str, Any]]]:
        """At most *most* samples between two times, evenly spaced."""
        step, at = (until - since) / most, since
        while (row := self._database.row("sample_from", at)) is not None and row[0] <= until:
            yield row[0], json.loads(row[1])
            at = max(at + step, row[0] + step / 2)

    def last_samples(self, most: int) -> list[tuple[float, dict[str, Any]]]:
        """The newest samples, the oldest of them first."""
        rows = list(self._database.rows("last_samples", most))
        return [(at, json.loads(figures)) for at, figures in reversed(rows)]
