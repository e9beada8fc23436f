"""The coordination of a worker with all workers of a fleet, through rows of the database.

A thread sends a heartbeat to the database about once a second: it renews the lease, tells what this worker does, and
reads what the others do. The loop of the worker only reads the last answer. The worker may send until the time of the
last renewal plus the lease, by a clock that also counts the time in which the machine was suspended.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from collections.abc import Collection as Many
from dataclasses import replace
from typing import NamedTuple

from periplus.config import Settings
from periplus.crawl.coordination.coordination import Coordination
from periplus.crawl.coordination.local_coordination import LocalCoordination
from periplus.crawl.coordination.shared_state import Metric, SharedState
from periplus.errors import DatabaseUnavailable, LeaseLost
from periplus.store.catalog.catalog import Catalog
from periplus.store.collection import Collection, folder_id
from periplus.store.database.fleet import Fleet, FleetView, Heartbeat, Identity, Peer

logger = logging.getLogger("periplus.crawl")

_LONGEST_INTERVAL = 1.0  # seconds between two heartbeats
_BOOTTIME: int | None = getattr(time, "CLOCK_BOOTTIME", None)  # Linux only; includes the time of suspension


class Target(NamedTuple):
    """How large all nodes together may make the collection; None: there is no limit."""

    pages: int | None = None
    bytes: int | None = None


_NO_TARGET = Target()


def since_boot() -> float:
    """Seconds that never jump, counted also while the machine is suspended where the system can."""
    return time.monotonic() if _BOOTTIME is None else time.clock_gettime(_BOOTTIME)


def coordination_of(
    collection: Collection, settings: Settings, target: Target
) -> Callable[[SharedState, int], Coordination]:
    """What makes a process a worker of a collection, by its number."""
    if not collection.database:
        return LocalCoordination
    folder, lease = folder_id(collection), settings.fleet.lease_seconds  # the workers are not forked yet

    def join(shared: SharedState, number: int) -> Coordination:
        from periplus.store.database.postgres.fleet_rows import FleetRows  # noqa: PLC0415  # an extra

        rows = FleetRows(collection.database, collection.node, folder, lease, since_boot)
        try:
            coordination = FleetCoordination(rows, shared, number, lease, target)
        except BaseException:
            rows.close()
            raise
        coordination.start()
        return coordination

    return join


class FleetCoordination:
    """One worker of a fleet; see `Coordination`."""

    is_sole_worker = False  # another node may join at any time
    commits_in_order = False  # several workers commit at once
    has_lease = True

    def __init__(
        self, fleet: Fleet, shared: SharedState, number: int, lease: float, target: Target = _NO_TARGET
    ) -> None:
        """Join as worker *number* of this node. *shared*: its budget and progress. *lease*: seconds."""
        self._fleet, self._shared, self._number, self._lease = fleet, shared, number, lease
        self._target = target
        self._granted = 0  # pages of the target that the worker has not claimed yet
        self._identity: Identity = fleet.join(number, shared.workers)
        self._commits = self._identity.commits  # transactions of this worker
        self._interval = min(lease / 4, _LONGEST_INTERVAL)
        self.loan_notice = lease + self._interval  # an owner that does not read of the loan stops sending by then
        self._lock = threading.Lock()
        forwarded, seeds = self._identity.announced
        self._heartbeat = Heartbeat(forwarded=forwarded, seeds=seeds)
        self._promised: set[int] = set()
        self._is_lost = False
        self._ended = threading.Event()
        self._deadline, self._read = 0.0, 0.0
        self._connected_since = 0.0
        self._owned: frozenset[int] = frozenset()
        self._view: FleetView | None = None
        self.heartbeat()  # only tells the others: workers that start together first see each other
        self._heartbeat = replace(self._heartbeat, wants_shares=True)
        self._thread = threading.Thread(target=self._heartbeat_loop, name="lease", daemon=True)

    def start(self) -> None:
        """Begin to send heartbeats regularly."""
        self._thread.start()

    # -- the heartbeat --------------------------------------------------------------------------------------------

    def heartbeat(self) -> None:
        """Renew the lease, tell the others, and read what they told; raises `LeaseLost`."""
        with self._lock:
            heartbeat = replace(self._heartbeat, may_revoke_leases=since_boot() - self._connected_since > self._lease)
            self._heartbeat = replace(heartbeat, cleared=frozenset(), share_transfers=(), loans={}, ended_loans={})
        try:
            view = self._fleet.heartbeat(self._identity, heartbeat)
        except LeaseLost:
            self._is_lost = True
            raise
        except BaseException:
            with self._lock:
                self._heartbeat = _with_requests(self._heartbeat, heartbeat)
            raise
        with self._lock:
            self._apply_view(view)

    def _apply_view(self, view: FleetView) -> None:
        if view.asked > self._deadline:  # after an outage the others get the time to renew their leases, too
            self._connected_since = view.asked
        self._view, self._read, self._deadline = view, since_boot(), view.asked + self._lease
        if view.granted:
            self._granted += view.granted
            self._heartbeat = replace(self._heartbeat, claimed=self._heartbeat.claimed + view.granted, target=None)
        leaving = {share for _, shares in self._heartbeat.share_transfers for share in shares}
        owned = view.owned - leaving
        if self._owned - owned:
            self._is_lost = True  # no other worker takes a share from a live worker
        if owned != self._owned:
            self._owned = owned
        self._promised.clear()

    def _heartbeat_loop(self) -> None:
        while not self._ended.wait(self._interval):
            try:
                self.heartbeat()
            except LeaseLost:
                return  # `owned` raises it in the thread that writes
            except DatabaseUnavailable as error:
                logger.warning("the lease could not be renewed: %s", error.sentence)
            except Exception:
                logger.exception("the lease could not be renewed")

    def _update_heartbeat(self, **changes: object) -> None:
        with self._lock:
            self._heartbeat = replace(self._heartbeat, **changes)  # type: ignore[arg-type]

    @property
    def _current(self) -> FleetView:
        assert self._view is not None
        return self._view

    # -- identity -------------------------------------------------------------------------------------------------

    @property
    def worker(self) -> int:
        """The id of this worker in the fleet."""
        return self._identity.worker

    def may_send(self) -> bool:
        """Whether the lease certainly holds at this moment."""
        return since_boot() < self._deadline and not self._is_lost

    def fence(self, catalog: Catalog) -> None:
        """Let every later transaction of a catalog fail when another worker has taken the lease."""
        catalog.fence(self._identity.worker, self._identity.token, self._count_commit)

    def _count_commit(self) -> None:
        self._commits += 1

    def recovers(self, worker: int) -> bool:
        """Whether the archive files of an earlier worker are on this node and continued by this worker."""
        return worker in self._identity.earlier

    def leave(self) -> None:
        """End the lease: all shares of this worker are free."""
        self._stop_thread()
        self._deadline = 0.0
        self._fleet.leave(self._identity)

    def close(self) -> None:
        """End the thread and close the connection."""
        self._stop_thread()
        self._fleet.close()

    def _stop_thread(self) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    # -- ownership of shares --------------------------------------------------------------------------------------

    def owned(self) -> frozenset[int]:
        """The shares of this worker; raises `LeaseLost` when another worker has taken them."""
        if self._is_lost:
            raise LeaseLost(f"worker {self.worker} has lost its lease", "other workers own its hosts now")
        return self._owned

    def inherited(self) -> frozenset[int]:
        """Those of its shares whose last owner died."""
        return self._current.inherited

    def clear_inherited(self, shares: Many[int]) -> None:
        """Tell with the next heartbeat that a later owner of these shares need not wait."""
        with self._lock:
            self._heartbeat = replace(self._heartbeat, cleared=self._heartbeat.cleared.union(shares))

    def give(self, shares: Many[int], receiver: int) -> None:
        """Give shares away with the next heartbeat; from now on they are not of this worker."""
        with self._lock:
            self._owned = self._owned.difference(shares)
            self._heartbeat = replace(
                self._heartbeat, share_transfers=(*self._heartbeat.share_transfers, (receiver, tuple(shares)))
            )

    # -- loans ----------------------------------------------------------------------------------------------------

    @property
    def has_loans(self) -> bool:
        """Whether any share was lent at the last heartbeat."""
        return bool(self._current.loans)

    def borrower(self, share: int) -> int | None:
        """The worker that has borrowed a share."""
        worker, left = self._current.loans.get(share, (None, 0.0))
        return worker if self._still(left) > 0 else None

    def loan_left(self, share: int) -> float:
        """Seconds until this worker's loan of a share expires."""
        worker, left = self._current.loans.get(share, (None, 0.0))
        return max(self._still(left), 0.0) if worker == self.worker else 0.0

    def borrow(self, share: int, seconds: float) -> bool:
        """Whether this worker has borrowed a share; if not, the next heartbeat asks for it."""
        if self.loan_left(share):
            return True
        if self.borrower(share) is None:
            with self._lock:
                self._heartbeat = replace(self._heartbeat, loans={**self._heartbeat.loans, share: seconds})
        return False

    def end_loan(self, share: int, seconds: float) -> None:
        """End this worker's loan with the next heartbeat."""
        with self._lock:
            if share in self._heartbeat.loans:
                loans = {other: left for other, left in self._heartbeat.loans.items() if other != share}
                self._heartbeat = replace(self._heartbeat, loans=loans)
            if share in self._current.loans:
                self._heartbeat = replace(self._heartbeat, ended_loans={**self._heartbeat.ended_loans, share: seconds})

    def remove_expired_loans(self) -> None:
        """Does nothing: every heartbeat does."""

    def _still(self, left: float) -> float:
        """What is left of seconds that the last heartbeat has read."""
        return left - (since_boot() - self._read)

    # -- load of the workers --------------------------------------------------------------------------------------

    def publish_load(self, backlog: int, *, is_underloaded: bool) -> None:
        """Tell how many URLs are queued here."""
        self._update_heartbeat(backlog=backlog, is_underloaded=is_underloaded)

    def peers(self) -> list[Peer]:
        """The other live workers."""
        return [
            one._replace(is_underloaded=one.is_underloaded and one.worker not in self._promised)
            for one in self._current.workers
            if one.worker != self.worker
        ]

    def promise(self, receiver: int) -> None:
        """The receiver counts as loaded until the next heartbeat."""
        self._promised.add(receiver)

    # -- forwarded URLs and seeds ---------------------------------------------------------------------------------

    def announce(self, forwarded: int, seeds: int) -> None:
        """Tell that URLs and seeds are committed."""
        heartbeat = self._heartbeat
        self._update_heartbeat(forwarded=heartbeat.forwarded + forwarded, seeds=heartbeat.seeds + seeds)

    def announced(self) -> tuple[int, int]:
        """How many URLs were forwarded, and how many seeds added, by all workers."""
        return self._current.announced

    # -- the budget: that of this node's run is in its memory, the target of the collection in the database -------

    def claim_pages(self) -> int:
        """Claim a few pages of both; the next heartbeat asks for more pages of the target."""
        if self._target.pages is None:
            return self._shared.claim_pages(self._number)
        pages = self._shared.claim_pages(self._number) if self._granted else 0
        with self._lock:
            claimed = min(self._granted, pages)
            self._granted -= claimed
            self._heartbeat = replace(self._heartbeat, target=self._target.pages)
        self._shared.return_pages(self._number, pages - claimed)
        return claimed

    def return_pages(self, pages: int) -> None:
        """Return claimed pages that were not fetched, and those that were granted meanwhile."""
        self._shared.return_pages(self._number, pages)
        if self._target.pages is not None:
            with self._lock:
                left = self._heartbeat.claimed - self._granted - pages
                self._heartbeat = replace(self._heartbeat, claimed=left, target=None)
                self._granted = 0

    @property
    def is_target_reached(self) -> bool:
        """Whether the collection was that large at the last heartbeat."""
        stored = zip(self._current.stored, self._target, strict=True)
        return any(limit is not None and number >= limit for number, limit in stored)

    def publish_progress(self, fetched: int, size: int) -> None:
        """Tell how much this worker has fetched."""
        self._shared.set(self._number, Metric.FETCHED, fetched)
        self._shared.set(self._number, Metric.BYTES, size)

    def totals(self) -> tuple[int, int]:
        """Pages and bytes that the workers of this node have fetched, also those that have ended."""
        return self._shared.total(Metric.FETCHED), self._shared.total(Metric.BYTES)

    # -- the end --------------------------------------------------------------------------------------------------

    def publish_idleness(self, shares: int, *, is_idle: bool) -> None:
        """Tell whether this worker has nothing to do since its last commit."""
        self._update_heartbeat(loaded=shares, idle_commits=self._commits if is_idle else None)
        self._shared.set(self._number, Metric.IDLE, int(is_idle))

    def committed(self, pages: int) -> None:
        """Count the commit for the supervisor; the fence counts transactions for the others."""
        if self._target.pages is not None:
            with self._lock:
                self._heartbeat = replace(self._heartbeat, claimed=self._heartbeat.claimed - pages)
        self._shared.set(self._number, Metric.COMMITS, self._shared.get(self._number, Metric.COMMITS) + 1)

    @property
    def is_finished(self) -> bool:
        """Whether no worker had anything to do at the last heartbeat."""
        return self._current.is_finished


def _with_requests(heartbeat: Heartbeat, failed: Heartbeat) -> Heartbeat:
    """A heartbeat with the requests of one that did not arrive."""
    return replace(
        heartbeat,
        cleared=failed.cleared | heartbeat.cleared,
        share_transfers=(*failed.share_transfers, *heartbeat.share_transfers),
        loans={**failed.loans, **heartbeat.loans},
        ended_loans={**failed.ended_loans, **heartbeat.ended_loans},
    )
