"""How many pages may this worker start now? As many as the index can take in."""

from __future__ import annotations

import math

_BURST_SECONDS = 1.0  # pages that were not started are made up for, up to so many seconds' worth


class RateLimit:
    """A token bucket: each page takes a token, and tokens come at the rate that was set."""

    def __init__(self) -> None:
        self._rate: float | None = None  # pages per second
        self._tokens, self._filled = 0.0, 0.0

    def set(self, rate: float | None, now: float) -> None:
        """Set the number of pages per second; None: no limit."""
        if rate is not None and self._rate is None:
            self._tokens, self._filled = 1.0, now
        self._fill(now)
        self._rate = rate

    def allows(self, now: float) -> bool:
        """Whether one more page may start."""
        self._fill(now)
        return self._rate is None or self._tokens >= 1.0

    def take(self) -> None:
        """A page starts."""
        self._tokens -= 1.0

    def next_start(self) -> float:
        """The time at which the next page may start; infinity when the rate is 0."""
        if self._rate is None or self._tokens >= 1.0:
            return self._filled
        return self._filled + (1.0 - self._tokens) / self._rate if self._rate else math.inf

    def _fill(self, now: float) -> None:
        if self._rate is not None:
            most = max(self._rate * _BURST_SECONDS, 1.0)
            self._tokens = min(self._tokens + self._rate * (now - self._filled), most)
        self._filled = now
