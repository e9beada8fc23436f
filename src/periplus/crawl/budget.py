"""When has a run done enough?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one run; None means none."""

    pages: int | None = None
    seconds: float | None = None
    bytes: int | None = None

    def spent(self, pages: int, size: int, seconds: float) -> str | None:
        """Which limit has been reached by a run that has come so far, if one has."""
        if self.pages is not None and pages >= self.pages:
            return f"{self.pages} pages"
        if self.seconds is not None and seconds >= self.seconds:
            return f"{self.seconds:g} seconds"
        if self.bytes is not None and size >= self.bytes:
            return f"{self.bytes} bytes"
        return None
