"""The loop of a crawl: which hosts are ready, what did they answer, is it safe?

Driven by events: whenever a visit ends, a commit is durable or a host's delay has passed, `_pump` starts whatever may
start now.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import chain

from periplus.config import Settings
from periplus.crawl.assignment import Budget, Ending
from periplus.crawl.clock import Clock, wall_time
from periplus.crawl.commit import Committer
from periplus.crawl.handover import Handover
from periplus.crawl.link_intake import EntryUrls
from periplus.crawl.revisits import Revisits
from periplus.crawl.shared_state import Metric, SharedState
from periplus.crawl.visit import Visitor
from periplus.frontier.queues import Queues
from periplus.frontier.traps import Traps
from periplus.model import UrlState
from periplus.store.batch import PendingBatch, PendingPages
from periplus.store.run_summary import RunCounters

_LONGEST_NAP = 0.05  # seconds; how late a spent budget, an old batch or a letter may be noticed
_GRACE = 1.0  # seconds that requests under way may take when time is up, before they are dropped
_BATCHES_BEHIND = 4  # commits' worth of pages that may pile up before fetching waits for the disk


@dataclass(frozen=True, slots=True)
class WorkerParts:
    """The parts a worker directs."""

    number: int
    board: SharedState
    clock: Clock
    queues: Queues
    traps: Traps
    visitor: Visitor
    log: PendingBatch
    committer: Committer
    neighbours: Handover
    entries: EntryUrls
    revisits: Revisits
    tally: RunCounters


class Worker:
    """One process's crawl, from ready hosts to acknowledged pages."""

    def __init__(self, settings: Settings, crew: WorkerParts, budget: Budget, *, endless: bool = False) -> None:
        """An *endless* crawl waits for something to do when there is nothing."""
        self._settings, self._crew, self._budget, self._is_endless = settings, crew, budget, endless
        self._board = crew.board
        self._visits: set[asyncio.Task[None]] = set()
        self._commit: asyncio.Task[None] | None = None
        self._last_commit = crew.clock.now()
        self._timer: asyncio.Handle | None = None
        self._end: asyncio.Future[None] | None = None
        self._granted = crew.tally.fetched  # pages that this worker may fetch, of those the run may
        self._is_idle = False

    async def run(self) -> Ending:
        """Crawl until there is nothing left, a budget is spent or somebody says stop."""
        self._end = asyncio.get_running_loop().create_future()
        self.wake()
        try:
            await self._end
            await self._commit_rest()
        finally:
            await self._abandon()
        if self._board.stop:
            return Ending.INTERRUPTED
        return Ending.BUDGET if self._is_spent() else Ending.DONE

    # -- the loop -----------------------------------------------------------------------------------------------

    def wake(self) -> None:
        """Run `_pump` once, soon, however many events ask for it."""
        if self._timer is not None:
            self._timer.cancel()
        if self._end is not None and not self._end.done():
            self._timer = asyncio.get_running_loop().call_soon(self._pump)

    def _pump(self) -> None:
        now = self._crew.clock.now()
        self._crew.neighbours.attend(now)
        if self._board.stop > 1 or self._is_overdue(now):
            for visit in self._visits:
                visit.cancel()
        self._tell_figures()
        self._crew.revisits.bring_back(wall_time(self._crew.clock))
        self._launch(now)
        self._commit_if_due(now)
        self._tell_idleness()
        self._seal_if_overdue()
        assert self._end is not None
        if self._end.done():
            return
        if self._is_finished():
            self._end.set_result(None)
            return
        wake = self._next_moment()
        if not self._visits and self._commit is None and not self._crew.log.batch:
            self._crew.clock.idle(wake)
        pause = min(max(wake - self._crew.clock.now(), 0.001), _LONGEST_NAP)
        self._timer = asyncio.get_running_loop().call_later(pause, self._pump)

    def _next_moment(self) -> float:
        """When there may be something to start."""
        due, ready = self._crew.revisits.due - self._crew.clock.ahead(), self._crew.queues.next_ready()
        if ready is None or len(self._visits) >= self._settings.fetch.concurrency:
            return due
        return min(due, ready)

    def _launch(self, now: float) -> None:
        if self._board.stop or self._is_spent() or self._is_disk_behind():
            return
        if not self._visits and not self._crew.queues.has_work():
            self._crew.entries.enter_again()
        ready = self._crew.queues.next_ready()
        if ready is None or ready > now:
            return  # pages of the budget are claimed only by those who can fetch some
        room = self._settings.fetch.concurrency - len(self._visits)
        while room > 0 and self._may_fetch_another():
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
        self.wake()

    def _may_fetch_another(self) -> bool:
        """Whether one more fetch may start without overshooting the number of pages."""
        while self._crew.tally.fetched + len(self._visits) >= self._granted:
            if not (drawn := self._board.draw_pages(self._crew.number)):
                return False
            self._granted += drawn
        return True

    def _tell_figures(self) -> None:
        """Let the others know how far this worker is; all of them together keep to the budget."""
        tell, me = self._board.tell, self._crew.number
        tell(me, Metric.FETCHED, self._crew.tally.fetched)
        tell(me, Metric.BYTES, self._crew.tally.bytes)
        tell(me, Metric.UNDER_WAY, len(self._visits))
        tell(me, Metric.BUFFERED, self._crew.queues.buffered)
        tell(me, Metric.HOSTS, len(self._crew.queues))

    def _tell_idleness(self) -> None:
        """Let the others know whether this worker has anything left to do."""
        tell, me = self._board.tell, self._crew.number
        idle = self._has_nothing_to_do()
        if idle:
            self._board.return_pages(me, self._granted - self._crew.tally.fetched)
            self._granted = self._crew.tally.fetched
        if idle != self._is_idle:
            self._is_idle = idle
            if not idle:
                tell(me, Metric.AWAKENED, self._board.told(me, Metric.AWAKENED) + 1)
            tell(me, Metric.IDLE, int(idle and not self._is_endless))
        tell(me, Metric.SHARES, self._crew.neighbours.shares)

    def _has_nothing_to_do(self) -> bool:
        if self._visits or self._commit is not None or self._crew.log.batch:
            return False
        if self._crew.revisits.is_behind(wall_time(self._crew.clock)):
            return False
        return not self._crew.neighbours.is_parting and not self._crew.queues.has_work()

    def _is_finished(self) -> bool:
        if self._visits:
            return False
        return (
            bool(self._board.stop) or self._is_spent() or (self._is_idle and self._is_last() and not self._is_endless)
        )

    def _is_last(self) -> bool:
        """Whether nobody else may still have something for this worker."""
        return self._board.workers == 1 or self._board.is_over

    def _is_spent(self) -> bool:
        pages, size = self._board.total(Metric.FETCHED), self._board.total(Metric.BYTES)
        return self._budget.spent(pages, size, self._crew.clock.now() - self._crew.tally.started) is not None

    def _is_overdue(self, now: float) -> bool:
        """Whether requests under way have had long enough to finish after time was up."""
        seconds = self._budget.seconds
        return seconds is not None and now - self._crew.tally.started >= seconds + _GRACE

    def _is_disk_behind(self) -> bool:
        return len(self._crew.log.batch.settled) >= _BATCHES_BEHIND * self._settings.store.commit_pages

    # -- the acknowledgement ------------------------------------------------------------------------------------

    def _commit_if_due(self, now: float) -> None:
        log = self._crew.log
        if self._commit is not None or not log.batch:
            return
        idle = not self._visits and not self._crew.queues.has_work()
        old = now - self._last_commit >= self._settings.store.commit_seconds
        if (
            old
            or idle
            or self._crew.neighbours.is_parting
            or len(log.batch.settled) + len(log.batch.revisits) >= self._settings.store.commit_pages
        ):
            self._commit = asyncio.create_task(self._acknowledge(*self._cut()))
            self._commit.add_done_callback(self._committed)

    def _seal_if_overdue(self) -> None:
        """Seal pages for which no commit comes soon: readers in other processes see sealed pages only."""
        if self._commit is None and self._crew.committer.is_overdue(idle=self._is_idle):
            self._commit = asyncio.create_task(self._crew.committer.seal())
            self._commit.add_done_callback(self._committed)

    def _committed(self, commit: asyncio.Task[None]) -> None:
        self._commit = None
        self._last_commit = self._crew.clock.now()
        self._ended(commit)

    def _cut(self) -> tuple[PendingPages, asyncio.Future[None]]:
        traps, tally = self._crew.traps, self._crew.tally
        self._crew.log.batch.patterns += traps.changes()
        tally.traps_learned, tally.saved = traps.learned, traps.saved
        log = self._crew.log.cut()
        summary = self._crew.tally.summary(self._crew.clock.now())
        return log, self._crew.committer.commit(log.batch, log.rows, summary)

    async def _acknowledge(self, log: PendingPages, durable: asyncio.Future[None]) -> None:
        await durable
        settled = chain(log.batch.settled, log.batch.entered)
        gone = (entry.item for entry in settled if entry.state is not UrlState.QUEUED)
        again = (revisit.item for revisit in log.batch.revisits)
        self._crew.queues.acknowledged(gone, chain(log.batch.admitted, again))
        self._crew.queues.reload(host for host, _ in log.batch.harmless)
        self._crew.neighbours.committed(log.batch)
        self._crew.revisits.committed(log.batch)
        me = self._crew.number
        self._board.tell(me, Metric.COMMITS, self._board.told(me, Metric.COMMITS) + 1)

    async def _commit_rest(self) -> None:
        if self._commit is not None:
            await self._commit
        self._crew.tally.parked = self._crew.queues.parked()
        await self._acknowledge(*self._cut())

    async def _abandon(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        left = [*self._visits, *([self._commit] if self._commit else [])]
        for visit in self._visits:
            visit.cancel()
        await asyncio.gather(*left, return_exceptions=True)
