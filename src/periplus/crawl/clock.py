"""What time is it? One clock for delays, which never jumps, and one for the dates in files.

Delays are measured with a monotonic clock: setting the system clock makes no delay shorter or longer. Dates in the
archive and in the catalog follow the system clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

_STEP = 1.0  # seconds; a smaller difference between the clocks does not correct dates
_BOOTTIME: int | None = getattr(time, "CLOCK_BOOTTIME", None)  # Linux only; includes the time of suspension


class Clock(Protocol):
    """The time source of a crawl; tests use one that simulates weeks in seconds."""

    def now(self) -> float:
        """Seconds since the epoch, counted from the system time at the start."""
        ...

    def ahead(self) -> float:
        """Seconds by which the system clock was set forward since the start; negative: backward."""
        ...

    def idle(self, until: float) -> None:
        """Called when the crawl has nothing to do before *until*."""
        ...


def wall_time(clock: Clock) -> float:
    """The system time, for dates in files: seconds since the epoch."""
    return clock.now() + clock.ahead()


def _since_boot() -> float:
    return time.monotonic() if _BOOTTIME is None else time.clock_gettime(_BOOTTIME)


def _time_of_day() -> float:
    return time.time()


class SteadyClock:
    """Seconds since the epoch that never jump: read once at the start, then counted, also during suspension."""

    def __init__(
        self, steady: Callable[[], float] = _since_boot, time_of_day: Callable[[], float] = _time_of_day
    ) -> None:
        self._steady, self._time_of_day = steady, time_of_day
        self._offset, self._ahead = time_of_day() - steady(), 0.0

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._steady() + self._offset

    def ahead(self) -> float:
        """Seconds by which the system clock is ahead of this clock."""
        difference = self._time_of_day() - self.now()
        if abs(difference - self._ahead) > _STEP:
            self._ahead = difference
        return self._ahead

    def idle(self, until: float) -> None:
        """Does nothing: real time passes by itself."""
