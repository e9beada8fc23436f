"""What waits for one host, in memory and on disk?"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

from periplus.model import QueuedUrl

Entry = tuple[float, int, QueuedUrl]


class QueueSource(Protocol):
    """Where the queues lie on disk; asked when a host's share in memory runs out."""

    def queue_of(self, host: str, limit: int, now: float) -> list[QueuedUrl]:
        """The best acknowledged URLs of a host that are due."""
        ...

    def next_due(self, host: str, now: float) -> float | None:
        """When the first of its others is due; None when it has no others, or none that will be in this run."""
        ...


@dataclass(slots=True)
class HostQueue:
    """A host that has something to give, is being asked, or rests."""

    name: str
    ready: float  # no request before this time
    again: float = 0.0  # none for one of its own URLs before this time
    heap: list[Entry] = field(default_factory=list)  # by priority
    later: list[Entry] = field(default_factory=list)  # by due time
    held: set[str] = field(default_factory=set)
    on_disk: bool = False  # there may be acknowledged URLs that are due and not in memory
    unread: bool = False  # disk may hold URLs that come before deferred ones in memory
    outside: int = 0  # how many are known to wait that are not in memory
    due_on_disk: float = math.inf  # when the first of those that are not due yet will be
    busy: bool = False  # a request is under way
    listed: float = math.inf  # the time of its valid entry in the order of readiness
    parked: str = ""  # why it is left alone for now: a parked host does not keep the crawl alive; empty: it is not
    withdrawn: bool = False  # about to be another worker's
    wanted: bool = False  # somebody waits for a turn that is not about its own URLs

    def has_work(self) -> bool:
        """Whether any of its URLs may be taken, now or later."""
        return bool(self.heap or self.later or self.on_disk or self.due_on_disk < math.inf) and not self.withdrawn

    def is_drained(self) -> bool:
        """Whether it has nothing to give, and nothing about it is unwritten."""
        return not (self.busy or self.held or self.withdrawn or self.has_work())

    def moment(self) -> float:
        """When its next URL may be taken."""
        ready = max(self.ready, self.again)
        if self.heap or self.on_disk:
            return ready
        return max(ready, min(self.later[0][0] if self.later else math.inf, self.due_on_disk))
