"""Which host is ready, and which of its URLs comes next?

Every URL waits on disk; a bounded part also waits in memory. A host is taken when its delay has passed and no request
to it is under way, so a slow host never holds up another. What is in memory, under way, or finished but not yet
acknowledged is *held*: reading the queue from disk passes over it. A host that has nothing left is forgotten, so memory
is bounded by the hosts with work, not by the hosts ever met.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from periplus.frontier import priority
from periplus.frontier.host_queue import HostQueue, QueueSource
from periplus.model import HostPolicy, QueuedUrl

_PER_HOST = 128
_LOOK_AGAIN = 0.1  # seconds


class Queues:
    """The frontier in memory, in front of the frontier on disk."""

    def __init__(self, source: QueueSource, capacity: int, forget: Callable[[str], None] = lambda _: None) -> None:
        """Holds *capacity* URLs; *forget* is told the hosts that have nothing left, once their rest is over."""
        self._source, self._capacity, self._forget = source, capacity, forget
        self._hosts: dict[str, HostQueue] = {}
        self._order: list[tuple[float, str]] = []
        self._drained: list[tuple[float, str]] = []  # by the end of their rest; some have work again
        self._links: dict[str, tuple[int, QueuedUrl]] = {}  # by URL: links met, and the item of its valid heap entry
        self._sequence = 0
        self._outside = 0
        self.buffered = 0

    def __len__(self) -> int:
        """Hosts that have something waiting, are being asked, or rest after their last request."""
        return len(self._hosts)

    def load(self, policies: Iterable[HostPolicy]) -> None:
        """Know the hosts that have something waiting on disk."""
        for policy in policies:
            host = self._host(policy.host)
            host.ready, host.listed = policy.next_fetch, math.inf
            self._expect_on_disk(host, _PER_HOST)

    def add(self, item: QueuedUrl) -> None:
        """Take a URL just admitted; without room it waits on disk for its turn."""
        host = self._host(item.host)
        if not host.on_disk and len(host.heap) < _PER_HOST and self.buffered < self._capacity:
            self._hold(host, item)
            self._list(host)
        else:
            host.unread = True
            self._count_outside(host, host.outside + 1)

    def mention(self, urls: Iterable[str]) -> None:
        """More links to these were met: those that wait in memory come sooner, the more so the more there are."""
        for url in filter(self._links.__contains__, urls):
            links, item = self._links[url]
            self._links[url] = links + 1, item
            have_doubled = not (links + 1) & links  # a power of two
            if have_doubled and (sooner := priority.linked(item)) < item.priority:
                self._enter(self._hosts[item.host], item._replace(priority=sooner), links + 1)

    def take(self, now: float) -> QueuedUrl | None:
        """The next URL of the host that has been ready longest; its host is busy until `release`."""
        self._forget_drained(now)
        while self._order and self._order[0][0] <= now:
            at, name = heapq.heappop(self._order)
            host = self._hosts.get(name)
            if host is None or at != host.listed or host.withdrawn:
                continue  # gone, or an earlier entry took its place
            host.listed = math.inf
            if host.wanted:  # its own URLs let the other go first, once
                host.wanted, host.again = False, now + _LOOK_AGAIN
                self._list(host)
                continue
            item = self._next_of(host, now)
            if item is not None:
                host.busy = True
                return item
            self._list(host)
        return None

    def borrow(self, name: str, now: float) -> tuple[float, str] | None:
        """Take a host for a request that none of its own URLs asks for; it is busy until `release`.

        When it is busy or resting, nothing is taken: the answer is when to try again, and why it is parked, if it is.
        """
        host = self._host(name)
        if host.busy or host.withdrawn or host.ready > now:
            host.wanted = True
            return max(host.ready, now + _LOOK_AGAIN), host.parked
        host.busy, host.wanted, host.listed = True, False, math.inf
        return None

    def put_back(self, item: QueuedUrl) -> None:
        """Return a URL that was taken but not settled, or that is to be tried again when it is due."""
        self._hold(self._hosts[item.host], item)

    def postpone(self, item: QueuedUrl, until: float) -> None:
        """Nothing was asked of the host, for want of something else: its URLs come again at *until*."""
        host = self._hosts[item.host]
        self._hold(host, item)
        host.busy, host.again, host.listed = False, until, math.inf
        self._list(host)

    def release(self, name: str, ready: float, *, parked: str = "") -> None:
        """The request is over, or there was none; the host may be asked again at *ready*, and not before.

        *parked* is the reason why the crawl does not wait for the host.
        """
        host = self._hosts[name]
        host.busy, host.ready, host.parked, host.listed = False, ready, parked, math.inf
        self._list(host)

    def acknowledged(self, settled: Iterable[QueuedUrl], admitted: Iterable[QueuedUrl]) -> None:
        """A commit is durable: what left the queue is no longer held, and what found no room is on disk now."""
        for item in admitted:  # first, for what was admitted and settled by the same commit is not on disk
            if item.due == math.inf:
                continue  # it waits for another run
            host = self._host(item.host)
            if item.url not in host.held:
                host.unread = True
                if not host.on_disk:
                    self._expect_on_disk(host)
        for item in settled:
            if (known := self._hosts.get(item.host)) is not None:
                known.held.discard(item.url)
                self._list(known)

    def restock(self, names: Iterable[str]) -> None:
        """URLs of these hosts wait on disk again."""
        for name in names:
            self._expect_on_disk(self._host(name))

    @property
    def backlog(self) -> int:
        """How many URLs wait, as far as is known without asking the disk."""
        return self.buffered + self._outside

    def waiting(self) -> Iterator[tuple[str, int]]:
        """The same for each host that may be asked; the places in memory that were given up count too."""
        for host in self._hosts.values():
            if not host.parked and (urls := len(host.heap) + len(host.later) + host.outside):
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
                self._count_outside(host, 0)
                self.buffered -= len(host.later)
                for _, _, item in host.heap:
                    self._leave(item)

    def wake(self) -> float | None:
        """When the next host becomes ready; None when every host is busy or empty."""
        return self._order[0][0] if self._order else None

    def alive(self) -> bool:
        """Whether any host that is not parked has work waiting."""
        return any(host.has_work() and not host.parked for host in self._hosts.values())

    def parked(self) -> Counter[str]:
        """How many hosts with work waiting are parked, by reason."""
        return Counter(host.parked for host in self._hosts.values() if host.parked and host.has_work())

    def _host(self, name: str) -> HostQueue:
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = HostQueue(name, 0.0)
        return host

    # -- the URLs of a host -------------------------------------------------------------------------------------

    def _hold(self, host: HostQueue, item: QueuedUrl) -> None:
        host.held.add(item.url)
        self.buffered += 1
        if item.due:
            self._sequence += 1
            heapq.heappush(host.later, (item.due, self._sequence, item))
        else:
            self._enter(host, item)

    def _enter(self, host: HostQueue, item: QueuedUrl, links: int = 1) -> None:
        """Give a URL a place among those that are due; one that it had before is no longer valid."""
        self._links[item.url] = links, item
        self._sequence += 1
        heapq.heappush(host.heap, (item.priority, self._sequence, item))
        if len(host.heap) > _PER_HOST and len(host.heap) > 2 * len(host.held):  # most are places that were given up
            host.heap = [entry for entry in host.heap if self._is_valid(entry[2])]
            heapq.heapify(host.heap)

    def _is_valid(self, item: QueuedUrl) -> bool:
        return self._links.get(item.url, (0, None))[1] is item

    def _leave(self, item: QueuedUrl) -> None:
        if self._is_valid(item):
            del self._links[item.url]
            self.buffered -= 1

    def _next_of(self, host: HostQueue, now: float) -> QueuedUrl | None:
        if _is_worth_reading_on_disk(host, now):
            self._refill(host, now)
        while host.later and host.later[0][0] <= now:
            self._enter(host, heapq.heappop(host.later)[2])
        if not host.heap:
            return None
        item = heapq.heappop(host.heap)[2]
        self._leave(item)
        while host.heap and not self._is_valid(host.heap[0][2]):  # the best one always is
            heapq.heappop(host.heap)
        return item

    def _refill(self, host: HostQueue, now: float) -> None:
        room = min(max(self._capacity - self.buffered, 1), _PER_HOST)  # one at least, or the host would never move
        limit = room + len(host.held)
        found = self._source.queue_of(host.name, limit, now)
        new = [item for item in found if item.url not in host.held]
        host.on_disk = len(found) == limit or len(new) > room
        host.unread = host.on_disk and not any(priority.is_deferred(item.priority) for item in new[:room][-1:])
        due = None if host.on_disk else self._source.next_due(host.name, now)
        host.due_on_disk = math.inf if due is None else due
        self._count_outside(host, max(host.outside - len(new), _PER_HOST) if host.on_disk else 0)
        for item in new[:room]:
            self._hold(host, item)

    def _expect_on_disk(self, host: HostQueue, urls: int = 1) -> None:
        """So many URLs of a host wait on disk, perhaps more."""
        host.on_disk = host.unread = True
        self._count_outside(host, max(host.outside, urls))
        self._list(host)

    def _count_outside(self, host: HostQueue, urls: int) -> None:
        self._outside += urls - host.outside
        host.outside = urls

    # -- the order of hosts -------------------------------------------------------------------------------------

    def _list(self, host: HostQueue) -> None:
        if host.busy or host.withdrawn:
            return
        if not host.has_work():
            if not host.held:
                heapq.heappush(self._drained, (host.ready, host.name))
            return
        at = host.moment()
        if at < host.listed:
            host.listed = at
            heapq.heappush(self._order, (at, host.name))

    def _forget_drained(self, now: float) -> None:
        while self._drained and self._drained[0][0] <= now:
            _, name = heapq.heappop(self._drained)
            host = self._hosts.get(name)
            if host is not None and host.ready <= now and host.is_drained():
                self._count_outside(host, 0)
                del self._hosts[name]
                self._forget(name)


def _is_worth_reading_on_disk(host: HostQueue, now: float) -> bool:
    """Whether disk may hold a URL that comes before all in memory; deferred URLs come after those on disk."""
    if host.heap and not priority.is_deferred(host.heap[0][0]):
        return False
    return host.due_on_disk <= now or (host.on_disk and (host.unread or not host.heap))
