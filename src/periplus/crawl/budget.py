"""When has a run done enough?"""

from __future__ import annotations

from dataclasses import dataclass

from periplus.crawl.tally import Tally


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one run; None means none."""

    pages: int | None = None
    seconds: float | None = None
    bytes: int | None = None

    def spent(self, tally: Tally, now: float) -> str | None:
        """Which limit has been reached, if one has."""
        if self.pages is not None and tally.fetched >= self.pages:
            return f"{self.pages} pages"
        if self.seconds is not None and now - tally.started >= self.seconds:
            return f"{self.seconds:g} seconds"
        if self.bytes is not None and tally.bytes >= self.bytes:
            return f"{self.bytes} bytes"
        return None

    def allows_another(self, tally: Tally, under_way: int) -> bool:
        """Whether one more fetch may start without overshooting the number of pages."""
        return self.pages is None or tally.fetched + under_way < self.pages
