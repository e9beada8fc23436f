"""What does this worker give to the others, and what does it take from them?

Links into a domain of another worker travel as letters, in the transaction that acknowledges the page they are on. A
worker with time to spare, or with far less to do, is given a share of the domains of a worker without.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass

from periplus.crawl.link_intake import LinkIntake
from periplus.crawl.ownership import Leases, Ownership, share_of, share_to_give
from periplus.crawl.politeness import PolitenessClock
from periplus.crawl.revisits import Revisits
from periplus.crawl.shared_state import Metric, SharedState
from periplus.fetch.client import Fetcher
from periplus.frontier.admission import Admission
from periplus.frontier.queues import Queues
from periplus.store.batch import Batch, PendingBatch
from periplus.store.catalog import Catalog
from periplus.store.run_summary import StepTimes
from periplus.url import host_of

_LETTERS_AT_ONCE = 2_000
_MEASURED_OVER = 0.1  # seconds
_HUNGRY, _LOADED = 0.5, 0.1  # of its time a worker is idle at least, at most
_FAR_LESS = 0.5  # of what waits here, at most
_NEXT_GIFT = 0.3  # seconds, in which the figures of both have come to show the last one
_SEARCHING = 0.02  # of its time a worker may search its queues for something to give


@dataclass(slots=True)
class _Departure:
    """A share on its way out: withdrawn, then written down, then given."""

    receiver: int
    hosts: list[str]
    commit: int | None = None  # the first commit that holds all there is to know about it


class Handover:
    """One worker's dealings with the other workers of its crawl."""

    def __init__(
        self,
        board: SharedState,
        worker: int,
        *,
        territory: Ownership,
        catalog: Catalog,
        admission: Admission,
        queues: Queues,
        politeness: PolitenessClock,
        paths: LinkIntake,
        log: PendingBatch,
        revisits: Revisits,
        fetcher: Fetcher,
        loans: Leases,
        timing: StepTimes,
    ) -> None:
        self._board, self._worker, self._territory, self._catalog = board, worker, territory, catalog
        self._admission, self._queues, self._politeness = admission, queues, politeness
        self._paths, self._log, self._revisits = paths, log, revisits
        self._last_letter = 0
        self._unwritten: set[int] = set()  # letters that were read and are not yet crossed out on disk
        # Counted on from where the worker before stopped, should this one have taken its place.
        self._posted, self._seeds = board.told(worker, Metric.LETTERS), board.told(worker, Metric.SEEDS)
        self._heard = (-1, -1)  # letters and seeds of all workers, when they were last read
        self._departure: _Departure | None = None
        self._commits = 0
        self._fetcher, self._loans, self._timing = fetcher, loans, timing
        self._measured = (0.0, 0.0)  # when, and how long it had been idle by then
        self._idleness = 0.5
        self._next_offer = 0.0

    def attend(self, now: float) -> None:
        """Take over what has become ours, read letters, give away what another could do sooner."""
        if arrivals := self._territory.arrivals():
            self._take_over(arrivals, now)
        news = (self._board.total(Metric.LETTERS), self._board.total(Metric.SEEDS))
        if news != self._heard:
            self._widen_scope(news[1])
            self._read_letters()
            self._heard = news
        if not self._territory.is_alone:
            self._loans.attend()
            self._measure(now)
            self._share(now)

    def committed(self, batch: Batch) -> None:
        """A commit is durable: letters in it can be read by others, letters crossed out in it are gone."""
        self._commits += 1
        self._unwritten.difference_update(batch.received)
        self._posted += len(batch.forwarded)
        self._seeds += len(batch.seeds)
        self._board.tell(self._worker, Metric.LETTERS, self._posted)
        self._board.tell(self._worker, Metric.SEEDS, self._seeds)

    @property
    def shares(self) -> int:
        """How many shares of the web are known to be this worker's."""
        return len(self._territory)

    @property
    def is_parting(self) -> bool:
        """Whether a share is on its way out."""
        return self._departure is not None

    # -- letters ------------------------------------------------------------------------------------------------

    def _read_letters(self) -> None:
        while letters := self._catalog.forwarded_urls(self._last_letter, _LETTERS_AT_ONCE):
            for letter_id, letter in letters:
                mine = self._territory.is_alone or self._territory.owns_share(letter.share)
                if mine and letter_id not in self._unwritten:
                    self._unwritten.add(letter_id)
                    self._paths.receive(letter_id, letter)
            self._last_letter = letters[-1][0]

    def _widen_scope(self, seeds: int) -> None:
        """The address a seed redirects to belongs to the scope of every worker."""
        if seeds != self._heard[1] and not self._territory.is_alone:
            for seed in self._catalog.seeds():
                self._admission.scope.add_seed_host(host_of(seed))

    # -- shares -------------------------------------------------------------------------------------------------

    def _take_over(self, shares: set[int], now: float) -> None:
        """Read from disk all there is to know about shares that have become ours."""
        self._admission.catch_up(self._catalog)
        alone, known = self._territory.is_alone, self._catalog.patterns()
        self._admission.traps.load(pattern for pattern in known if alone or share_of(pattern.host) in shares)
        self._last_letter = 0
        self._heard = (-1, self._heard[1])
        self._revisits.start_over()
        for policy in self._catalog.waiting_hosts():
            if self._territory.is_alone or share_of(policy.host) in shares:
                rest = self._politeness.recall(policy, now)
                self._queues.load([rest.policy])
                if rest.parked:
                    self._queues.release(policy.host, rest.ready, parked=rest.parked)

    def _measure(self, now: float) -> None:
        """How much of its time this worker has been idle of late."""
        since, idle_then = self._measured
        if not since:
            self._next_offer = now + _NEXT_GIFT  # the others have told how they are by then
        if now - since >= _MEASURED_OVER:
            idle = self._timing.idle_until(now)
            self._idleness = (idle - idle_then) / (now - since)
            self._measured = now, idle
            self._board.tell(self._worker, Metric.HUNGRY, int(self._idleness > _HUNGRY))
            self._board.tell(self._worker, Metric.BACKLOG, self._queues.backlog)

    def _share(self, now: float) -> None:
        departure = self._departure
        if departure is None:
            if now >= self._next_offer and self._idleness <= _LOADED:
                self._offer(now)
        elif departure.commit is None:
            if not self._queues.is_busy(departure.hosts):
                departure.commit = self._log.cuts + bool(self._log.batch)
        elif self._commits >= departure.commit:
            self._part(departure, now)

    def _offer(self, now: float) -> None:
        """Give a share to the worker with the least to do, if that is far less than here.

        What its pages say of a host with traps is in nobody else's memory; such hosts count for nothing.
        """
        receiver, load = self._least_laden()
        if load > self._queues.backlog * _FAR_LESS:
            return
        began = time.perf_counter()
        waiting: Counter[int] = Counter()
        for host, urls in self._queues.waiting():
            if not self._admission.traps.has_suspects(host):
                waiting[share_of(host)] += urls
        share = share_to_give(waiting, load)
        if share is None:
            self._next_offer = now + (time.perf_counter() - began) / _SEARCHING
            return
        self._territory.leaving = share
        hosts = self._queues.withdraw(lambda host: share_of(host) == share)
        self._departure, self._next_offer = _Departure(receiver, hosts), now + _NEXT_GIFT
        self._board.tell(receiver, Metric.HUNGRY, 0)

    def _least_laden(self) -> tuple[int, int]:
        """Another worker, and how much waits there; nothing to speak of, if it has time to spare."""
        backlogs, hungry = self._board.all(Metric.BACKLOG), self._board.all(Metric.HUNGRY)
        others = [worker for worker in range(self._board.workers) if worker != self._worker]
        load, worker = min((0 if hungry[worker] else backlogs[worker], worker) for worker in others)
        return worker, load

    def _part(self, departure: _Departure, now: float) -> None:
        assert self._territory.leaving is not None
        self._loans.end_for(self._territory.leaving, now)
        self._fetcher.disconnect(departure.hosts)
        self._queues.drop(departure.hosts)
        self._politeness.forget(departure.hosts)
        self._admission.traps.forget(departure.hosts)
        self._territory.give(departure.receiver)
        self._departure = None
