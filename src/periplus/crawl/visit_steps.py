"""Which URLs does a worker visit now, and which step is each visit at?"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum


class Step(StrEnum):
    """The steps of a visit, as the rows of workers show them."""

    DNS = "dns"
    ROBOTS = "robots"
    DELAY = "delay"
    CONNECT = "connect"
    FETCH = "fetch"
    PARSE = "parse"
    STORE = "store"


class VisitSteps:
    """The visits under way in one worker: by URL, the step and when it began."""

    def __init__(self) -> None:
        self._visits: dict[str, tuple[Step, float]] = {}

    def __len__(self) -> int:
        return len(self._visits)

    def __iter__(self) -> Iterator[tuple[str, Step, float]]:
        return ((url, *visit) for url, visit in self._visits.items())

    def enter(self, url: str, step: Step, now: float) -> None:
        """A visit begins, or gets to its next step."""
        self._visits[url] = step, now

    def end(self, url: str) -> None:
        """A visit has ended."""
        self._visits.pop(url, None)
