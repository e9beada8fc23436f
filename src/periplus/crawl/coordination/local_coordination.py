"""The coordination of workers on one machine, in shared memory.

Every answer is current, and every worker lives until the supervisor says otherwise: there are no leases. Worker ids are
the numbers of the processes.
"""

from __future__ import annotations

from collections.abc import Collection

from periplus.crawl.coordination.shared_state import Metric, SharedState
from periplus.store.catalog.catalog import Catalog
from periplus.store.database.fleet import Peer


class LocalCoordination:
    """One worker's view of the memory that all workers of a machine share."""

    commits_in_order = True  # the catalog has one writer at a time
    is_target_reached = False  # the budget of the run ends there: no other machine adds pages
    loan_notice = 0.0
    has_lease = False

    def __init__(self, shared: SharedState, worker: int) -> None:
        self._shared, self._worker = shared, worker
        self._owned: frozenset[int] = frozenset()
        self._is_idle = False

    @property
    def worker(self) -> int:
        """The number of this worker."""
        return self._worker

    @property
    def is_sole_worker(self) -> bool:
        """Whether the crawl has a single worker."""
        return self._shared.workers == 1

    def may_send(self) -> bool:
        """Always: the supervisor replaces a worker only when its process has ended."""
        return True

    def fence(self, catalog: Catalog) -> None:
        """Does nothing: there are no leases."""

    def recovers(self, worker: int) -> bool:
        """Whether this worker continues the files of an earlier worker; the last run may have had more workers."""
        return worker % self._shared.workers == self._worker

    def leave(self) -> None:
        """Does nothing: no worker may need the shares, because all end together."""

    def close(self) -> None:
        """Does nothing: the memory ends with the crawl."""

    # -- ownership of shares ------------------------------------------------------------------------------------

    def owned(self) -> frozenset[int]:
        """The shares of this worker; another worker only ever adds some."""
        worker, owners = self._worker, self._shared.owners
        if not self._owned or owners.tobytes().count(worker) != len(self._owned):
            self._owned = frozenset(share for share, owner in enumerate(owners) if owner == worker)
        return self._owned

    def inherited(self) -> frozenset[int]:
        """None: a replacement of a dead worker is told by its assignment."""
        return frozenset()

    def clear_inherited(self, shares: Collection[int]) -> None:
        """Does nothing: no share is inherited."""

    def give(self, shares: Collection[int], receiver: int) -> None:
        """Make another worker the owner of shares."""
        self._owned = self._owned.difference(shares)
        for share in shares:
            self._shared.owners[share] = receiver

    # -- loans --------------------------------------------------------------------------------------------------

    @property
    def has_loans(self) -> bool:
        """Whether any share is lent, or its loan has expired and is not yet removed."""
        return self._shared.has_loans

    def borrower(self, share: int) -> int | None:
        """The worker that has borrowed a share."""
        return self._shared.borrower(share)

    def loan_left(self, share: int) -> float:
        """Seconds until this worker's loan of a share expires."""
        return self._shared.loan_left(share, self._worker)

    def borrow(self, share: int, seconds: float) -> bool:
        """Borrow a share; False when another worker has."""
        return self._shared.borrow(share, self._worker, seconds)

    def end_loan(self, share: int, seconds: float) -> None:
        """End this worker's loan of a share in *seconds*."""
        self._shared.end_loan(share, self._worker, seconds)

    def remove_expired_loans(self) -> None:
        """Remove the loans that have expired."""
        self._shared.remove_expired_loans()

    # -- load of the workers ------------------------------------------------------------------------------------

    def publish_load(self, backlog: int, *, is_underloaded: bool) -> None:
        """Publish how many URLs are queued here."""
        self._shared.set(self._worker, Metric.UNDERLOADED, int(is_underloaded))
        self._shared.set(self._worker, Metric.BACKLOG, backlog)

    def peers(self) -> list[Peer]:
        """The other workers."""
        backlogs, underloaded = self._shared.all(Metric.BACKLOG), self._shared.all(Metric.UNDERLOADED)
        shares = self._shared.all(Metric.SHARES)
        return [
            Peer(worker, backlogs[worker], bool(underloaded[worker]), shares[worker])
            for worker in range(self._shared.workers)
            if worker != self._worker
        ]

    def promise(self, receiver: int) -> None:
        """The receiver counts as loaded until it publishes its load again."""
        self._shared.set(receiver, Metric.UNDERLOADED, 0)

    # -- forwarded URLs and seeds -------------------------------------------------------------------------------

    def announce(self, forwarded: int, seeds: int) -> None:
        """Add to the numbers that a replacement of this worker continues."""
        for metric, number in ((Metric.FORWARDED, forwarded), (Metric.SEEDS, seeds)):
            if number:
                self._add(metric, number)

    def announced(self) -> tuple[int, int]:
        """How many URLs were forwarded, and how many seeds added, by all workers."""
        return self._shared.total(Metric.FORWARDED), self._shared.total(Metric.SEEDS)

    # -- the budget ---------------------------------------------------------------------------------------------

    def claim_pages(self) -> int:
        """Claim a few pages of the budget."""
        return self._shared.claim_pages(self._worker)

    def return_pages(self, pages: int) -> None:
        """Return claimed pages that were not fetched."""
        self._shared.return_pages(self._worker, pages)

    def publish_progress(self, fetched: int, size: int) -> None:
        """Publish how much this worker has fetched."""
        self._shared.set(self._worker, Metric.FETCHED, fetched)
        self._shared.set(self._worker, Metric.BYTES, size)

    def totals(self) -> tuple[int, int]:
        """Pages and bytes that all workers have fetched."""
        return self._shared.total(Metric.FETCHED), self._shared.total(Metric.BYTES)

    # -- the end ------------------------------------------------------------------------------------------------

    def publish_idleness(self, shares: int, *, is_idle: bool) -> None:
        """Publish whether this worker has nothing to do; the supervisor counts how often that ends."""
        if self._is_idle and not is_idle:
            self._add(Metric.WAKEUPS, 1)
        self._is_idle = is_idle
        self._shared.set(self._worker, Metric.IDLE, int(is_idle))
        self._shared.set(self._worker, Metric.SHARES, shares)

    def committed(self, pages: int) -> None:
        """Count the commit: a worker that dies after commits is not stuck."""
        del pages
        self._add(Metric.COMMITS, 1)

    @property
    def is_finished(self) -> bool:
        """Whether no other worker can forward a URL or give a share to this one."""
        return self.is_sole_worker or self._shared.is_finished

    def _add(self, metric: Metric, number: int) -> None:
        self._shared.set(self._worker, metric, self._shared.get(self._worker, metric) + number)
