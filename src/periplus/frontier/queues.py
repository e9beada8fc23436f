"""Which host is ready, and which of its URLs comes next?

All queued URLs are on disk; a limited part is also in memory. A host is taken when its delay has passed and it has no
active request, so a slow host never delays another. A URL is *held* while it is in memory, being fetched, or finished
but not yet acknowledged; reading the queue from disk skips held URLs. A host without work is forgotten, so memory is
limited by the hosts with work, not by all hosts ever seen.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from periplus.frontier import priority
from periplus.frontier.host_queue import HostQueue, QueueSource
from periplus.model import HostPolicy, QueuedUrl

_MAX_PER_HOST = 128  # URLs in memory
_RETRY_SECONDS = 0.1


class Queues:
    """The frontier in memory, a cache in front of the frontier on disk."""

    def __init__(self, source: QueueSource, capacity: int, forget: Callable[[str], None] = lambda _: None) -> None:
        """Hold up to *capacity* URLs; *forget* is called for each host without work, once its delay has passed."""
        self._source, self._capacity, self._forget = source, capacity, forget
        self._hosts: dict[str, HostQueue] = {}
        self._order: list[tuple[float, str]] = []
        self._idle_hosts: list[tuple[float, str]] = []  # by the end of their delay; some have work again
        # By URL: number of links, and the item of its valid heap entry.
        self._link_counts: dict[str, tuple[int, QueuedUrl]] = {}
        self._sequence = 0
        self._unbuffered = 0
        self.buffered = 0

    def __len__(self) -> int:
        """Number of hosts with queued URLs, an active request, or a delay after their last request."""
        return len(self._hosts)

    def load(self, policies: Iterable[HostPolicy]) -> None:
        """Add the hosts that have queued URLs on disk."""
        for policy in policies:
            host = self._host(policy.host)
            host.ready, host.order_time = policy.next_fetch, math.inf
            self._expect_on_disk(host, _MAX_PER_HOST)

    def add(self, item: QueuedUrl) -> None:
        """Queue a URL just admitted, in memory if there is room, else on disk only."""
        host = self._host(item.host)
        if not host.on_disk and len(host.heap) < _MAX_PER_HOST and self.buffered < self._capacity:
            self._buffer(host, item)
            self._schedule(host)
        else:
            host.disk_first = True
            self._set_unbuffered(host, host.unbuffered + 1)

    def count_links(self, urls: Iterable[str]) -> None:
        """Count more links to these URLs; a URL in memory comes sooner each time its links have doubled."""
        for url in filter(self._link_counts.__contains__, urls):
            links, item = self._link_counts[url]
            self._link_counts[url] = links + 1, item
            doubled = not (links + 1) & links  # a power of two
            if doubled and (better := priority.linked(item)) < item.priority:
                self._push(self._hosts[item.host], item._replace(priority=better), links + 1)

    def take(self, now: float) -> QueuedUrl | None:
        """Return the next URL of the host that has been ready longest; its host is busy until `release`."""
        self._forget_idle_hosts(now)
        while self._order and self._order[0][0] <= now:
            at, name = heapq.heappop(self._order)
            host = self._hosts.get(name)
            if host is None or at != host.order_time or host.withdrawn:
                continue  # the host is gone, or the entry is outdated
            host.order_time = math.inf
            if host.has_waiting_request:  # the waiting request comes first, once
                host.has_waiting_request, host.own_ready = False, now + _RETRY_SECONDS
                self._schedule(host)
                continue
            item = self._next_of(host, now)
            if item is not None:
                host.busy = True
                return item
            self._schedule(host)
        return None

    def take_host(self, name: str, now: float) -> tuple[float, str] | None:
        """Take a host for a request that is not for one of its queued URLs; it is busy until `release`.

        When the host is busy or its delay has not passed, nothing is taken. The result is then the time of the next try
        and the reason why the host is parked, if it is.
        """
        host = self._host(name)
        if host.busy or host.withdrawn or host.ready > now:
            host.has_waiting_request = True
            return max(host.ready, now + _RETRY_SECONDS), host.parked
        host.busy, host.has_waiting_request, host.order_time = True, False, math.inf
        return None

    def put_back(self, item: QueuedUrl) -> None:
        """Return a URL that was taken but not finished, or that is retried when it is due."""
        self._buffer(self._hosts[item.host], item)

    def postpone(self, item: QueuedUrl, until: float) -> None:
        """Return a URL without a request to its host; the URLs of the host come again at *until*."""
        host = self._hosts[item.host]
        self._buffer(host, item)
        host.busy, host.own_ready, host.order_time = False, until, math.inf
        self._schedule(host)

    def release(self, name: str, ready: float, *, parked: str = "") -> None:
        """End the request of a host, if there was one; the next request may start at *ready*.

        *parked* is the reason why the crawl does not wait for the host.
        """
        host = self._hosts[name]
        host.busy, host.ready, host.parked, host.order_time = False, ready, parked, math.inf
        self._schedule(host)

    def acknowledged(self, settled: Iterable[QueuedUrl], admitted: Iterable[QueuedUrl]) -> None:
        """Update the queues after a durable commit: *settled* URLs are no longer held, *admitted* ones are on disk."""
        for item in admitted:  # first: a URL that one commit admits and settles is not on disk
            if item.due == math.inf:
                continue  # due in another run
            host = self._host(item.host)
            if item.url not in host.held:
                host.disk_first = True
                if not host.on_disk:
                    self._expect_on_disk(host)
        for item in settled:
            if (known := self._hosts.get(item.host)) is not None:
                known.held.discard(item.url)
                self._schedule(known)

    def reload(self, names: Iterable[str]) -> None:
        """Read the queues of these hosts from disk again: URLs were added there."""
        for name in names:
            self._expect_on_disk(self._host(name))

    def discard(self, name: str, belongs: Callable[[str], bool] = lambda _: True) -> None:
        """Drop the queued URLs of a host for which *belongs* is true: they are no longer queued on disk.

        A URL that is being fetched or not yet acknowledged stays.
        """
        host = self._hosts.get(name)
        if host is None:
            return
        dropped = [entry[2] for entry in (*host.heap, *host.not_due) if belongs(entry[2].url)]
        self.buffered -= sum(belongs(entry[2].url) for entry in host.not_due)
        host.heap = [entry for entry in host.heap if self._is_valid(entry[2]) and not belongs(entry[2].url)]
        host.not_due = [entry for entry in host.not_due if not belongs(entry[2].url)]
        heapq.heapify(host.heap)
        heapq.heapify(host.not_due)
        for item in dropped:
            self._discard(item)
            host.held.discard(item.url)
        host.order_time = math.inf
        self._schedule(host)

    def retry(self, name: str, ready: float) -> None:
        """Forget the errors of a host: its URLs are due, and the next request may start at *ready*."""
        host = self._host(name)
        waiting, host.not_due = host.not_due, []
        self.buffered -= len(waiting)
        for _, _, item in waiting:
            self._buffer(host, item._replace(due=0.0, attempts=0))
        if not host.busy:
            host.ready, host.parked, host.order_time = ready, "", math.inf
        self._expect_on_disk(host)

    def waiting_urls(self, now: float, most: int) -> list[QueuedUrl]:
        """Some URLs that wait for the delay of their host, the next ones among them."""
        found = [(at, self._hosts.get(name)) for at, name in self._order[:most]]
        return [host.heap[0][2] for at, host in found if host and at == host.order_time and at > now and host.heap]

    @property
    def backlog(self) -> int:
        """Number of queued URLs, as far as is known without reading the disk."""
        return self.buffered + self._unbuffered

    def waiting(self) -> Iterator[tuple[str, int]]:
        """Yield each host that is not parked with its number of queued URLs; outdated heap entries count too."""
        for host in self._hosts.values():
            if not host.parked and (urls := len(host.heap) + len(host.not_due) + host.unbuffered):
                yield host.name, urls

    def names(self) -> Iterable[str]:
        """The hosts that are known here, also without queued URLs."""
        return self._hosts.keys()

    def withdraw(self, belongs: Callable[[str], bool]) -> list[str]:
        """Take no more URLs of hosts that move to another worker; returns the names of those known here."""
        hosts = [host for host in self._hosts.values() if belongs(host.name)]
        for host in hosts:
            host.withdrawn = True
        return [host.name for host in hosts]

    def is_busy(self, names: Iterable[str]) -> bool:
        """Whether any of these hosts has an active request."""
        return any(host.busy for name in names if (host := self._hosts.get(name)) is not None)

    def drop(self, names: Iterable[str]) -> None:
        """Forget hosts; their URLs are on disk."""
        for name in names:
            host = self._hosts.pop(name, None)
            if host is not None:
                self._set_unbuffered(host, 0)
                self.buffered -= len(host.not_due)
                for _, _, item in host.heap:
                    self._discard(item)

    def next_ready(self) -> float | None:
        """Return when the next host becomes ready; None when every host is busy or without work."""
        return self._order[0][0] if self._order else None

    def has_work(self) -> bool:
        """Whether any host that is not parked has queued URLs."""
        return any(host.has_work() and not host.parked for host in self._hosts.values())

    def parked(self) -> Counter[str]:
        """Count the parked hosts with queued URLs, by reason."""
        return Counter(host.parked for host in self._hosts.values() if host.parked and host.has_work())

    def _host(self, name: str) -> HostQueue:
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = HostQueue(name, 0.0)
        return host

    # -- the URLs of a host -------------------------------------------------------------------------------------

    def _buffer(self, host: HostQueue, item: QueuedUrl) -> None:
        host.held.add(item.url)
        self.buffered += 1
        if item.due:
            self._sequence += 1
            heapq.heappush(host.not_due, (item.due, self._sequence, item))
        else:
            self._push(host, item)

    def _push(self, host: HostQueue, item: QueuedUrl, links: int = 1) -> None:
        """Push a URL that is due; an earlier heap entry of the URL becomes outdated."""
        self._link_counts[item.url] = links, item
        self._sequence += 1
        heapq.heappush(host.heap, (item.priority, self._sequence, item))
        if len(host.heap) > _MAX_PER_HOST and len(host.heap) > 2 * len(host.held):  # most entries are outdated
            host.heap = [entry for entry in host.heap if self._is_valid(entry[2])]
            heapq.heapify(host.heap)

    def _is_valid(self, item: QueuedUrl) -> bool:
        return self._link_counts.get(item.url, (0, None))[1] is item

    def _discard(self, item: QueuedUrl) -> None:
        if self._is_valid(item):
            del self._link_counts[item.url]
            self.buffered -= 1

    def _next_of(self, host: HostQueue, now: float) -> QueuedUrl | None:
        if _must_read_disk(host, now):
            self._refill(host, now)
        while host.not_due and host.not_due[0][0] <= now:
            self._push(host, heapq.heappop(host.not_due)[2])
        if not host.heap:
            return None
        item = heapq.heappop(host.heap)[2]
        self._discard(item)
        while host.heap and not self._is_valid(host.heap[0][2]):  # the first entry must be valid
            heapq.heappop(host.heap)
        return item

    def _refill(self, host: HostQueue, now: float) -> None:
        room = min(
            max(self._capacity - self.buffered, 1), _MAX_PER_HOST
        )  # at least 1, or the host would never progress
        limit = room + len(host.held)
        found = self._source.queue_of(host.name, limit, now)
        new = [item for item in found if item.url not in host.held]
        host.on_disk = len(found) == limit or len(new) > room
        host.disk_first = host.on_disk and not any(priority.is_deferred(item.priority) for item in new[:room][-1:])
        due = None if host.on_disk else self._source.next_due(host.name, now)
        host.due_on_disk = math.inf if due is None else due
        self._set_unbuffered(host, max(host.unbuffered - len(new), _MAX_PER_HOST) if host.on_disk else 0)
        for item in new[:room]:
            self._buffer(host, item)

    def _expect_on_disk(self, host: HostQueue, urls: int = 1) -> None:
        """Note that at least so many URLs of a host are on disk."""
        host.on_disk = host.disk_first = True
        self._set_unbuffered(host, max(host.unbuffered, urls))
        self._schedule(host)

    def _set_unbuffered(self, host: HostQueue, urls: int) -> None:
        self._unbuffered += urls - host.unbuffered
        host.unbuffered = urls

    # -- the order of hosts -------------------------------------------------------------------------------------

    def _schedule(self, host: HostQueue) -> None:
        if host.busy or host.withdrawn:
            return
        if not host.has_work():
            if not host.held:
                heapq.heappush(self._idle_hosts, (host.ready, host.name))
            return
        at = host.next_time()
        if at < host.order_time:
            host.order_time = at
            heapq.heappush(self._order, (at, host.name))

    def _forget_idle_hosts(self, now: float) -> None:
        while self._idle_hosts and self._idle_hosts[0][0] <= now:
            _, name = heapq.heappop(self._idle_hosts)
            host = self._hosts.get(name)
            if host is not None and host.ready <= now and host.is_idle():
                self._set_unbuffered(host, 0)
                del self._hosts[name]
                self._forget(name)


def _must_read_disk(host: HostQueue, now: float) -> bool:
    """Whether disk may hold a URL that comes before all in memory; deferred URLs come after those on disk."""
    if host.heap and not priority.is_deferred(host.heap[0][0]):
        return False
    return host.due_on_disk <= now or (host.on_disk and (host.disk_first or not host.heap))
