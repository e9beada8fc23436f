"""What does this worker report about itself while it crawls?

The report is a row of the catalog, so that other processes can show it. It is written together with a commit where one
is due anyway, otherwise by itself. Worker 0 also writes a sample of the whole crawl every few seconds, for charts.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from periplus.crawl.assignment import WorkerContext
from periplus.crawl.memory import resident_bytes
from periplus.crawl.visit_steps import Step
from periplus.crawl.visits.politeness import PolitenessClock
from periplus.store.catalog.live_state import LiveState, Publication, Role, WorkerRow
from periplus.url import host_of

_WITH_COMMIT = 0.5  # seconds since the last report, after which a commit takes a report along
_ALONE = 1.5  # seconds, after which a busy worker writes its report by itself
_IDLE = 3.0  # the same, for a worker with nothing to do
_SAMPLE_EVERY = 5.0  # seconds
_RATE_SECONDS = 10.0  # window of the current rate
_MAX_VISITS = 64
_MAX_WAITING = 16  # of them, URLs that wait for a delay or for the disk


@dataclass(frozen=True, slots=True)
class WorkerState:
    """What the loop of a worker knows for its report."""

    state: str  # running, idle, paused or draining
    commanded: int  # the last command that was carried out
    under_way: int  # requests


class LiveReport:
    """Builds the row of one worker, and says when it should be written."""

    def __init__(
        self,
        context: WorkerContext,
        live: LiveState,
        politeness: PolitenessClock,
        request_step: Callable[[str], Step],
    ) -> None:
        """*request_step* says whether the request to a host looks up its name, connects or fetches."""
        self._context, self._live, self._politeness, self._request_step = context, live, politeness, request_step
        self._node, self._started = context.assignment.collection.node, time.time()
        self._written = self._sampled = -1e9  # monotonic seconds of the last report and the last sample
        self._earliest = 0.0  # no report before this time
        self._fetched: deque[tuple[float, int]] = deque()
        self._last: WorkerState | None = None  # in the last report
        self.committed = 0.0  # time of the last commit

    def is_early(self, commanded: int) -> bool:
        """Whether no report can be due yet; quick, because every step of a worker asks."""
        return time.monotonic() < self._earliest and self._last is not None and commanded == self._last.commanded

    def is_due(self, state: WorkerState, *, with_commit: bool = False) -> bool:
        """Whether to write a report now; a command that was carried out is reported at once."""
        if self._last is None or state.commanded != self._last.commanded:
            return True
        is_idle = state == self._last and state.state != "running"
        patience = _WITH_COMMIT if with_commit else _IDLE if is_idle else _ALONE
        return time.monotonic() - self._written >= patience

    def write(self, state: WorkerState) -> Publication:
        """Build the report; the caller writes it."""
        now = time.monotonic()
        self._written, self._earliest, self._last = now, now + _WITH_COMMIT, state
        number = self._context.number
        figures = self._figures(state)
        row = WorkerRow(
            self._node,
            Role.CRAWL,
            number,
            os.getpid(),
            self._started,
            time.time(),
            state.state,
            state.commanded,
            figures,
        )
        if number or now - self._sampled < _SAMPLE_EVERY:
            return Publication(row)
        self._sampled = now
        return Publication(row, self._sample(row))

    def _figures(self, state: WorkerState) -> dict[str, Any]:
        counters, queues = self._context.counters, self._context.queues
        return {
            "run_id": counters.run_id,
            "fetched": counters.fetched,
            "bytes": counters.bytes,
            "html": counters.html,
            "pdf": counters.pdf,
            "other": counters.fetched - counters.html - counters.pdf,
            "errors": {kind: number for kind, number in counters.errors.items() if number},
            "under_way": state.under_way,
            "buffered": queues.buffered,
            "hosts": len(queues),
            "pages_per_second": round(self._rate(counters.fetched), 2),
            "memory_bytes": resident_bytes(os.getpid()),
            "committed": self.committed,
            "visits": [
                {"url": url, "step": step, "seconds": round(max(seconds, 0.0), 3)}
                for url, step, seconds in self._visits()
            ][:_MAX_VISITS],
        }

    def _rate(self, fetched: int) -> float:
        """Pages per second over the last 10 seconds."""
        now = time.monotonic()
        self._fetched.append((now, fetched))
        while len(self._fetched) > 2 and now - self._fetched[0][0] > _RATE_SECONDS:
            self._fetched.popleft()
        since, before = self._fetched[0]
        return (fetched - before) / (now - since) if now > since else 0.0

    def _visits(self) -> Iterator[tuple[str, Step, float]]:
        """The visits under way, then URLs that wait for the delay of their host, then pages that wait for the disk."""
        context, now = self._context, self._context.clock.now()
        for url, step, since in context.steps:
            yield url, self._request_step(host_of(url)) if step is Step.FETCH else step, now - since
        for item in context.queues.waiting_urls(now, _MAX_WAITING):
            yield item.url, Step.DELAY, self._politeness.seconds_since_request(item.host, now)
        for entry in context.pending.batch.settled[-_MAX_WAITING:]:
            if entry.fetch is not None:
                yield entry.item.url, Step.STORE, now + context.clock.ahead() - entry.fetch.at

    # -- samples ------------------------------------------------------------------------------------------------

    def _sample(self, own: WorkerRow) -> dict[str, Any]:
        """The sums over all live workers of the crawl, and what the index reports."""
        rows = [row for row in self._live.workers() if not row.is_silent(own.seen)]
        crawl = [own, *(row for row in rows if row.role is Role.CRAWL and not _is_same(row, own))]
        index = next((row.figures for row in rows if row.role is Role.INDEX), {})
        memory = sum(int(row.figures["buffered"]) for row in crawl)
        under_way = sum(int(row.figures["under_way"]) for row in crawl)
        queued = self._context.catalog.counters()["queued"]
        return {
            "pages": sum(int(row.figures["fetched"]) for row in crawl),
            **{name: sum(int(row.figures[name]) for row in crawl) for name in ("bytes", "html", "pdf")},
            "errors": sum(sum(row.figures["errors"].values()) for row in crawl),
            "queued_memory": memory,
            "queued_disk": max(queued - memory - under_way, 0),
            "under_way": under_way,
            "disk_free_bytes": shutil.disk_usage(self._context.assignment.collection.home).free,
            "freshness": index.get("freshness"),
            "documents": index.get("documents"),
            "workers": len(crawl),
        }


def _is_same(row: WorkerRow, other: WorkerRow) -> bool:
    return (row.node, row.number) == (other.node, other.number)
