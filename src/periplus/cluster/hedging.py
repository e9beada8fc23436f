"""When does a request also go to another replica?

A request is hedged when it takes longer than 95 % of such requests took lately. At most a tenth of all requests are
hedged, so that slow nodes do not get twice the load.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from threading import Lock

_REMEMBERED = 256  # durations of the latest requests of one method
_SLOW = 0.95  # quantile of these durations after which a request is hedged
_FIRST_DELAY = 0.05  # seconds, before enough durations were measured
_ENOUGH = 32  # durations
_EVERY = 16  # durations between two computations of the quantile
_SHORTEST_DELAY, _LONGEST_DELAY = 0.005, 0.5  # seconds
_SHARE = 0.1  # of the requests that may be hedged
_MOST_SAVED = 10.0  # hedges that may follow one another at once


@dataclass(slots=True)
class _Durations:
    """How long requests of one method take."""

    latest: deque[float] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    added: int = 0
    delay: float = _FIRST_DELAY

    def add(self, seconds: float) -> None:
        self.latest.append(seconds)
        self.added += 1
        if self.added >= _ENOUGH and self.added % _EVERY == 0:
            slow = sorted(self.latest)[int(_SLOW * len(self.latest))]
            self.delay = min(max(slow, _SHORTEST_DELAY), _LONGEST_DELAY)


class HedgePolicy:
    """The delays and the budget of hedged requests; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._durations: dict[str, _Durations] = {}
        self._budget = _MOST_SAVED  # hedges that may be sent now

    def sent(self) -> None:
        """Count a request: it adds a tenth of a hedge to the budget."""
        with self._lock:
            self._budget = min(self._budget + _SHARE, _MOST_SAVED)

    def record(self, method: str, seconds: float) -> None:
        """Record how long a request took; of a request that was cancelled, how long it took at least.

        Without the cancelled ones, which are the slow ones, the delay would become shorter and shorter.
        """
        with self._lock:
            self._durations.setdefault(method, _Durations()).add(seconds)

    def delay(self, method: str) -> float:
        """Seconds after which a request is hedged."""
        found = self._durations.get(method)
        return _FIRST_DELAY if found is None else found.delay

    def take(self) -> bool:
        """Take a hedge from the budget; False: it is used up."""
        with self._lock:
            if self._budget < 1.0:
                return False
            self._budget -= 1.0
            return True
