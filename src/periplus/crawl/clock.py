"""What time is it, for decisions that must survive a clock being set, and for dates that are written down?

A crawl goes by seconds that are counted, never by the machine's clock: when that is set, no delay gets shorter or
longer. Dates in the archive and in the catalog follow the machine's clock, whenever it is set.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

_STEP = 1.0  # seconds; a smaller difference is no reason to correct dates
_BOOTTIME: int | None = getattr(time, "CLOCK_BOOTTIME", None)  # Linux: it counts while the machine is suspended


class Clock(Protocol):
    """What a crawl goes by; another one lets weeks pass in seconds."""

    def now(self) -> float:
        """The present: seconds since the epoch, as they were known at the start."""
        ...

    def ahead(self) -> float:
        """Seconds by which the machine's clock was set forward since the start; negative: backward."""
        ...

    def idle(self, until: float) -> None:
        """The crawl has nothing to do before *until*."""
        ...


def wall_time(clock: Clock) -> float:
    """The time of day, for dates that are written down: seconds since the epoch."""
    return clock.now() + clock.ahead()


def _since_boot() -> float:
    return time.monotonic() if _BOOTTIME is None else time.clock_gettime(_BOOTTIME)


def _time_of_day() -> float:
    return time.time()


class SteadyClock:
    """Seconds since the epoch that never jump: read once at the start, then counted, also while the machine sleeps."""

    def __init__(
        self, steady: Callable[[], float] = _since_boot, time_of_day: Callable[[], float] = _time_of_day
    ) -> None:
        self._steady, self._time_of_day = steady, time_of_day
        self._offset, self._ahead = time_of_day() - steady(), 0.0

    def now(self) -> float:
        """The present."""
        return self._steady() + self._offset

    def ahead(self) -> float:
        """How far the machine's clock is ahead of this one, in seconds."""
        difference = self._time_of_day() - self.now()
        if abs(difference - self._ahead) > _STEP:
            self._ahead = difference
        return self._ahead

    def idle(self, until: float) -> None:
        """Time passes by itself."""
