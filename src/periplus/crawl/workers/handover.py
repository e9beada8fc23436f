"""Exchanges URLs and shares with the other workers of a crawl.

A worker forwards links into another worker's domains, in the transaction that acknowledges the page they are on:
`Inbox` reads them. A worker that is idle, or has far less queued, is given shares of a busy worker: `Handover`.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass

from periplus.crawl.assignment import WorkerContext
from periplus.crawl.coordination.ownership import FAR_LESS, Loans, Ownership, shares_to_give
from periplus.crawl.visits.link_intake import LinkIntake
from periplus.crawl.visits.politeness import PolitenessClock
from periplus.crawl.visits.revisits import Revisits
from periplus.frontier.admission import Admission
from periplus.store.catalog.batch import Batch
from periplus.store.shares import SHARES, share_of
from periplus.url import host_of

_URLS_AT_ONCE = 2_000  # forwarded URLs read from the catalog in one query
_MEASURE_EVERY = 0.1  # seconds
_UNDERLOADED, _LOADED = 0.5, 0.1  # idle part of its time: from here on underloaded, up to here loaded
_OFFER_EVERY = 0.3  # seconds, after which the metrics of both workers include the last share
_JOINING = 3.0  # seconds after which a worker that was given empty shares has published that it has them
_SEARCH_PART = 0.02  # of its time a worker may search its queues for a share to give


class Inbox:
    """Reads the URLs that other workers forwarded to this one, and announces those that it has forwarded."""

    def __init__(self, context: WorkerContext, ownership: Ownership, admission: Admission, intake: LinkIntake) -> None:
        self._coordination, self._catalog = context.coordination, context.catalog
        self._ownership, self._admission, self._intake = ownership, admission, intake
        self._last_read = 0  # id of the last forwarded URL
        self._uncommitted: set[int] = set()  # ids that were read and are not yet removed from the catalog
        self._seen = (-1, -1)  # announced URLs and seeds at the last look

    def read_new(self) -> None:
        """Admit the URLs that were forwarded to this worker since the last call."""
        announced = self._coordination.announced()
        if announced != self._seen:
            self._add_seed_hosts(announced[1])
            self._read()
            self._seen = announced

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
        self._coordination.announce(len(batch.forwarded), len(batch.seeds))

    def _read(self) -> None:
        in_order = self._coordination.commits_in_order
        shares = None if in_order else self._coordination.owned()
        if not in_order:
            self._last_read = 0
        while found := self._catalog.forwarded_urls(self._last_read, _URLS_AT_ONCE, shares):
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
    """Shares that are being handed over: withdrawn from the queues, then committed, then given."""

    receiver: int
    hosts: list[str]
    commit: int | None = None  # number of the first commit that includes the whole state of the shares


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
        loans: Loans,
    ) -> None:
        self._ownership, self._inbox = ownership, inbox
        self._coordination, self._catalog = context.coordination, context.catalog
        self._queues, self._pending, self._timing = context.queues, context.pending, context.counters.timing
        self._admission, self._politeness, self._revisits = admission, politeness, revisits
        self._loans, self._longest_request = loans, context.settings.fetch.timeout
        self._departure: _Departure | None = None
        self._commits = 0
        self._measured = (0.0, 0.0)  # time of the last measurement, and idle seconds until then
        self._idle_part = 0.5
        self._next_offer = 0.0

    def update(self, now: float) -> None:
        """Load newly owned shares, admit forwarded URLs, and give a share to a worker with less to do."""
        if shares := self._ownership.newly_owned():
            self._load_shares(shares, now)
        if ended := self._politeness.ended_inheritances(now):
            self._coordination.clear_inherited(ended)
        self._inbox.read_new()
        if not self._ownership.is_sole_worker:
            self._loans.close_lent_connections()
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

    def _load_shares(self, shares: frozenset[int], now: float) -> None:
        """Load the state of newly owned shares from disk."""
        self._admission.load(self._catalog, None if self._ownership.is_sole_worker else shares)
        sole, known = self._ownership.is_sole_worker, self._catalog.patterns()
        self._admission.traps.load(pattern for pattern in known if sole or share_of(pattern.host) in shares)
        self._inbox.reread()
        self._revisits.restart()
        for share in shares & self._coordination.inherited():
            self._politeness.inherit(share, now + self._longest_request)
        for policy in self._catalog.waiting_hosts(shares):
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
            self._coordination.publish_load(self._queues.backlog, is_underloaded=self._idle_part > _UNDERLOADED)

    def _hand_over(self, now: float) -> None:
        departure = self._departure
        if departure is None:
            if now >= self._next_offer:
                self._next_offer = now + _OFFER_EVERY
                if not self._share_out(now) and self._idle_part <= _LOADED:
                    self._offer(now)
        elif departure.commit is None:
            if not self._queues.is_busy(departure.hosts):
                departure.commit = self._pending.cuts + bool(self._pending.batch)
        elif self._commits >= departure.commit:
            self._give(departure, now)

    def _offer(self, now: float) -> None:
        """Withdraw shares for the worker with the least to do, if that is far less than here.

        An underloaded worker counts as one without queued URLs.
        Hosts with traps do not count: what this worker has learned from their pages is in its memory only.
        """
        peers = [(0 if peer.is_underloaded else peer.backlog, peer.worker) for peer in self._coordination.peers()]
        load, receiver = min(peers, default=(0, None))
        if receiver is None or load > self._queues.backlog * FAR_LESS:
            return
        began = time.perf_counter()
        waiting: Counter[int] = Counter()
        for host, urls in self._queues.waiting():
            if not self._admission.traps.has_suspects(host):
                waiting[share_of(host)] += urls
        shares = shares_to_give(waiting, load)
        if shares:
            self._withdraw(frozenset(shares), receiver)
        else:
            self._next_offer = now + (time.perf_counter() - began) / _SEARCH_PART

    def _share_out(self, now: float) -> bool:
        """Withdraw shares without queued URLs for a worker that has joined; returns whether there were any."""
        peers = self._coordination.peers()
        fair = math.ceil(SHARES / (len(peers) + 1))
        fewest = min(peers, key=lambda peer: peer.shares, default=None)
        excess = len(self._ownership) - fair
        if fewest is None or excess <= 0 or fewest.shares > fair * FAR_LESS:
            return False
        used = {share_of(host) for host in self._queues.names()}
        empty = [share for share in self._ownership if share not in used][: min(excess, fair - fewest.shares)]
        if empty:
            self._withdraw(frozenset(empty), fewest.worker)
            self._next_offer = now + _JOINING
        return bool(empty)

    def _withdraw(self, shares: frozenset[int], receiver: int) -> None:
        self._ownership.leaving = shares
        hosts = self._queues.withdraw(lambda host: share_of(host) in shares)
        self._departure = _Departure(receiver, hosts)
        self._coordination.promise(receiver)

    def _give(self, departure: _Departure, now: float) -> None:
        self._loans.leave_shares(self._ownership.leaving, departure.hosts, now)
        self._queues.drop(departure.hosts)
        self._politeness.forget(departure.hosts)
        self._admission.traps.forget(departure.hosts)
        self._admission.drop(self._ownership.leaving)
        self._ownership.hand_over(departure.receiver)
        self._departure = None
