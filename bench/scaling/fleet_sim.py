"""Simulates crawl workers, their leases and their database in steps of time.

Every worker owns the hosts of its shares; the first one owns all hosts until the others have received theirs. A worker
takes pages of hosts whose delay is over, spends its CPU time on them, and commits them in batches. The database spends
CPU time on batches and on the exchanges that renew leases. On one machine, workers, database and web server share the
cores; in a fleet every worker and the database have their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from periplus.store.shares import SHARES

BATCH_PAGES, BATCH_SECONDS = 256, 1.0  # `store.commit_pages`, `store.commit_seconds`
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Costs:
    """Unit costs; CPU times in seconds."""

    page: float  # of a worker, for one page
    commit: float  # of the database, for one page with its new URLs
    web: float = 0.0  # of a web server on the same machine, for one page
    start: float = 0.0  # of a worker, before its first page
    commit_start: float = 0.0  # of the database, for one start
    forward: float = 0.0  # of the database, for a link to a host of another worker
    idle: float = 0.0  # of a worker, in every second
    exchange: float = 0.0  # of the database, for a worker in every second: its lease and its transactions


@dataclass(frozen=True)
class Setup:
    """A fleet and its web."""

    workers: int
    shared_cores: float = 0.0  # cores of the one machine that has everything; 0: every worker has a core of its own
    database_cores: float = 1.0  # that the database can use; on one machine, a part of the shared ones
    delay: float = 0.0  # seconds between two requests to a host
    response: float = 0.005  # seconds of a request
    concurrency: int = 64  # requests of a worker under way: `fetch.concurrency`
    foreign_links: float = 0.0  # links of a page to other hosts
    page_rate: float = np.inf  # pages a second of a worker that its network link allows
    death_rate: float = 0.0  # deaths of a worker per second
    lease: float = 20.0  # seconds: `fleet.lease_seconds`
    handover: float = 0.0  # seconds in which the first worker owns all hosts, before the others have their shares


@dataclass(frozen=True)
class Outcome:
    """What a simulation showed."""

    pages: int
    seconds: float  # from the first page to the last
    worker_busy: float  # share of the CPU time that the workers could use
    database_busy: float  # share of `database_cores`
    lease_busy: float  # the part of it that exchanges of leases took
    polite_share: float  # of the time of workers, in which no host of theirs was ready

    @property
    def pages_per_second(self) -> float:
        """Pages a second."""
        return self.pages / self.seconds


class FleetSimulation:
    """One crawl; `run` plays it."""

    def __init__(self, setup: Setup, costs: Costs, sizes: Numbers, seed: int) -> None:
        """*sizes*: pages of every host."""
        self._setup, self._costs, self._random = setup, costs, np.random.default_rng(seed)
        shares = self._random.integers(0, SHARES, len(sizes))
        order = np.argsort(shares % setup.workers, kind="stable")
        self._owner, self._left = (shares % setup.workers)[order], sizes[order].astype(np.int64)
        self._first = np.searchsorted(self._owner, np.arange(setup.workers))
        self._handed_over = 0.0
        if setup.handover and setup.workers > 1:
            self._handed_over = np.inf  # until the first page
            self._final = self._owner, self._first
            self._owner, self._first = np.zeros_like(self._owner), np.minimum(np.arange(setup.workers), 1) * len(sizes)
        self._ready_at = np.zeros(len(sizes))
        zeros = np.zeros(setup.workers)
        self._start, self._work, self._credit = zeros + costs.start, zeros.copy(), zeros.copy()
        self._open, self._since, self._dead_until = zeros.copy(), zeros.copy(), zeros.copy()
        self._pages, self._first_page, self._last_page = 0, -1.0, 0.0
        self._spent = {"worker": 0.0, "database": 0.0, "lease": 0.0, "polite": 0.0}

    def run(self, step: float, longest: float, warm_up: float = 0.0) -> Outcome:
        """Play until every page is committed, or for *longest* seconds; pages of the *warm_up* are not counted."""
        setup, now = self._setup, 0.0
        commits = self._costs.commit_start * setup.workers  # CPU seconds that wait for the database
        while now < longest and (self._left.any() or self._open.any() or commits > 0):
            now += step
            if now <= warm_up:
                self._pages, self._first_page = 0, -1.0
            commits += self._lease(step)
            workers, database = self._cores(commits, step)
            done = min(commits, database * step)
            commits -= done
            self._spent["database"] += done
            self._fetch(now, step, workers)
            commits += self._commit(now) * (self._costs.commit + self._forwarded() * self._costs.forward)
        span = max(self._last_page - max(self._first_page, 0.0), step)
        available = setup.shared_cores or setup.workers
        return Outcome(
            self._pages,
            span,
            self._spent["worker"] / (now * available),
            self._spent["database"] / (now * setup.database_cores),
            self._spent["lease"] / (now * setup.database_cores),
            self._spent["polite"] / (now * setup.workers),
        )

    def _forwarded(self) -> float:
        """Links of a page to hosts of other workers."""
        return self._setup.foreign_links * (1 - 1 / self._setup.workers)

    def _lease(self, step: float) -> float:
        """CPU seconds that the exchanges of a step cost the database."""
        spent = self._setup.workers * step * self._costs.exchange
        self._spent["lease"] += spent
        return spent

    def _cores(self, commits: float, step: float) -> tuple[float, float]:
        """Cores that a worker and the database get: processes on one machine share its cores fairly.

        A worker waits when a batch is full and the one before it is not committed yet, so the database is at most two
        batches a worker behind.
        """
        setup = self._setup
        database = min(setup.database_cores, commits / step)
        if commits > 2 * setup.workers * BATCH_PAGES * self._costs.commit:
            return 0.0, min(database, setup.shared_cores or database)
        if not setup.shared_cores:
            return 1.0, database
        active = float(np.count_nonzero((self._start > 0) | (self._pending() > 0)))
        web = self._costs.web / self._costs.page * active  # as fast as the workers
        part = min(1.0, setup.shared_cores / max(active + web + database, 1e-9))
        return part, database * part

    def _pending(self) -> Numbers:
        """Pages that are left, by worker."""
        return np.bincount(self._owner, self._left, self._setup.workers).astype(np.int64)

    def _fetch(self, now: float, step: float, cores: float) -> None:
        """Let every worker start, or take as many pages as its CPU time, its network and its hosts allow."""
        setup, costs = self._setup, self._costs
        if self._handed_over and now >= self._handed_over:
            (self._owner, self._first), self._handed_over = self._final, 0.0
        if setup.death_rate:
            dies = self._random.random(setup.workers) < setup.death_rate * step
            self._dead_until[dies] = now + setup.lease
        alive = self._dead_until <= now
        budget = np.where(alive, max(cores - costs.idle, 0.0) * step, 0.0)
        starting = np.minimum(self._start, budget)
        self._start -= starting
        most = min(setup.page_rate * step, setup.concurrency * step / setup.response)
        self._credit = np.minimum(self._credit + (budget - starting) / costs.page, most + 1)
        taken = self._take(now, step, np.floor(self._credit).astype(np.int64))
        self._credit -= taken
        self._spent["worker"] += float(starting.sum() + taken.sum() * costs.page)
        self._spent["polite"] += step * np.count_nonzero(alive & (self._credit >= 1) & (self._start <= 0))
        self._open += taken
        if taken.any():
            if self._first_page < 0:
                self._first_page = now
                self._handed_over = min(self._handed_over, now + setup.handover)
            self._last_page, self._pages = now, self._pages + int(taken.sum())

    def _take(self, now: float, step: float, quota: Numbers) -> Numbers:
        """Take pages of hosts that are ready, at most *quota* for each worker; returns their number."""
        setup = self._setup
        pace = setup.delay + setup.response
        each = max(int(step / pace), 1)  # pages of a host in a step
        amounts = np.where(self._ready_at <= now, np.minimum(self._left, each), 0)
        before = np.cumsum(amounts) - amounts
        before -= before[np.minimum(self._first, len(amounts) - 1)][self._owner]
        amounts = np.clip(quota[self._owner] - before, 0, amounts)
        self._left -= amounts
        self._ready_at[amounts > 0] = now + max(pace - step, 0.0)
        return np.bincount(self._owner, amounts, setup.workers).astype(np.int64)

    def _commit(self, now: float) -> float:
        """Pages of the batches that are full or old enough."""
        due = (self._open >= BATCH_PAGES) | ((self._open > 0) & (now - self._since >= BATCH_SECONDS))
        pages = float(self._open[due].sum())
        self._open[due], self._since[due] = 0.0, now
        self._since[self._open == 0] = now
        return pages
