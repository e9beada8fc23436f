"""Which pages that were seen before is a crawl to ask for again?"""

from __future__ import annotations

from dataclasses import dataclass

from periplus.frontier.schedule import Class


@dataclass(frozen=True, slots=True)
class Agenda:
    """What a crawl does about pages that it has seen before."""

    new_only: bool = False  # they are not asked for again
    only: Class | None = None  # of these alone
    continuous: bool = False  # also about those that become due while it runs, so it has no end
