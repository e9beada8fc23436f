"""Resolves host names to IP addresses, without blocking the event loop.

`getaddrinfo` of the operating system runs in threads, because it blocks for 10 seconds and more when a name server does
not respond. Such name servers must not delay other lookups: after 1 second a lookup counts as slow, and another lookup
starts beside it. Names of a domain that was slow before wait until no other name is queued, and use at most a quarter
of the threads. Results are cached for 5 minutes, failures for 1 minute or less.
"""

from __future__ import annotations

import asyncio
import math
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue

from periplus.url import registrable_domain

_MAX_FAST_LOOKUPS = 32  # concurrent lookups that are not slow
_SLOW_AFTER = 1.0  # seconds
_MAX_THREADS = 256  # concurrent lookups, slow ones included; 256 waiting threads take 4 MB
_MAX_SLOW_DOMAIN_THREADS = 64
_MAX_SLOW_DOMAINS = 50_000
_SHORTEST_RETRY, _LONGEST_RETRY, _RETRIES_PER_SECOND = 0.5, 10.0, 200  # seconds, seconds, number
_MAX_CACHED = 50_000  # hosts
_TTL, _FAILURE_TTL, _SERVER_ERROR_TTL = 300.0, 60.0, 5.0  # seconds
_SERVER_ERRORS = frozenset({socket.EAI_AGAIN, socket.EAI_FAIL, socket.EAI_SYSTEM, socket.EAI_MEMORY})
_NEVER_LOOKED_UP = ".onion"  # Tor names; a DNS query would reveal them (RFC 7686)

Query = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Lookup:
    """The result of a DNS lookup."""

    addresses: tuple[str, ...]  # IPv4 first, because many hosts publish IPv6 addresses that do not work
    failure: str = ""  # why there is no address
    expires: float = 0.0  # monotonic seconds


class LookupPending(Exception):  # noqa: N818  # not an error: the caller retries
    """The lookup is queued or still running; a later call gets its result."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds  # until the next retry
        super().__init__(f"the DNS lookup is still running; retry in {seconds:.2f} s")


@dataclass(slots=True, eq=False)
class _PendingLookup:
    """One lookup, from the first call for its host to the result."""

    host: str
    domain: str
    result: asyncio.Future[Lookup]
    callers: int = 0  # calls that wait for the result
    started: float = math.inf  # monotonic seconds
    is_slow: bool = False
    is_of_slow_domain: bool = False
    timer: asyncio.TimerHandle | None = None


class Resolver:
    """Resolves host names; one lookup per host runs at a time."""

    def __init__(self, timeout: float, query: Query | None = None) -> None:
        """*timeout*: seconds from the start of a lookup until it counts as failed; *query* replaces `getaddrinfo`."""
        self._timeout = timeout
        self._cache: dict[str, Lookup] = {}
        self._pending: dict[str, _PendingLookup] = {}
        self._threads = _Threads(query or _query_system, self._store)

    async def look_up(self, host: str) -> Lookup:
        """Return the addresses of a host name, or why it has none.

        Raises `LookupPending` after 1 second without a result: the lookup continues, and a later call gets its result.
        """
        cached = self._cache.get(host)
        if cached is not None and time.monotonic() < cached.expires:
            return cached
        if host.rstrip(".").endswith(_NEVER_LOOKED_UP):
            return Lookup((), f"{_NEVER_LOOKED_UP} names are not looked up")
        lookup = self._pending.get(host) or self._start(host)
        left = lookup.started + self._timeout - time.monotonic()
        lookup.callers += 1
        try:
            return await asyncio.wait_for(asyncio.shield(lookup.result), min(max(left, 0.0), _SLOW_AFTER))
        except TimeoutError:
            if left > _SLOW_AFTER:
                raise LookupPending(self._retry_seconds()) from None
        finally:
            lookup.callers -= 1
        return Lookup((), f"no answer from the name server within {self._timeout:g} s")

    def demote(self, host: str, address: str) -> None:
        """Move an address to the end of the cached list, because connecting to it failed."""
        cached = self._cache.get(host)
        if cached is not None and address in cached.addresses:
            others = tuple(other for other in cached.addresses if other != address)
            self._cache[host] = Lookup((*others, address), "", cached.expires)

    def close(self) -> None:
        """Stop the threads as soon as their lookups end."""
        self._threads.close()

    def _start(self, host: str) -> _PendingLookup:
        result: asyncio.Future[Lookup] = asyncio.get_running_loop().create_future()
        lookup = self._pending[host] = _PendingLookup(host, registrable_domain(host), result)
        self._threads.submit(lookup)
        return lookup

    def _retry_seconds(self) -> float:
        """Return the seconds until a caller retries; they grow with the pending lookups to limit retries per second."""
        return min(max(_SHORTEST_RETRY, len(self._pending) / _RETRIES_PER_SECOND), _LONGEST_RETRY)

    def _store(self, lookup: _PendingLookup, found: Lookup) -> None:
        if found.failure and not lookup.callers:  # it must still be cached when the caller retries
            expires = max(found.expires, time.monotonic() + _FAILURE_TTL)
            found = Lookup((), found.failure, expires)
        self._cache.pop(lookup.host, None)
        self._cache[lookup.host] = found
        if len(self._cache) > _MAX_CACHED:
            del self._cache[next(iter(self._cache))]
        del self._pending[lookup.host]
        if not lookup.result.done():
            lookup.result.set_result(found)


class _Threads:
    """Runs blocking lookups in threads, and decides which name is looked up next."""

    def __init__(self, query: Query, on_result: Callable[[_PendingLookup, Lookup], None]) -> None:
        self._query, self._on_result = query, on_result
        self._queue: deque[_PendingLookup] = deque()
        self._slow_domain_queue: deque[_PendingLookup] = deque()
        self._slow_domains: dict[str, None] = {}
        self._tasks: SimpleQueue[_PendingLookup | None] = SimpleQueue()
        self._threads = 0
        # Running lookups, and how many of them are slow or of slow domains.
        self._busy, self._slow, self._slow_domain_lookups = 0, 0, 0

    def submit(self, lookup: _PendingLookup) -> None:
        """Queue a lookup."""
        self._queue.append(lookup)
        self._start_queued()

    def close(self) -> None:
        """Drop queued lookups; each thread ends after its current lookup."""
        self._queue.clear()
        self._slow_domain_queue.clear()
        for _ in range(self._threads):
            self._tasks.put(None)
        self._threads = 0

    def _start_queued(self) -> None:
        while self._busy - self._slow < _MAX_FAST_LOOKUPS and (queue := self._next_queue()) and self._has_idle_thread():
            lookup = queue.popleft()
            lookup.is_of_slow_domain = queue is self._slow_domain_queue
            lookup.started = time.monotonic()
            lookup.timer = asyncio.get_running_loop().call_later(_SLOW_AFTER, self._mark_slow, lookup)
            self._busy += 1
            self._slow_domain_lookups += lookup.is_of_slow_domain
            self._tasks.put(lookup)

    def _next_queue(self) -> deque[_PendingLookup] | None:
        """Return the queue of the next name: names of slow domains come last."""
        while self._queue and self._queue[0].domain in self._slow_domains:
            self._slow_domain_queue.append(self._queue.popleft())
        if self._queue:
            return self._queue
        return self._slow_domain_queue if self._slow_domain_lookups < _MAX_SLOW_DOMAIN_THREADS else None

    def _has_idle_thread(self) -> bool:
        if self._busy < self._threads:
            return True
        if self._threads == _MAX_THREADS:
            return False
        arguments = (asyncio.get_running_loop(),)
        try:
            threading.Thread(target=self._run_thread, args=arguments, name="resolver", daemon=True).start()
        except RuntimeError:  # the system allows no more threads
            if not self._threads:
                raise
            return False
        self._threads += 1
        return True

    def _mark_slow(self, lookup: _PendingLookup) -> None:
        """Count a lookup as slow after 1 second, so that another one may start."""
        lookup.is_slow = True
        self._slow += 1
        self._slow_domains[lookup.domain] = None
        if len(self._slow_domains) > _MAX_SLOW_DOMAINS:
            del self._slow_domains[next(iter(self._slow_domains))]
        self._start_queued()

    def _finish(self, lookup: _PendingLookup, found: Lookup) -> None:
        assert lookup.timer is not None
        lookup.timer.cancel()
        self._busy -= 1
        self._slow -= lookup.is_slow
        self._slow_domain_lookups -= lookup.is_of_slow_domain
        if not lookup.is_slow:
            self._slow_domains.pop(lookup.domain, None)
        self._on_result(lookup, found)
        self._start_queued()

    def _run_thread(self, loop: asyncio.AbstractEventLoop) -> None:
        """Run lookups until the queue yields None."""
        while (lookup := self._tasks.get()) is not None:
            found = self._find(lookup.host)
            try:
                loop.call_soon_threadsafe(self._finish, lookup, found)
            except RuntimeError:  # the event loop is closed
                return

    def _find(self, host: str) -> Lookup:
        try:
            addresses = dict.fromkeys(self._query(host))
        except OSError as error:
            ttl = _SERVER_ERROR_TTL if error.errno in _SERVER_ERRORS else _FAILURE_TTL
            return Lookup((), error.strerror or str(error), time.monotonic() + ttl)
        return Lookup(tuple(sorted(addresses, key=_is_v6)), "", time.monotonic() + _TTL)


def _is_v6(address: str) -> bool:
    return ":" in address


def _query_system(host: str) -> list[str]:
    """Call `getaddrinfo` with bytes, because Python would encode and check a string first."""
    found = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]
