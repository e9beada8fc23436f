"""Exchanges URLs and shares with the other workers of a crawl.

A worker forwards links into another worker's domains, in the transaction that acknowledges the page they are on:
`Inbox` reads them. A worker that is idle, or has far less queued, is given shares of a busy worker: `Handover`.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass

from periplus.crawl.assignment import WorkerContext
from periplus.crawl.link_intake import LinkIntake
from periplus.crawl.ownership import Leases, Ownership, share_to_give
from periplus.crawl.politeness import PolitenessClock
from periplus.crawl.revisits import Revisits
from periplus.crawl.shared_state import Metric
from periplus.frontier.admission import Admission
from periplus.frontier.shares import share_of
from periplus.store.batch import Batch
from periplus.url import host_of

_URLS_AT_ONCE = 2_000  # forwarded URLs read from the catalog in one query
_MEASURE_EVERY = 0.1  # seconds
_UNDERLOADED, _LOADED = 0.5, 0.1  # idle part of its time: from here on underloaded, up to here loaded
_FAR_LESS = 0.5  # of the URLs queued here; a worker with more is given nothing
_OFFER_EVERY = 0.3  # seconds, after which the metrics of both workers include the last share
_SEARCH_PART = 0.02  # of its time a worker may search its queues for a share to give


class Inbox:
    """Reads the URLs that other workers forwarded to this one, and publishes how many it has forwarded."""

    def __init__(self, context: WorkerContext, ownership: Ownership, admission: Admission, intake: LinkIntake) -> None:
        self._worker, self._shared, self._catalog = context.number, context.shared, context.catalog
        self._ownership, self._admission, self._intake = ownership, admission, intake
        self._last_read = 0  # id of the last forwarded URL
        self._uncommitted: set[int] = set()  # ids that were read and are not yet removed from the catalog
        # A replacement continues the counts of the worker before it.
        self._forwarded = self._shared.get(self._worker, Metric.FORWARDED)
        self._seeds = self._shared.get(self._worker, Metric.SEEDS)
        self._seen = (-1, -1)  # forwarded URLs and seeds of all workers at the last look

    def read_new(self) -> None:
        """Admit the URLs that were forwarded to this worker since the last call."""
        totals = (self._shared.total(Metric.FORWARDED), self._shared.total(Metric.SEEDS))
        if totals != self._seen:
            self._add_seed_hosts(totals[1])
            self._read()
            self._seen = totals

    def read_named(self) -> None:
        """Admit the URLs that the user has named meanwhile; other workers read them by themselves."""
        self._read()

    def reread(self) -> None:
        """Read from the beginning at the next call: forwarded URLs of newly owned shares were skipped before."""
        self._last_read = 0
        self._seen = (-1, self._seen[1])

    def committed(self, batch: Batch) -> None:
        """A commit is durable: others can read the URLs that it forwards, and those it received are removed."""
        self._uncommitted.difference_update(batch.received)
        self._forwarded += len(batch.forwarded)
        self._seeds += len(batch.seeds)
        self._shared.set(self._worker, Metric.FORWARDED, self._forwarded)
        self._shared.set(self._worker, Metric.SEEDS, self._seeds)

    def _read(self) -> None:
        while found := self._catalog.forwarded_urls(self._last_read, _URLS_AT_ONCE):
            for number, forwarded in found:
                mine = self._ownership.is_sole_worker or self._ownership.owns_share(forwarded.share)
                if mine and number not in self._uncommitted:
                    self._uncommitted.add(number)
                    self._intake.receive(number, forwarded)
            self._last_read = found[-1][0]

    def _add_seed_hosts(self, seeds: int) -> None:
        """Add the hosts that seeds of other workers redirected to: they belong to the scope of every worker."""
        if seeds != self._seen[1] and not self._ownership.is_sole_worker:
            for seed in self._catalog.seeds():
                self._admission.scope.add_seed_host(host_of(seed))


@dataclass(slots=True)
class _Departure:
    """A share that is being handed over: withdrawn from the queues, then committed, then given."""

    receiver: int
    hosts: list[str]
    commit: int | None = None  # number of the first commit that includes the whole state of the share


class Handover:
    """Loads the shares that this worker is given, and gives shares to workers with less to do."""

    def __init__(
        self,
        context: WorkerContext,
        ownership: Ownership,
        inbox: Inbox,
        *,
        admission: Admission,
        politeness: PolitenessClock,
        revisits: Revisits,
        leases: Leases,
    ) -> None:
        self._ownership, self._inbox = ownership, inbox
        self._worker, self._shared, self._catalog = context.number, context.shared, context.catalog
        self._queues, self._pending, self._timing = context.queues, context.pending, context.counters.timing
        self._admission, self._politeness, self._revisits = admission, politeness, revisits
        self._leases = leases
        self._departure: _Departure | None = None
        self._commits = 0
        self._measured = (0.0, 0.0)  # time of the last measurement, and idle seconds until then
        self._idle_part = 0.5
        self._next_offer = 0.0

    def update(self, now: float) -> None:
        """Load newly owned shares, admit forwarded URLs, and give a share to a worker with less to do."""
        if shares := self._ownership.newly_owned():
            self._load_shares(shares, now)
        self._inbox.read_new()
        if not self._ownership.is_sole_worker:
            self._leases.close_leased_connections()
            self._measure(now)
            self._hand_over(now)

    def committed(self, batch: Batch) -> None:
        """A commit is durable."""
        self._commits += 1
        self._inbox.committed(batch)

    @property
    def shares(self) -> int:
        """How many shares this worker owns and has loaded."""
        return len(self._ownership)

    @property
    def is_handing_over(self) -> bool:
        """Whether a share is on its way to another worker."""
        return self._departure is not None

    def _load_shares(self, shares: set[int], now: float) -> None:
        """Load the state of newly owned shares from disk."""
        self._admission.catch_up(self._catalog)
        sole, known = self._ownership.is_sole_worker, self._catalog.patterns()
        self._admission.traps.load(pattern for pattern in known if sole or share_of(pattern.host) in shares)
        self._inbox.reread()
        self._revisits.restart()
        for policy in self._catalog.waiting_hosts():
            if sole or share_of(policy.host) in shares:
                pause = self._politeness.recall(policy, now)
                self._queues.load([pause.policy])
                if pause.parked:
                    self._queues.release(policy.host, pause.ready, parked=pause.parked)

    def _measure(self, now: float) -> None:
        """Publish the load of this worker, and which part of its time it has been idle."""
        since, idle_then = self._measured
        if not since:
            self._next_offer = now + _OFFER_EVERY  # by then the other workers have published their load
        if now - since >= _MEASURE_EVERY:
            idle = self._timing.idle_until(now)
            self._idle_part = (idle - idle_then) / (now - since)
            self._measured = now, idle
            self._shared.set(self._worker, Metric.UNDERLOADED, int(self._idle_part > _UNDERLOADED))
            self._shared.set(self._worker, Metric.BACKLOG, self._queues.backlog)

    def _hand_over(self, now: float) -> None:
        departure = self._departure
        if departure is None:
            if now >= self._next_offer and self._idle_part <= _LOADED:
                self._offer(now)
        elif departure.commit is None:
            if not self._queues.is_busy(departure.hosts):
                departure.commit = self._pending.cuts + bool(self._pending.batch)
        elif self._commits >= departure.commit:
            self._give(departure, now)

    def _offer(self, now: float) -> None:
        """Withdraw a share for the worker with the least to do, if that is far less than here.

        Hosts with traps do not count: what this worker has learned from their pages is in its memory only.
        """
        receiver, load = self._least_loaded()
        if load > self._queues.backlog * _FAR_LESS:
            return
        began = time.perf_counter()
        waiting: Counter[int] = Counter()
        for host, urls in self._queues.waiting():
            if not self._admission.traps.has_suspects(host):
                waiting[share_of(host)] += urls
        share = share_to_give(waiting, load)
        if share is None:
            self._next_offer = now + (time.perf_counter() - began) / _SEARCH_PART
            return
        self._ownership.leaving = share
        hosts = self._queues.withdraw(lambda host: share_of(host) == share)
        self._departure, self._next_offer = _Departure(receiver, hosts), now + _OFFER_EVERY
        self._shared.set(receiver, Metric.UNDERLOADED, 0)

    def _least_loaded(self) -> tuple[int, int]:
        """The other worker with the fewest queued URLs, and their number; an underloaded worker counts as 0."""
        backlogs, underloaded = self._shared.all(Metric.BACKLOG), self._shared.all(Metric.UNDERLOADED)
        others = [worker for worker in range(self._shared.workers) if worker != self._worker]
        load, worker = min((0 if underloaded[worker] else backlogs[worker], worker) for worker in others)
        return worker, load

    def _give(self, departure: _Departure, now: float) -> None:
        assert self._ownership.leaving is not None
        self._leases.leave_share(self._ownership.leaving, departure.hosts, now)
        self._queues.drop(departure.hosts)
        self._politeness.forget(departure.hosts)
        self._admission.traps.forget(departure.hosts)
        self._ownership.hand_over(departure.receiver)
        self._departure = None
