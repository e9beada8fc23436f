"""Queues the known pages of this worker that are due for a recrawl.

The catalog lists settled URLs by due time. Every worker scans that list in small steps and queues the URLs of its own
domains. It goes back only when a commit makes an earlier URL due.
"""

from __future__ import annotations

import math

from periplus.crawl.assignment import WorkerContext
from periplus.crawl.visits.link_intake import LinkIntake
from periplus.frontier.schedule import class_of, revisit_priority
from periplus.model import QueuedUrl, UrlState, Verdict
from periplus.store.catalog.batch import Batch, Revisit

_AT_ONCE = 250  # URLs scanned in one step
_MAX_UNCOMMITTED = 1_000  # revisits that may wait for a commit
_START = (-math.inf, 0.0, "")


class Revisits:
    """One worker's scan of the due URLs."""

    def __init__(self, context: WorkerContext, intake: LinkIntake) -> None:
        self._policy, self._began = context.assignment.recrawl, context.assignment.started
        self._catalog, self._queues, self._intake = context.catalog, context.queues, intake
        self._pending, self._counters = context.pending, context.counters
        self._place = _START  # due time, interval and URL of the last URL scanned
        self._uncommitted: set[str] = set()  # queued URLs whose revisit is not yet committed
        self.due = math.inf if self._policy.new_only else -math.inf  # the next known time at which a URL is due

    def queue_due(self, now: float) -> None:
        """Queue some of the URLs that are due."""
        if not self.has_due(now) or len(self._uncommitted) >= _MAX_UNCOMMITTED:
            return
        horizon = self._horizon(now)
        found = self._catalog.due_again(horizon, self._place, _AT_ONCE)
        for revisit in found:
            if self._is_wanted(revisit):
                self._queue(revisit)
        if len(found) == _AT_ONCE:
            last = found[-1].item
            self._place = last.due, last.interval, last.url
        else:
            self._place = horizon, math.inf, ""
            due = self._catalog.next_due_again(horizon) if self._policy.continuous else None
            self.due = math.inf if due is None else due

    def has_due(self, now: float) -> bool:
        """Whether a URL is due that was not scanned."""
        return self.due <= self._horizon(now)

    def restart(self) -> None:
        """Scan from the beginning: this worker was given domains that it had skipped."""
        if not self._policy.new_only:
            self._place, self.due = _START, -math.inf

    def committed(self, batch: Batch) -> None:
        """A commit is durable: the catalog no longer lists its revisits as due, and lists the new due times."""
        self._uncommitted.difference_update([revisit.item.url for revisit in batch.revisits])
        if self._policy.new_only:
            return
        if self._policy.continuous:
            dates = [settled.item.due for settled in batch.settled if settled.state is not UrlState.QUEUED]
            dates += [notice.changed for notice in batch.notices]
        else:
            dates = [notice.changed for notice in batch.notices if notice.changed <= self._began]
        first = min(dates, default=math.inf)
        if first <= self._place[0]:
            self._place = first, -1.0, ""
        self.due = min(self.due, first)

    def _horizon(self, now: float) -> float:
        """The latest due time that counts; unless continuous, URLs that become due later wait for the next crawl."""
        return now if self._policy.continuous else self._began

    def _is_wanted(self, revisit: Revisit) -> bool:
        item, only = revisit.item, self._policy.only
        return (
            (only is None or class_of(item.interval) is only)
            and item.url not in self._uncommitted
            and self._intake.owns(item.url)
            and self._is_admitted(item)
        )

    def _is_admitted(self, item: QueuedUrl) -> bool:
        decision = self._intake.recheck(item)
        return decision is None or decision.verdict is Verdict.DELAYED

    def _queue(self, revisit: Revisit) -> None:
        item = revisit.item._replace(due=0.0, priority=revisit_priority(revisit.item))
        self._uncommitted.add(item.url)
        self._pending.batch.revisits.append(Revisit(item, revisit.state))
        self._queues.add(item)
        self._counters.revisits += 1
