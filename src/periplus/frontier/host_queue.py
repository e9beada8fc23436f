"""The queue of one host, in memory and on disk."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

from periplus.model import QueuedUrl

Entry = tuple[float, int, QueuedUrl]


class QueueSource(Protocol):
    """The queues on disk; `Queues` reads them when the part of a host in memory runs out."""

    def queue_of(self, host: str, limit: int, now: float) -> list[QueuedUrl]:
        """Return the best acknowledged URLs of a host that are due."""
        ...

    def next_due(self, host: str, now: float) -> float | None:
        """Return when the first other URL of a host is due; None when no other URL is due in this run."""
        ...


@dataclass(slots=True)
class HostQueue:
    """The URLs and the times of one host that has work, has an active request, or waits for its delay."""

    name: str
    ready: float  # no request before this time
    own_ready: float = 0.0  # no request for one of its own URLs before this time
    heap: list[Entry] = field(default_factory=list)  # by priority
    not_due: list[Entry] = field(default_factory=list)  # by due time
    held: set[str] = field(default_factory=set)  # in memory, being fetched, or fetched and not acknowledged
    on_disk: bool = False  # disk may hold acknowledged URLs that are due and not in memory
    disk_first: bool = False  # disk may hold URLs that come before deferred ones in memory
    unbuffered: int = 0  # known URLs that are not in memory
    due_on_disk: float = math.inf  # when the first URL on disk that is not due yet becomes due
    busy: bool = False  # a request is active
    order_time: float = math.inf  # time of its valid entry in the order of hosts
    parked: str = ""  # reason why the crawl does not wait for this host; empty: not parked
    withdrawn: bool = False  # about to move to another worker
    has_waiting_request: bool = False  # a request for another host's robots.txt waits for this host

    def has_work(self) -> bool:
        """Whether any URL of the host may be taken, now or later."""
        return bool(self.heap or self.not_due or self.on_disk or self.due_on_disk < math.inf) and not self.withdrawn

    def is_idle(self) -> bool:
        """Whether the host has no work and no unacknowledged URL."""
        return not (self.busy or self.held or self.withdrawn or self.has_work())

    def next_time(self) -> float:
        """Return when the next URL of the host may be taken."""
        ready = max(self.ready, self.own_ready)
        if self.heap or self.on_disk:
            return ready
        return max(ready, min(self.not_due[0][0] if self.not_due else math.inf, self.due_on_disk))
