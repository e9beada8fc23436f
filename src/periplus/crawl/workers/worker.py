"""The event loop of one worker: starts visits of ready hosts, commits batches, and decides when the run ends.

Whenever a visit ends, a commit is durable or a host's delay has passed, `_pump` starts what can start now.
"""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass
from itertools import chain

from periplus.crawl.assignment import Ending, WorkerContext
from periplus.crawl.clock import wall_time
from periplus.crawl.coordination.shared_state import Metric
from periplus.crawl.visits.link_intake import EntryUrls
from periplus.crawl.visits.revisits import Revisits
from periplus.crawl.visits.visit import Visitor
from periplus.crawl.workers.commands import Commands
from periplus.crawl.workers.commit import Committer
from periplus.crawl.workers.handover import Handover
from periplus.crawl.workers.live_report import LiveReport, WorkerState
from periplus.frontier.traps import Traps
from periplus.model import UrlState
from periplus.store.catalog.batch import PendingPages

_LONGEST_SLEEP = 0.05  # seconds after which a reached limit, an old batch or a forwarded URL is noticed
_GRACE = 1.0  # seconds that requests under way may take after the time limit, before they are cancelled
_BATCHES_BEHIND = 4  # commits' worth of settled pages in memory from which on fetching waits for the disk


@dataclass(frozen=True, slots=True)
class WorkerParts:
    """The parts that a worker directs."""

    context: WorkerContext
    visitor: Visitor
    committer: Committer
    handover: Handover
    entries: EntryUrls
    revisits: Revisits
    traps: Traps
    commands: Commands
    report: LiveReport


class Worker:
    """Crawls in one process, from ready hosts to acknowledged pages."""

    def __init__(self, parts: WorkerParts) -> None:
        context = parts.context
        self._parts, self._number, self._shared, self._clock = parts, context.number, context.shared, context.clock
        self._coordination = context.coordination
        self._settings, self._queues = context.settings, context.queues
        self._pending, self._counters = context.pending, context.counters
        self._budget = context.assignment.budget
        self._is_continuous = context.assignment.recrawl.continuous  # then it waits when there is nothing to do
        self._visits: set[asyncio.Task[None]] = set()
        self._commands, self._report = parts.commands, parts.report
        self._commit: asyncio.Task[None] | None = None
        self._publishing: asyncio.Task[None] | None = None
        self._last_commit = self._clock.now()
        self._timer: asyncio.Handle | None = None
        self._end: asyncio.Future[None] | None = None
        self._claimed = self._counters.fetched  # pages of the budget that this worker may fetch
        self._acknowledged = self._counters.fetched  # pages
        self._is_idle = False

    async def run(self) -> Ending:
        """Crawl until nothing is left, a limit is reached or a stop is requested."""
        self._end = asyncio.get_running_loop().create_future()
        self.wake()
        try:
            await self._end
            await self._commit_rest()
        finally:
            await self._cancel_all()
        if self._shared.stop:
            return Ending.INTERRUPTED
        return Ending.BUDGET if self._is_budget_spent() else Ending.DONE

    # -- the loop -----------------------------------------------------------------------------------------------

    def wake(self) -> None:
        """Run `_pump` once, soon, however many events call this method."""
        if self._timer is not None:
            self._timer.cancel()
        if self._end is not None and not self._end.done():
            self._timer = asyncio.get_running_loop().call_soon(self._pump)

    def _pump(self) -> None:
        """Take one step; an exception ends the run, because the event loop would only log it and never wake again."""
        try:
            self._step()
        except Exception as error:
            self._fail(error)

    def _step(self) -> None:
        now = self._clock.now()
        self._commands.carry_out_new()
        self._parts.handover.update(now)
        if self._shared.stop > 1 or self._is_grace_over(now):
            for visit in self._visits:
                visit.cancel()
        if not self._coordination.may_send():
            self._parts.visitor.abort_requests()
        self._publish_metrics()
        self._parts.revisits.queue_due(wall_time(self._clock))
        self._start_visits(now)
        self._commit_if_due(now)
        self._publish_idleness()
        self._seal_if_overdue()
        self._publish_report()
        assert self._end is not None
        if self._end.done():
            return
        if self._is_finished():
            self._end.set_result(None)
            return
        wake = self._next_start()
        if not self._visits and self._commit is None and not self._pending.batch and not self._commands.is_paused:
            self._clock.idle(wake)
        pause = min(max(wake - self._clock.now(), 0.001), _LONGEST_SLEEP)
        self._timer = asyncio.get_running_loop().call_later(pause, self._pump)

    def _next_start(self) -> float:
        """The next time at which a visit may start."""
        if self._commands.is_paused:
            return math.inf
        due, ready = self._parts.revisits.due - self._clock.ahead(), self._queues.next_ready()
        if ready is None or len(self._visits) >= self._settings.fetch.concurrency:
            return due
        return min(due, max(ready, self._commands.rate.next_start()))

    def _start_visits(self, now: float) -> None:
        if self._commands.is_paused or self._shared.stop or self._is_budget_spent() or self._is_disk_behind():
            return
        if not self._coordination.may_send():
            return
        if not self._visits and not self._queues.has_work():
            self._parts.entries.requeue()
        ready = self._queues.next_ready()
        if ready is None or ready > now:
            return  # a worker that can fetch nothing now claims no pages of the budget
        free = self._settings.fetch.concurrency - len(self._visits)
        rate = self._commands.rate
        while free > 0 and rate.allows(now) and self._may_fetch_another():
            item = self._queues.take(now)
            if item is None:
                return
            rate.take()
            visit = asyncio.create_task(self._parts.visitor.visit(item))
            self._visits.add(visit)
            visit.add_done_callback(self._visited)
            free -= 1

    def _visited(self, visit: asyncio.Task[None]) -> None:
        self._visits.discard(visit)
        self._task_ended(visit)

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        """Wake the loop; an exception of a task is an error of ours and ends the run."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fail(error)
        else:
            self.wake()

    def _fail(self, error: BaseException) -> None:
        """End the run with an error."""
        if self._end is not None and not self._end.done():
            self._end.set_exception(error)

    def _may_fetch_another(self) -> bool:
        """Whether one more fetch may start within the page budget."""
        while self._counters.fetched + len(self._visits) >= self._claimed:
            if not (claimed := self._coordination.claim_pages()):
                return False
            self._claimed += claimed
        return True

    def _publish_metrics(self) -> None:
        """Publish the progress of this worker; the budget counts for all workers together."""
        publish, me = self._shared.set, self._number
        self._coordination.publish_progress(self._counters.fetched, self._counters.bytes)
        publish(me, Metric.UNDER_WAY, len(self._visits))
        publish(me, Metric.BUFFERED, self._queues.buffered)
        publish(me, Metric.HOSTS, len(self._queues))
        publish(me, Metric.PAUSED, int(self._commands.is_paused))

    def _publish_idleness(self) -> None:
        """Publish whether this worker has anything left to do."""
        self._is_idle = self._has_nothing_to_do()
        if self._is_idle:
            self._coordination.return_pages(self._claimed - self._counters.fetched)
            self._claimed = self._counters.fetched
        is_done = self._is_idle and not self._waits_for_user
        self._coordination.publish_idleness(self._parts.handover.shares, is_idle=is_done)

    def _has_nothing_to_do(self) -> bool:
        if self._visits or self._commit is not None or self._pending.batch:
            return False
        if self._parts.revisits.has_due(wall_time(self._clock)):
            return False
        return not self._parts.handover.is_handing_over and not self._queues.has_work()

    def _is_finished(self) -> bool:
        if self._visits:
            return False
        if self._shared.stop or self._is_budget_spent():
            return True
        return self._is_idle and self._coordination.is_finished and not self._waits_for_user

    @property
    def _waits_for_user(self) -> bool:
        """Whether the crawl goes on although nothing is left to fetch: it is continuous or paused."""
        return self._is_continuous or self._commands.is_paused

    def _is_budget_spent(self) -> bool:
        pages, size = self._coordination.totals()
        seconds = self._clock.now() - self._counters.started
        return self._coordination.is_target_reached or self._budget.limit_reached(pages, size, seconds) is not None

    def _is_grace_over(self, now: float) -> bool:
        """Whether requests under way have had 1 s to finish after the time limit."""
        seconds = self._budget.seconds
        return seconds is not None and now - self._counters.started >= seconds + _GRACE

    def _is_disk_behind(self) -> bool:
        return len(self._pending.batch.settled) >= _BATCHES_BEHIND * self._settings.store.commit_pages

    # -- commits ------------------------------------------------------------------------------------------------

    def _commit_if_due(self, now: float) -> None:
        batch = self._pending.batch
        if self._commit is not None or not batch:
            return
        idle = not self._visits and not self._queues.has_work()
        old = now - self._last_commit >= self._settings.store.commit_seconds
        if (
            old
            or idle
            or self._parts.handover.is_handing_over
            or len(batch.settled) + len(batch.revisits) >= self._settings.store.commit_pages
        ):
            self._commit = asyncio.create_task(self._acknowledge(*self._begin_commit()))
            self._commit.add_done_callback(self._committed)

    def _seal_if_overdue(self) -> None:
        """Seal a segment that no commit will seal soon: readers in other processes see sealed segments only."""
        idle = self._is_idle or (self._commands.is_paused and not self._visits)
        if self._commit is None and self._parts.committer.is_overdue(idle=idle):
            self._commit = asyncio.create_task(self._parts.committer.seal())
            self._commit.add_done_callback(self._committed)

    def _publish_report(self) -> None:
        """Write what this worker does, unless a commit has written it lately."""
        if self._publishing is not None or self._report.is_early(self._commands.last):
            return
        state = self._state()
        if self._report.is_due(state):
            self._publishing = asyncio.create_task(self._parts.committer.publish(self._report.write(state)))
            self._publishing.add_done_callback(self._published)

    def _published(self, publishing: asyncio.Task[None]) -> None:
        self._publishing = None
        self._task_ended(publishing)

    def _state(self) -> WorkerState:
        commands = self._commands
        if self._shared.stop:
            state = "draining"
        elif commands.is_paused:
            state = "paused"
        else:
            state = "idle" if self._is_idle else "running"
        return WorkerState(state, commands.last, len(self._visits))

    def _committed(self, commit: asyncio.Task[None]) -> None:
        self._commit = None
        self._last_commit = self._clock.now()
        self._task_ended(commit)

    def _begin_commit(self) -> tuple[PendingPages, int, asyncio.Future[None]]:
        """Cut off what is pending; returns it, the pages fetched so far, and the commit."""
        traps, counters = self._parts.traps, self._counters
        self._pending.batch.patterns += traps.changes()
        counters.traps_learned, counters.saved = traps.learned, traps.saved
        state = self._state()
        if self._publishing is None and self._report.is_due(state, with_commit=True):
            self._pending.batch.publication = self._report.write(state)
        cut = self._pending.cut()
        summary = counters.summary(self._clock.now())
        return cut, counters.fetched, self._parts.committer.commit(cut.batch, cut.rows, summary)

    async def _acknowledge(self, cut: PendingPages, fetched: int, durable: asyncio.Future[None]) -> None:
        await durable
        settled = chain(cut.batch.settled, cut.batch.entered)
        gone = (entry.item for entry in settled if entry.state is not UrlState.QUEUED)
        again = (revisit.item for revisit in cut.batch.revisits)
        self._queues.acknowledged(gone, chain(cut.batch.admitted, again))
        changed = (*cut.batch.blocks, *cut.batch.retried, *(host for host, _ in cut.batch.harmless))
        self._queues.reload(changed)
        self._report.committed = time.time()
        self._parts.handover.committed(cut.batch)
        self._parts.revisits.committed(cut.batch)
        self._coordination.committed(fetched - self._acknowledged)
        self._acknowledged = fetched

    async def _commit_rest(self) -> None:
        if self._commit is not None:
            await self._commit
        self._counters.parked = self._queues.parked()
        await self._acknowledge(*self._begin_commit())

    async def _cancel_all(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        left = [*self._visits, *(task for task in (self._commit, self._publishing) if task is not None)]
        for visit in self._visits:
            visit.cancel()
        await asyncio.gather(*left, return_exceptions=True)
