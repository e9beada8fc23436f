"""What is a worker told, and what does it tell in the end?

Which pages that were seen before is a crawl to ask for again?

When has a run done enough?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from periplus.config import Settings
from periplus.crawl.clock import Clock
from periplus.fetch.ip_limits import AddressTable
from periplus.frontier.schedule import RecrawlClass
from periplus.model import Decision
from periplus.store.collection import Collection


@dataclass(frozen=True, slots=True)
class RecrawlPolicy:
    """What a crawl does about pages that it has seen before."""

    new_only: bool = False  # they are not asked for again
    only: RecrawlClass | None = None  # of these alone
    continuous: bool = False  # also about those that become due while it runs, so it has no end


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one run; None means none."""

    pages: int | None = None
    seconds: float | None = None
    bytes: int | None = None
    until_pages: int | None = None  # of the whole collection
    until_bytes: int | None = None

    def spent(self, pages: int, size: int, seconds: float) -> str | None:
        """Which limit has been reached by a run that has come so far, if one has."""
        if self.pages is not None and pages >= self.pages:
            return f"{self.pages} pages"
        if self.seconds is not None and seconds >= self.seconds:
            return f"{self.seconds:g} seconds"
        if self.bytes is not None and size >= self.bytes:
            return f"{self.bytes} bytes"
        return None

    def for_collection(self, pages: int, size: int) -> Budget:
        """What a run may do in a collection that holds so many pages and bytes already."""
        return replace(
            self,
            pages=_smaller(self.pages, _less(self.until_pages, pages)),
            bytes=_smaller(self.bytes, _less(self.until_bytes, size)),
        )

    def after(self, pages: int, size: int, seconds: float) -> Budget:
        """What is left when a run has come so far."""
        return replace(
            self,
            pages=_less(self.pages, pages),
            bytes=_less(self.bytes, size),
            seconds=None if self.seconds is None else max(self.seconds - seconds, 0.0),
        )

    def left(self, pages: int, size: int, seconds: float) -> float | None:
        """How many seconds until a limit is reached, if a run that has come so far goes on like that."""
        limits = ((self.pages, pages), (self.bytes, size), (self.seconds, seconds))
        left = [max(limit / done - 1.0, 0.0) * seconds for limit, done in limits if limit is not None and done]
        return min(left, default=None)


def _less(limit: int | None, used: int) -> int | None:
    return None if limit is None else max(limit - used, 0)


def _smaller(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


@dataclass(frozen=True, slots=True)
class Assignment:
    """What all workers of a run are told."""

    collection: Collection
    settings: Settings
    run_id: int
    started: float
    seeds: Sequence[str]
    sitemaps: Sequence[str]
    entries: Sequence[str]
    hold: bool  # what is found waits for the next round
    budget: Budget
    after_kill: bool  # the run before may have sent requests that it could not write down
    agenda: RecrawlPolicy
    clock: Clock
    addresses: AddressTable  # what all of them together ask of every address
    died: int = 0  # workers of the same number so far, in whose place this one is
    suspects: Mapping[str, int] = field(default_factory=dict)  # how many workers died while reading an address


class Ending(StrEnum):
    """How a run ended."""

    DONE = "done"
    BUDGET = "budget"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Report:
    """What a worker says when it is done."""

    ending: Ending
    summary: dict[str, Any]
    refusals: dict[str, Decision]  # of seeds
