"""The loop of a crawl: which hosts are ready, what did they answer, is it safe?

Driven by events: whenever a visit ends, a commit is durable or a host's delay has passed, `_pump` starts whatever may
start now.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from periplus.config import Settings
from periplus.crawl.budget import Budget
from periplus.crawl.clock import SteadyClock
from periplus.crawl.commit import Committer
from periplus.crawl.digest import Digester, Log
from periplus.crawl.tally import Tally
from periplus.crawl.visit import Visitor
from periplus.frontier.queues import Queues
from periplus.model import UrlState

_LONGEST_NAP = 0.25  # seconds; how late a spent budget or an old batch may be noticed
_BATCHES_BEHIND = 4  # commits' worth of pages that may pile up before fetching waits for the disk


class Ending(StrEnum):
    """How a run ended."""

    DONE = "done"
    BUDGET = "budget"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Crew:
    """The parts a worker directs."""

    clock: SteadyClock
    queues: Queues
    visitor: Visitor
    digester: Digester
    committer: Committer
    tally: Tally


class Worker:
    """One process's crawl, from ready hosts to acknowledged pages."""

    def __init__(self, settings: Settings, crew: Crew, budget: Budget, report: Callable[[], dict[str, Any]]) -> None:
        self._settings, self._crew, self._budget, self._report = settings, crew, budget, report
        self._visits: set[asyncio.Task[None]] = set()
        self._commit: asyncio.Task[None] | None = None
        self._last_commit = crew.clock.now()
        self._timer: asyncio.Handle | None = None
        self._end: asyncio.Future[None] | None = None
        self._stopping = False

    @property
    def under_way(self) -> int:
        """Visits that have begun and not ended."""
        return len(self._visits)

    def drain(self) -> None:
        """Start nothing new; what is under way is finished and kept."""
        self._stopping = True
        self._wake()

    def stop_now(self) -> None:
        """Drop what is under way; what is finished is kept."""
        self.drain()
        for visit in self._visits:
            visit.cancel()

    async def run(self) -> Ending:
        """Crawl until there is nothing left, a budget is spent or somebody says stop."""
        self._end = asyncio.get_running_loop().create_future()
        self._wake()
        try:
            await self._end
            await self._commit_rest()
        finally:
            await self._abandon()
        if self._stopping:
            return Ending.INTERRUPTED
        return Ending.BUDGET if self._is_spent() else Ending.DONE

    # -- the loop -----------------------------------------------------------------------------------------------

    def _wake(self) -> None:
        """Run `_pump` once, soon, however many events ask for it."""
        if self._timer is not None:
            self._timer.cancel()
        if self._end is not None and not self._end.done():
            self._timer = asyncio.get_running_loop().call_soon(self._pump)

    def _pump(self) -> None:
        self._launch()
        self._commit_if_due()
        assert self._end is not None
        if self._end.done():
            return
        if self._is_finished():
            self._end.set_result(None)
            return
        now = self._crew.clock.now()
        pause = _LONGEST_NAP
        if len(self._visits) < self._settings.fetch.concurrency and (wake := self._crew.queues.wake()) is not None:
            pause = min(max(wake - now, 0.001), _LONGEST_NAP)
        self._timer = asyncio.get_running_loop().call_later(pause, self._pump)

    def _launch(self) -> None:
        if self._stopping or self._is_spent() or self._is_disk_behind():
            return
        now = self._crew.clock.now()
        room = self._settings.fetch.concurrency - len(self._visits)
        while room > 0 and self._budget.allows_another(self._crew.tally, len(self._visits)):
            item = self._crew.queues.take(now)
            if item is None:
                return
            visit = asyncio.create_task(self._crew.visitor.visit(item))
            self._visits.add(visit)
            visit.add_done_callback(self._visited)
            room -= 1

    def _visited(self, visit: asyncio.Task[None]) -> None:
        self._visits.discard(visit)
        self._ended(visit)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A task is over; a failure of ours ends the crawl, whatever the web does is not one."""
        if not task.cancelled() and (error := task.exception()) is not None:
            if self._end is not None and not self._end.done():
                self._end.set_exception(error)
            return
        self._wake()

    def _is_finished(self) -> bool:
        if self._visits:
            return False
        if self._stopping or self._is_spent():
            return True
        return self._commit is None and not self._crew.digester.log.batch and not self._crew.queues.alive()

    def _is_spent(self) -> bool:
        return self._budget.spent(self._crew.tally, self._crew.clock.now()) is not None

    def _is_disk_behind(self) -> bool:
        return len(self._crew.digester.log.batch.settled) >= _BATCHES_BEHIND * self._settings.store.commit_pages

    # -- the acknowledgement ------------------------------------------------------------------------------------

    def _commit_if_due(self) -> None:
        log = self._crew.digester.log
        if self._commit is not None or not log.batch:
            return
        idle = not self._visits and not self._crew.queues.alive()
        old = self._crew.clock.now() - self._last_commit >= self._settings.store.commit_seconds
        if old or idle or len(log.batch.settled) >= self._settings.store.commit_pages:
            self._commit = asyncio.create_task(self._acknowledge(*self._cut()))
            self._commit.add_done_callback(self._committed)

    def _committed(self, commit: asyncio.Task[None]) -> None:
        self._commit = None
        self._last_commit = self._crew.clock.now()
        self._ended(commit)

    def _cut(self) -> tuple[Log, asyncio.Future[None]]:
        log = self._crew.digester.cut()
        return log, self._crew.committer.commit(log.batch, log.rows, self._report())

    async def _acknowledge(self, log: Log, durable: asyncio.Future[None]) -> None:
        await durable
        gone = (entry.item for entry in log.batch.settled if entry.state is not UrlState.QUEUED)
        self._crew.queues.acknowledged(gone, log.batch.admitted)

    async def _commit_rest(self) -> None:
        if self._commit is not None:
            await self._commit
        await self._acknowledge(*self._cut())

    async def _abandon(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        left = [*self._visits, *([self._commit] if self._commit else [])]
        for visit in self._visits:
            visit.cancel()
        await asyncio.gather(*left, return_exceptions=True)
