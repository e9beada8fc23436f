"""Which pages are due again, and is it for this worker to ask?

The catalog keeps what stands in no queue in the order in which it becomes due. Every worker goes along that order in
small steps and queues again what is its own; it never goes back, unless something behind it has become due since.
"""

from __future__ import annotations

import math

from periplus.crawl.assignment import RecrawlPolicy
from periplus.crawl.link_intake import LinkIntake
from periplus.frontier.queues import Queues
from periplus.frontier.schedule import class_of, revisit_priority
from periplus.model import QueuedUrl, UrlState, Verdict
from periplus.store.batch import Batch, PendingBatch, Revisit
from periplus.store.catalog import Catalog
from periplus.store.run_summary import RunCounters

_AT_ONCE = 250  # URLs looked at in one step
_UNWRITTEN = 1_000  # revisits that may wait for a commit
_START = (-math.inf, 0.0, "")


class Revisits:
    """One worker's way along what is due."""

    def __init__(
        self,
        agenda: RecrawlPolicy,
        began: float,
        *,
        catalog: Catalog,
        queues: Queues,
        paths: LinkIntake,
        log: PendingBatch,
        tally: RunCounters,
    ) -> None:
        self._agenda, self._began = agenda, began
        self._catalog, self._queues, self._paths, self._log, self._tally = catalog, queues, paths, log, tally
        self._place = _START  # due time, interval and URL of the last one looked at
        self._unwritten: set[str] = set()  # queued again, but not yet on disk
        self.due = math.inf if agenda.new_only else -math.inf  # when there is something to look at, as far as is known

    def bring_back(self, now: float) -> None:
        """Queue again some of what is due."""
        if not self.is_behind(now) or len(self._unwritten) >= _UNWRITTEN:
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
            due = self._catalog.next_due_again(horizon) if self._agenda.continuous else None
            self.due = math.inf if due is None else due

    def is_behind(self, now: float) -> bool:
        """Whether there is something due that was not looked at."""
        return self.due <= self._horizon(now)

    def start_over(self) -> None:
        """Domains of another worker have become ours, and with them what was due there."""
        if not self._agenda.new_only:
            self._place, self.due = _START, -math.inf

    def committed(self, batch: Batch) -> None:
        """A commit is durable: what it queued again is found in no other place, and some of its URLs are due later."""
        self._unwritten.difference_update([revisit.item.url for revisit in batch.revisits])
        if self._agenda.new_only:
            return
        if self._agenda.continuous:
            dates = [settled.item.due for settled in batch.settled if settled.state is not UrlState.QUEUED]
            dates += [notice.changed for notice in batch.notices]
        else:
            dates = [notice.changed for notice in batch.notices if notice.changed <= self._began]
        first = min(dates, default=math.inf)
        if first <= self._place[0]:
            self._place = first, -1.0, ""
        self.due = min(self.due, first)

    def _horizon(self, now: float) -> float:
        """What becomes due while a crawl runs is for the next one, or it might never end."""
        return now if self._agenda.continuous else self._began

    def _is_wanted(self, revisit: Revisit) -> bool:
        item, only = revisit.item, self._agenda.only
        return (
            (only is None or class_of(item.interval) is only)
            and item.url not in self._unwritten
            and self._paths.owns(item.url)
            and self._is_admitted(item)
        )

    def _is_admitted(self, item: QueuedUrl) -> bool:
        decision = self._paths.recheck(item)
        return decision is None or decision.verdict is Verdict.DELAYED

    def _queue(self, revisit: Revisit) -> None:
        item = revisit.item._replace(due=0.0, priority=revisit_priority(revisit.item))
        self._unwritten.add(item.url)
        self._log.batch.revisits.append(Revisit(item, revisit.state))
        self._queues.add(item)
        self._tally.revisits += 1
