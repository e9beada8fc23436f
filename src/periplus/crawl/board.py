"""What do the workers of a crawl tell each other without asking?

A few numbers in memory that all processes of a crawl share, made before they part: who owns which share of the web,
how much each has done, whether to stop. Every number has one writer at a time; only the purse of pages needs a lock.
"""

from __future__ import annotations

import fcntl
import mmap
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

SHARES = 1024  # the parts of the web that change hands as a whole; many more than workers, so that they divide evenly
_WORD = 8


class Figure(IntEnum):
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


class _Order(IntEnum):
    STOP = 0  # 1: finish what is under way, 2: drop it
    OVER = 1  # 1: no worker has anything left to do
    PAGES_LEFT = 2  # that no worker has claimed yet


class Board:
    """Shared by the processes of one crawl."""

    def __init__(self, workers: int, pages: int | None = None) -> None:
        """For so many workers, who may fetch so many pages together."""
        self.workers = workers
        orders, rows = len(_Order), workers * len(Figure)
        self._memory = mmap.mmap(-1, (orders + rows) * _WORD + SHARES)
        view = memoryview(self._memory)
        self._orders = view[: orders * _WORD].cast("q")
        self._figures = view[orders * _WORD : (orders + rows) * _WORD].cast("q")
        self.owners = view[(orders + rows) * _WORD :]
        self.owners[:] = bytes(share % workers for share in range(SHARES))
        self._has_purse = pages is not None
        self._orders[_Order.PAGES_LEFT] = pages or 0
        self._lock = tempfile.TemporaryFile()  # noqa: SIM115  # open as long as the board

    def close(self) -> None:
        """Let go of the file behind the lock; the memory goes with the last process."""
        self._lock.close()

    # -- figures of the workers ---------------------------------------------------------------------------------

    def tell(self, worker: int, figure: Figure, value: int) -> None:
        """Write one figure of one worker."""
        self._figures[worker * len(Figure) + figure] = value

    def told(self, worker: int, figure: Figure) -> int:
        """One figure of one worker."""
        return self._figures[worker * len(Figure) + figure]

    def all(self, figure: Figure) -> list[int]:
        """One figure of every worker."""
        return list(self._figures[figure :: len(Figure)])

    def total(self, figure: Figure) -> int:
        """One figure, added up over the workers."""
        return sum(self.all(figure))

    def has_settled(self) -> bool:
        """Whether every worker is idle and knows all that it owns."""
        shares = Counter(self.owners)
        idle = all(self.all(Figure.IDLE))
        return idle and all(self.told(worker, Figure.SHARES) == shares[worker] for worker in range(self.workers))

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

    def draw_pages(self) -> int:
        """Claim a few of the pages that are left; 0 when all are claimed."""
        if not self._has_purse:
            return SHARES
        with self._purse():
            left = self._orders[_Order.PAGES_LEFT]
            drawn = min(left, max(left // (4 * self.workers), 1))
            self._orders[_Order.PAGES_LEFT] = left - drawn
            return drawn

    def return_pages(self, pages: int) -> None:
        """Give back what was claimed and not fetched."""
        if self._has_purse and pages:
            with self._purse():
                self._orders[_Order.PAGES_LEFT] += pages

    @contextmanager
    def _purse(self) -> Iterator[None]:
        fcntl.lockf(self._lock, fcntl.LOCK_EX)  # let go by the kernel, should its holder die
        try:
            yield
        finally:
            fcntl.lockf(self._lock, fcntl.LOCK_UN)
