"""What time is it, for decisions that must survive a clock being set?"""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """What a crawl goes by; another one lets weeks pass in seconds."""

    def now(self) -> float:
        """The present: seconds since the epoch."""
        ...

    def idle(self, until: float) -> None:
        """The crawl has nothing to do before *until*."""
        ...


class SteadyClock:
    """Seconds since the epoch that never jump: read once at the start, then counted."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> float:
        """The present."""
        return time.monotonic() + self._offset

    def idle(self, until: float) -> None:
        """Time passes by itself."""
