"""The numbers that all processes of a crawl share: metrics, ownership and loans of shares, stop flags, page budget.

They lie in shared memory that the supervisor creates before it forks. Every number has one writer at a time; only the
page budget and the loans need a lock.
"""

from __future__ import annotations

import fcntl
import mmap
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum

from periplus.store.shares import SHARES

_WORD = 8  # bytes
_URL_BYTES = 4096  # of the URL that a worker is parsing; longer URLs are cut


class Metric(IntEnum):
    """What a worker publishes about itself."""

    FETCHED = 0
    BYTES = 1
    UNDER_WAY = 2  # requests
    BUFFERED = 3  # URLs queued in memory
    IDLE = 4  # 1: nothing to do and nothing to commit
    WAKEUPS = 5  # how often it ceased to be idle
    FORWARDED = 6  # URLs that it has forwarded to other workers
    SEEDS = 7  # seeds that it has added
    SHARES = 8  # shares whose state it has loaded
    UNDERLOADED = 9  # 1: idle for more than half of its time
    HOSTS = 10  # hosts with queued URLs
    CLAIMED = 11  # pages of the budget that it has claimed, fetched or not
    COMMITS = 12
    PARSING_SINCE = 13  # monotonic nanoseconds at which it began to parse a page; 0: it parses none
    PARSING_URL_BYTES = 14  # length of the URL of that page
    BACKLOG = 15  # queued URLs that it knows of
    PAUSED = 16  # 1: the user has paused it
    WORKER = 17  # its id, by which the catalog knows it


# Reset to 0 when a worker dies.
_ZERO_WHEN_DEAD = (
    Metric.UNDER_WAY,
    Metric.BUFFERED,
    Metric.HOSTS,
    Metric.IDLE,
    Metric.UNDERLOADED,
    Metric.SHARES,
    Metric.BACKLOG,
)
_ROW = len(Metric)
_SINCE, _SIZE = int(Metric.PARSING_SINCE), int(Metric.PARSING_URL_BYTES)  # int arithmetic is 10 times faster


class _Flag(IntEnum):
    STOP = 0  # 1: finish requests under way, 2: drop them
    FINISHED = 1  # 1: no worker has anything left to do
    PAGES_LEFT = 2  # of the page budget; not claimed by any worker yet


class SharedState:
    """Shared by the processes of one crawl."""

    def __init__(self, workers: int, pages: int | None = None, monotonic: Callable[[], float] = time.monotonic) -> None:
        """*pages*: the page budget of all workers together. *monotonic*: the clock of loans, in seconds."""
        self.workers, self._monotonic = workers, monotonic
        flags, rows, loans = len(_Flag) * _WORD, workers * _ROW * _WORD, SHARES * _WORD
        self._memory = mmap.mmap(-1, flags + rows + loans + 2 * SHARES + workers * _URL_BYTES)
        view = memoryview(self._memory)
        self._flags, view = view[:flags].cast("q"), view[flags:]
        self._metrics, view = view[:rows].cast("q"), view[rows:]
        self._loan_ends, view = view[:loans].cast("d"), view[loans:]  # monotonic seconds, by share
        self.owners, view = view[:SHARES], view[SHARES:]  # worker number, by share
        self._borrowers, self._urls = view[:SHARES], view[SHARES:]  # by share: worker number + 1, or 0
        self.owners[:] = bytes(share % workers for share in range(SHARES))
        for worker in range(workers):
            self.set(worker, Metric.WORKER, worker)
        self._has_page_budget = pages is not None
        self._flags[_Flag.PAGES_LEFT] = pages or 0
        self._lock = tempfile.TemporaryFile()  # noqa: SIM115  # open as long as this object

    @property
    def page_budget(self) -> int | None:
        """How many pages all workers together may still claim; None: there is no limit."""
        return self._flags[_Flag.PAGES_LEFT] if self._has_page_budget else None

    def close(self) -> None:
        """Close the lock file; the kernel frees the memory with the last process."""
        self._lock.close()

    # -- metrics ------------------------------------------------------------------------------------------------

    def set(self, worker: int, metric: Metric, value: int) -> None:
        """Publish one metric of one worker."""
        self._metrics[worker * _ROW + metric] = value

    def get(self, worker: int, metric: Metric) -> int:
        """One metric of one worker."""
        return self._metrics[worker * _ROW + metric]

    def all(self, metric: Metric) -> list[int]:
        """One metric of every worker."""
        return list(self._metrics[metric::_ROW])

    def total(self, metric: Metric) -> int:
        """The sum of one metric over all workers."""
        return sum(self.all(metric))

    def is_quiescent(self) -> bool:
        """Whether every worker is idle and has loaded all shares that it owns."""
        if not all(self.all(Metric.IDLE)):
            return False
        shares = Counter(self.owners)
        return all(self.get(worker, Metric.SHARES) == shares[worker] for worker in range(self.workers))

    # -- loans of shares ----------------------------------------------------------------------------------------

    @property
    def has_loans(self) -> bool:
        """Whether any share is lent, or its loan has expired and is not yet removed."""
        return self._borrowers.tobytes().count(0) < SHARES

    def borrower(self, share: int) -> int | None:
        """The worker that has borrowed a share; None without a loan, or when it has expired."""
        borrower = self._borrowers[share]
        return borrower - 1 if borrower and self._monotonic() < self._loan_ends[share] else None

    def loan_left(self, share: int, worker: int) -> float:
        """Seconds until a worker's loan of a share expires; 0 when it has none."""
        return self._loan_ends[share] - self._monotonic() if self.borrower(share) == worker else 0.0

    def borrow(self, share: int, worker: int, seconds: float) -> bool:
        """Lend a share to a worker for *seconds* from now; False when another worker has borrowed it."""
        with self._locked():
            if self.borrower(share) not in (None, worker):
                return False
            self._borrowers[share] = 0  # others read without the lock: no old borrower may appear with the new end
            self._loan_ends[share] = self._monotonic() + seconds
            self._borrowers[share] = worker + 1
            return True

    def end_loan(self, share: int, worker: int, seconds: float = 0.0) -> None:
        """End a worker's loan of a share in *seconds*; does nothing when the worker has none."""
        with self._locked():
            if self.borrower(share) == worker:
                self._loan_ends[share] = self._monotonic() + seconds

    def remove_expired_loans(self) -> None:
        """Remove the loans that have expired."""
        shares = [share for share, borrower in enumerate(self._borrowers) if borrower]
        if any(self.borrower(share) is None for share in shares):
            with self._locked():
                for share in shares:
                    if self.borrower(share) is None:
                        self._borrowers[share] = 0

    # -- the page that a worker is parsing ----------------------------------------------------------------------

    def begin_parsing(self, worker: int, url: str) -> None:
        """A worker is about to parse a page in its own process."""
        encoded = url.encode()[:_URL_BYTES]
        start, row = worker * _URL_BYTES, worker * _ROW
        self._urls[start : start + len(encoded)] = encoded
        self._metrics[row + _SIZE] = len(encoded)
        self._metrics[row + _SINCE] = time.monotonic_ns()

    def end_parsing(self, worker: int) -> None:
        """A worker has parsed its page."""
        self._metrics[worker * _ROW + _SINCE] = 0

    def parsing_url(self, worker: int) -> str | None:
        """The URL that a worker is parsing, or was parsing when it died."""
        if not self.get(worker, Metric.PARSING_SINCE):
            return None
        start = worker * _URL_BYTES
        url = self._urls[start : start + self.get(worker, Metric.PARSING_URL_BYTES)]
        return bytes(url).decode(errors="replace")

    def parsing_seconds(self, worker: int) -> float:
        """For how many seconds a worker has been parsing its page; 0 when it parses none."""
        since = self.get(worker, Metric.PARSING_SINCE)
        return (time.monotonic_ns() - since) / 1e9 if since else 0.0

    # -- replacement of dead workers ----------------------------------------------------------------------------

    def record_death(self, worker: int, *, fetched: int, size: int) -> None:
        """Reset the metrics of a dead worker to what it had acknowledged: *fetched* pages, *size* bytes."""
        self.return_pages(worker, self.get(worker, Metric.CLAIMED) - fetched)
        for metric in _ZERO_WHEN_DEAD:
            self.set(worker, metric, 0)
        self.set(worker, Metric.FETCHED, fetched)
        self.set(worker, Metric.BYTES, size)
        self.end_parsing(worker)
        # It may have committed forwarded URLs and seeds without publishing their number: the others must look again.
        for metric in (Metric.WAKEUPS, Metric.FORWARDED, Metric.SEEDS):
            self.set(worker, metric, self.get(worker, metric) + 1)

    # -- flags --------------------------------------------------------------------------------------------------

    @property
    def stop(self) -> int:
        """0: go on, 1: finish requests under way, 2: drop them."""
        return self._flags[_Flag.STOP]

    def request_stop(self) -> None:
        """First call: finish requests under way. Second call: drop them."""
        self.stop_at_least(min(self.stop + 1, 2))

    def stop_at_least(self, level: int) -> None:
        """Stop with this level, unless a higher one was requested; several workers may obey the same command."""
        self._flags[_Flag.STOP] = max(self.stop, level)

    @property
    def is_finished(self) -> bool:
        """Whether no worker has anything left to do."""
        return bool(self._flags[_Flag.FINISHED])

    def declare_finished(self) -> None:
        """Let every worker end."""
        self._flags[_Flag.FINISHED] = 1

    # -- the page budget ----------------------------------------------------------------------------------------

    def claim_pages(self, worker: int) -> int:
        """Claim a few pages of the budget; 0 when all are claimed."""
        if not self._has_page_budget:
            return SHARES
        with self._locked():
            left = self._flags[_Flag.PAGES_LEFT]
            claimed = min(left, max(left // (4 * self.workers), 1))
            self._flags[_Flag.PAGES_LEFT] = left - claimed
            self.set(worker, Metric.CLAIMED, self.get(worker, Metric.CLAIMED) + claimed)
            return claimed

    def return_pages(self, worker: int, pages: int) -> None:
        """Return claimed pages that were not fetched."""
        if self._has_page_budget and pages:
            with self._locked():
                self.set(worker, Metric.CLAIMED, self.get(worker, Metric.CLAIMED) - pages)
                self._flags[_Flag.PAGES_LEFT] += pages

    @contextmanager
    def _locked(self) -> Iterator[None]:
        fcntl.lockf(self._lock, fcntl.LOCK_EX)  # the kernel releases it when its holder dies
        try:
            yield
        finally:
            fcntl.lockf(self._lock, fcntl.LOCK_UN)
