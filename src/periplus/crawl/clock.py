"""What time is it, for decisions that must survive a clock being set?"""

from __future__ import annotations

import time


class SteadyClock:
    """Seconds since the epoch that never jump: read once at the start, then counted."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> float:
        """The present."""
        return time.monotonic() + self._offset
