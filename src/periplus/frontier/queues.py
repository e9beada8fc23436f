"""Which host is ready, and which of its URLs comes next?

Every URL waits on disk; a bounded part also waits in memory. A host is taken when its delay has passed and no request
to it is under way, so a slow host never holds up another. What is in memory, under way, or finished but not yet
acknowledged is *held*: reading the queue from disk passes over it.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from periplus.model import HostPolicy, QueuedUrl

_PER_HOST = 256
_Entry = tuple[float, int, QueuedUrl]


class QueueSource(Protocol):
    """Where the queues lie on disk; asked when a host's share in memory runs out."""

    def queue_of(self, host: str, limit: int) -> list[QueuedUrl]:
        """The best acknowledged URLs of a host."""
        ...


@dataclass(slots=True)
class _Host:
    name: str
    ready: float  # no request before this time
    heap: list[_Entry] = field(default_factory=list)  # by priority
    later: list[_Entry] = field(default_factory=list)  # by due time
    held: set[str] = field(default_factory=set)
    on_disk: bool = False  # there may be acknowledged URLs that are not in memory
    busy: bool = False  # a request is under way
    listed: float = math.inf  # the time of its valid entry in the order of readiness
    parked: bool = False  # left alone for now; it does not keep the crawl alive
    withdrawn: bool = False  # about to be another worker's

    def has_work(self) -> bool:
        return bool(self.heap or self.later or self.on_disk) and not self.withdrawn


class Queues:
    """The frontier in memory, in front of the frontier on disk."""

    def __init__(self, source: QueueSource, capacity: int) -> None:
        self._source = source
        self._capacity = capacity
        self._hosts: dict[str, _Host] = {}
        self._order: list[tuple[float, str]] = []
        self._sequence = 0
        self.buffered = 0

    def load(self, policies: Iterable[HostPolicy]) -> None:
        """Know the hosts that have something waiting on disk."""
        for policy in policies:
            host = self._host(policy.host)
            host.ready, host.on_disk, host.listed = policy.next_fetch, True, math.inf
            self._list(host)

    def add(self, item: QueuedUrl) -> None:
        """Take a URL just admitted; without room it waits on disk for its turn."""
        host = self._host(item.host)
        if not host.on_disk and len(host.heap) < _PER_HOST and self.buffered < self._capacity:
            self._hold(host, item)
            self._list(host)

    def take(self, now: float) -> QueuedUrl | None:
        """The next URL of the host that has been ready longest; its host is busy until `release`."""
        while self._order and self._order[0][0] <= now:
            at, name = heapq.heappop(self._order)
            host = self._hosts.get(name)
            if host is None or at != host.listed or host.withdrawn:
                continue  # gone, or an earlier entry took its place
            host.listed = math.inf
            item = self._next_of(host, now)
            if item is not None:
                host.busy = True
                return item
            self._list(host)
        return None

    def put_back(self, item: QueuedUrl) -> None:
        """Return a URL that was taken but not settled, or that is to be tried again when it is due."""
        self._hold(self._hosts[item.host], item)

    def release(self, name: str, ready: float, *, parked: bool = False) -> None:
        """The request is over, or there was none; the host may be asked again at *ready*, and not before."""
        host = self._hosts[name]
        host.busy, host.ready, host.parked, host.listed = False, ready, parked, math.inf
        self._list(host)

    def acknowledged(self, settled: Iterable[QueuedUrl], admitted: Iterable[QueuedUrl]) -> None:
        """A commit is durable: what left the queue is no longer held, and what found no room is on disk now."""
        for item in admitted:  # first, for what was admitted and settled by the same commit is not on disk
            host = self._hosts[item.host]
            if item.url not in host.held and not host.on_disk:
                host.on_disk = True
                self._list(host)
        for item in settled:
            self._hosts[item.host].held.discard(item.url)

    def waiting(self) -> Iterator[tuple[str, int]]:
        """Hosts that may be asked, and how many of their URLs wait, as far as is known without asking the disk."""
        for host in self._hosts.values():
            if not host.parked and (urls := len(host.heap) + len(host.later) + host.on_disk * _PER_HOST):
                yield host.name, urls

    def withdraw(self, belongs: Callable[[str], bool]) -> list[str]:
        """Take no more URLs of some hosts, which another worker is to serve; returns the names of those known here."""
        hosts = [host for host in self._hosts.values() if belongs(host.name)]
        for host in hosts:
            host.withdrawn = True
        return [host.name for host in hosts]

    def is_busy(self, names: Iterable[str]) -> bool:
        """Whether a request to any of these hosts is under way."""
        return any(host.busy for name in names if (host := self._hosts.get(name)) is not None)

    def drop(self, names: Iterable[str]) -> None:
        """Forget hosts; what waits for them is on disk."""
        for name in names:
            host = self._hosts.pop(name, None)
            if host is not None:
                self.buffered -= len(host.heap) + len(host.later)

    def wake(self) -> float | None:
        """When the next host becomes ready; None when every host is busy or empty."""
        return self._order[0][0] if self._order else None

    def alive(self) -> bool:
        """Whether any host that is not parked has work waiting."""
        return any(host.has_work() and not host.parked for host in self._hosts.values())

    def _host(self, name: str) -> _Host:
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = _Host(name, 0.0)
        return host

    def _hold(self, host: _Host, item: QueuedUrl) -> None:
        host.held.add(item.url)
        self._sequence += 1
        self.buffered += 1
        if item.due:
            heapq.heappush(host.later, (item.due, self._sequence, item))
        else:
            heapq.heappush(host.heap, (item.priority, self._sequence, item))

    def _next_of(self, host: _Host, now: float) -> QueuedUrl | None:
        if not host.heap and host.on_disk:
            self._refill(host)
        while host.later and host.later[0][0] <= now:
            due_item = heapq.heappop(host.later)[2]
            self._sequence += 1
            heapq.heappush(host.heap, (due_item.priority, self._sequence, due_item))
        if not host.heap:
            return None
        self.buffered -= 1
        return heapq.heappop(host.heap)[2]

    def _refill(self, host: _Host) -> None:
        room = min(max(self._capacity - self.buffered, 1), _PER_HOST)  # one at least, or the host would never move
        limit = room + len(host.held)
        found = self._source.queue_of(host.name, limit)
        new = [item for item in found if item.url not in host.held]
        host.on_disk = len(found) == limit or len(new) > room
        for item in new[:room]:
            self._hold(host, item)

    def _list(self, host: _Host) -> None:
        if host.busy or not host.has_work():
            return
        only_later = not host.heap and not host.on_disk
        at = max(host.ready, host.later[0][0]) if only_later else host.ready
        if at < host.listed:
            host.listed = at
            heapq.heappush(self._order, (at, host.name))
