"""What do the workers of a crawl tell each other without asking?

A few numbers in memory that all processes of a crawl share, made before they part: who owns which share of the web,
how much each has done, whether to stop. Every number has one writer at a time; only the purse of pages and leases
need a lock.
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

SHARES = 1024  # the parts of the web that change hands as a whole; many more than workers, so that they divide evenly
_WORD = 8
_ADDRESS = 4096  # bytes of the address that a worker is reading; longer ones are cut


class Metric(IntEnum):
    """What a worker tells about itself."""

    FETCHED = 0
    BYTES = 1
    UNDER_WAY = 2
    BUFFERED = 3
    IDLE = 4  # 1: it has nothing to do and nothing to write down
    AWAKENED = 5  # how often it ceased to be idle
    LETTERS = 6  # how many letters it has posted
    SEEDS = 7  # how many seeds it has added
    SHARES = 8  # how many shares it knows to be its own
    HUNGRY = 9  # 1: it could do more than it has to do
    HOSTS = 10  # how many have something waiting
    GRANTED = 11  # pages of the purse that it has claimed so far, fetched or not
    COMMITS = 12  # how often it has acknowledged something
    READING_SINCE = 13  # nanoseconds, monotonic: when it began to read the page it is reading; 0: it reads none
    READING_SIZE = 14  # bytes of the address of that page
    BACKLOG = 15  # URLs that it knows to wait


# What is true of a worker only while it lives.
_OF_THE_LIVING = (
    Metric.UNDER_WAY,
    Metric.BUFFERED,
    Metric.HOSTS,
    Metric.IDLE,
    Metric.HUNGRY,
    Metric.SHARES,
    Metric.BACKLOG,
)
_ROW = len(Metric)
_SINCE, _SIZE = int(Metric.READING_SINCE), int(Metric.READING_SIZE)  # sums of plain numbers are ten times faster


class _Order(IntEnum):
    STOP = 0  # 1: finish what is under way, 2: drop it
    OVER = 1  # 1: no worker has anything left to do
    PAGES_LEFT = 2  # that no worker has claimed yet


class SharedState:
    """Shared by the processes of one crawl."""

    def __init__(self, workers: int, pages: int | None = None, monotonic: Callable[[], float] = time.monotonic) -> None:
        """For so many workers, who may fetch so many pages together; leases are timed by *monotonic*, in seconds."""
        self.workers, self._monotonic = workers, monotonic
        orders, rows, leases = len(_Order) * _WORD, workers * _ROW * _WORD, SHARES * _WORD
        self._memory = mmap.mmap(-1, orders + rows + leases + 2 * SHARES + workers * _ADDRESS)
        view = memoryview(self._memory)
        self._orders, view = view[:orders].cast("q"), view[orders:]
        self._figures, view = view[:rows].cast("q"), view[rows:]
        self._lease_ends, view = view[:leases].cast("d"), view[leases:]  # monotonic seconds, by share
        self.owners, view = view[:SHARES], view[SHARES:]
        self._borrowers, self._addresses = view[:SHARES], view[SHARES:]  # of shares: worker + 1, or 0
        self.owners[:] = bytes(share % workers for share in range(SHARES))
        self._has_purse = pages is not None
        self._orders[_Order.PAGES_LEFT] = pages or 0
        self._lock = tempfile.TemporaryFile()  # noqa: SIM115  # open as long as the board

    def close(self) -> None:
        """Let go of the file behind the lock; the memory goes with the last process."""
        self._lock.close()

    # -- figures of the workers ---------------------------------------------------------------------------------

    def tell(self, worker: int, figure: Metric, value: int) -> None:
        """Write one figure of one worker."""
        self._figures[worker * _ROW + figure] = value

    def told(self, worker: int, figure: Metric) -> int:
        """One figure of one worker."""
        return self._figures[worker * _ROW + figure]

    def all(self, figure: Metric) -> list[int]:
        """One figure of every worker."""
        return list(self._figures[figure::_ROW])

    def total(self, figure: Metric) -> int:
        """One figure, added up over the workers."""
        return sum(self.all(figure))

    def has_settled(self) -> bool:
        """Whether every worker is idle and knows all that it owns."""
        if not all(self.all(Metric.IDLE)):
            return False
        shares = Counter(self.owners)
        return all(self.told(worker, Metric.SHARES) == shares[worker] for worker in range(self.workers))

    # -- leases of shares ---------------------------------------------------------------------------------------

    @property
    def has_leases(self) -> bool:
        """Whether a share is leased, or was until a moment ago."""
        return self._borrowers.tobytes().count(0) < SHARES

    def borrower(self, share: int) -> int | None:
        """The worker that has a lease of a share; None when there is no lease, or it has ended."""
        borrower = self._borrowers[share]
        return borrower - 1 if borrower and self._monotonic() < self._lease_ends[share] else None

    def lease_left(self, share: int, worker: int) -> float:
        """Seconds until a worker's lease of a share ends; 0 when it has none."""
        return self._lease_ends[share] - self._monotonic() if self.borrower(share) == worker else 0.0

    def borrow(self, share: int, worker: int, seconds: float) -> bool:
        """Lease a share to a worker for so many seconds from now; False when another worker has a lease of it."""
        with self._purse():
            if self.borrower(share) not in (None, worker):
                return False
            self._borrowers[share] = 0  # the others read without a lock: no old borrower may get the new end
            self._lease_ends[share] = self._monotonic() + seconds
            self._borrowers[share] = worker + 1
            return True

    def give_back(self, share: int, worker: int, seconds: float = 0.0) -> None:
        """End a worker's lease of a share in so many seconds, if it has one."""
        with self._purse():
            if self.borrower(share) == worker:
                self._lease_ends[share] = self._monotonic() + seconds

    def clear_leases(self) -> None:
        """Forget the leases that have ended."""
        shares = [share for share, borrower in enumerate(self._borrowers) if borrower]
        if any(self.borrower(share) is None for share in shares):
            with self._purse():
                for share in shares:
                    if self.borrower(share) is None:
                        self._borrowers[share] = 0

    # -- the page that is being read ----------------------------------------------------------------------------

    def begin_reading(self, worker: int, url: str) -> None:
        """A worker is about to read a page itself."""
        address = url.encode()[:_ADDRESS]
        start, row = worker * _ADDRESS, worker * _ROW
        self._addresses[start : start + len(address)] = address
        self._figures[row + _SIZE] = len(address)
        self._figures[row + _SINCE] = time.monotonic_ns()

    def end_reading(self, worker: int) -> None:
        """It has read the page."""
        self._figures[worker * _ROW + _SINCE] = 0

    def reading(self, worker: int) -> str | None:
        """The address of the page that a worker is reading, or was when it died."""
        if not self.told(worker, Metric.READING_SINCE):
            return None
        start = worker * _ADDRESS
        address = self._addresses[start : start + self.told(worker, Metric.READING_SIZE)]
        return bytes(address).decode(errors="replace")

    def reading_for(self, worker: int) -> float:
        """For how many seconds it has been reading that page; 0 when it reads none."""
        since = self.told(worker, Metric.READING_SINCE)
        return (time.monotonic_ns() - since) / 1e9 if since else 0.0

    # -- succession ---------------------------------------------------------------------------------------------

    def bury(self, worker: int, *, fetched: int, size: int) -> None:
        """A worker is dead: only what it had acknowledged counts, and others may have left it letters or shares."""
        self.return_pages(worker, self.told(worker, Metric.GRANTED) - fetched)
        for figure in _OF_THE_LIVING:
            self.tell(worker, figure, 0)
        self.tell(worker, Metric.FETCHED, fetched)
        self.tell(worker, Metric.BYTES, size)
        self.end_reading(worker)
        # It may have written down letters and seeds that it could not tell about: everybody is to look again.
        for figure in (Metric.AWAKENED, Metric.LETTERS, Metric.SEEDS):
            self.tell(worker, figure, self.told(worker, figure) + 1)

    # -- orders to all ------------------------------------------------------------------------------------------

    @property
    def stop(self) -> int:
        """0: go on, 1: finish what is under way, 2: drop it."""
        return self._orders[_Order.STOP]

    def ask_to_stop(self) -> None:
        """Once: finish what is under way. Twice: drop it."""
        self._orders[_Order.STOP] = min(self.stop + 1, 2)

    @property
    def is_over(self) -> bool:
        """Whether nobody has anything left to do."""
        return bool(self._orders[_Order.OVER])

    def declare_over(self) -> None:
        """Send every worker home."""
        self._orders[_Order.OVER] = 1

    # -- the purse of pages -------------------------------------------------------------------------------------

    def draw_pages(self, worker: int) -> int:
        """Claim a few of the pages that are left; 0 when all are claimed."""
        if not self._has_purse:
            return SHARES
        with self._purse():
            left = self._orders[_Order.PAGES_LEFT]
            drawn = min(left, max(left // (4 * self.workers), 1))
            self._orders[_Order.PAGES_LEFT] = left - drawn
            self.tell(worker, Metric.GRANTED, self.told(worker, Metric.GRANTED) + drawn)
            return drawn

    def return_pages(self, worker: int, pages: int) -> None:
        """Give back what was claimed and not fetched."""
        if self._has_purse and pages:
            with self._purse():
                self.tell(worker, Metric.GRANTED, self.told(worker, Metric.GRANTED) - pages)
                self._orders[_Order.PAGES_LEFT] += pages

    @contextmanager
    def _purse(self) -> Iterator[None]:
        fcntl.lockf(self._lock, fcntl.LOCK_EX)  # let go by the kernel, should its holder die
        try:
            yield
        finally:
            fcntl.lockf(self._lock, fcntl.LOCK_UN)
