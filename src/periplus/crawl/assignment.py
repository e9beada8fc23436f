"""The records that the processes of a run exchange: what a worker has to do, and what it reports at the end.

`Budget` answers when a run has done enough, `RecrawlPolicy` which known pages it fetches again. `WorkerContext` holds
what most parts of one worker share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from periplus.config import Settings
from periplus.crawl.clock import Clock
from periplus.crawl.coordination.coordination import Coordination
from periplus.crawl.coordination.local_coordination import LocalCoordination
from periplus.crawl.coordination.shared_state import SharedState
from periplus.crawl.visit_steps import VisitSteps
from periplus.fetch.ip_limits import AddressTable
from periplus.frontier.queues import Queues
from periplus.frontier.schedule import RecrawlClass
from periplus.model import Decision
from periplus.store.catalog.batch import PendingBatch
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.run_summary import RunCounters
from periplus.store.collection import Collection


@dataclass(frozen=True, slots=True)
class RecrawlPolicy:
    """Which known pages a crawl fetches again."""

    new_only: bool = False  # none
    only: RecrawlClass | None = None  # only those of this class; None: all that are due
    continuous: bool = False  # also pages that become due during the crawl, which therefore never ends by itself


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one run; None means no limit."""

    pages: int | None = None
    seconds: float | None = None
    bytes: int | None = None
    until_pages: int | None = None  # total of the collection
    until_bytes: int | None = None  # total of the collection

    def limit_reached(self, pages: int, size: int, seconds: float) -> str | None:
        """Name the limit that a run with these totals has reached, if any."""
        if self.pages is not None and pages >= self.pages:
            return f"{self.pages} pages"
        if self.seconds is not None and seconds >= self.seconds:
            return f"{self.seconds:g} seconds"
        if self.bytes is not None and size >= self.bytes:
            return f"{self.bytes} bytes"
        return None

    def for_collection(self, pages: int, size: int) -> Budget:
        """Return the limits of a run in a collection that already holds *pages* and *size* bytes."""
        return replace(
            self,
            pages=_smaller(self.pages, _less(self.until_pages, pages)),
            bytes=_smaller(self.bytes, _less(self.until_bytes, size)),
        )

    def remaining(self, pages: int, size: int, seconds: float) -> Budget:
        """Return what is left of the limits after a run with these totals."""
        return replace(
            self,
            pages=_less(self.pages, pages),
            bytes=_less(self.bytes, size),
            seconds=None if self.seconds is None else max(self.seconds - seconds, 0.0),
        )

    def seconds_left(self, pages: int, size: int, seconds: float) -> float | None:
        """Estimate the seconds until the first limit is reached, at the rate so far; None without a limit."""
        limits = ((self.pages, pages), (self.bytes, size), (self.seconds, seconds))
        left = [max(limit / done - 1.0, 0.0) * seconds for limit, done in limits if limit is not None and done]
        return min(left, default=None)


def _less(limit: int | None, used: int) -> int | None:
    return None if limit is None else max(limit - used, 0)


def _smaller(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


@dataclass(frozen=True, slots=True)
class Assignment:
    """What every worker of a run receives."""

    collection: Collection
    settings: Settings
    run_id: int
    started: float
    seeds: Sequence[str]
    sitemaps: Sequence[str]
    entries: Sequence[str]
    hold: bool  # URLs found in this round wait for the next round
    budget: Budget
    after_kill: bool  # the previous run may have sent requests that it did not record
    recrawl: RecrawlPolicy
    clock: Clock
    addresses: AddressTable  # limits per IP address, over all workers
    deaths: int = 0  # earlier workers of the same number that died; this worker replaces them
    suspects: Mapping[str, int] = field(default_factory=dict)  # URL -> number of workers that died while parsing it
    first_command: int = 0  # the newest command when the run began; older ones do not stop it
    join: Callable[[SharedState, int], Coordination] = LocalCoordination  # makes a process a worker, by its number


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """What most parts of one worker share."""

    number: int  # on this machine
    assignment: Assignment
    shared: SharedState  # by the processes of this machine
    coordination: Coordination  # with all workers
    catalog: Catalog
    queues: Queues
    counters: RunCounters
    pending: PendingBatch = field(default_factory=PendingBatch)
    steps: VisitSteps = field(default_factory=VisitSteps)

    @property
    def settings(self) -> Settings:
        """The settings of the run."""
        return self.assignment.settings

    @property
    def clock(self) -> Clock:
        """The clock of the run."""
        return self.assignment.clock


class Ending(StrEnum):
    """How a run ended."""

    DONE = "done"
    BUDGET = "budget"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Report:
    """What a worker reports at its end."""

    ending: Ending
    summary: dict[str, Any]
    refusals: dict[str, Decision]  # seed -> the rule that refused it
