"""Limits the connections to one IP address and the delay between requests to it, over all workers.

The limits come from `politeness.address_*`. The state is a table in shared memory, created before the workers are
forked. The hash of an address selects its row. Two addresses in one row share the limits of one address, which makes
the crawl slower for them, never faster.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import tempfile
import time
import weakref
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address, ip_network
from types import TracebackType
from zlib import crc32

from periplus.config.settings import Politeness
from periplus.fetch.ssrf_guard import embedded_ipv4, is_private

_CACHED_RULES = 65_536  # addresses


@dataclass(frozen=True, slots=True)
class AddressRule:
    """The limits of one IP address, and the key of its state in the shared table."""

    key: int
    connections: int  # open at once; 0: unlimited
    delay: float  # seconds from one request to the next

    def allows_idle(self, connections: int) -> bool:
        """Whether an idle connection may stay open when *connections* are open.

        Idle connections may take half of the limit; the other half is left for other hosts at the address.
        """
        return not self.connections or connections <= self.connections // 2


class AddressRules:
    """Finds the limits of an IP address: those of the smallest network that contains it, else the default limits."""

    def __init__(self, settings: Politeness) -> None:
        networks = [(ip_network(limit.range), limit.connections, limit.delay) for limit in settings.address_limits]
        self._networks = sorted(networks, key=lambda entry: entry[0].prefixlen, reverse=True)
        self._default = (settings.address_connections, settings.address_delay)
        self.of = lru_cache(maxsize=_CACHED_RULES)(self._find)

    def _find(self, ip: str) -> AddressRule | None:
        """Return the limits of an IP address; None when it has none."""
        address = embedded_ipv4(ip_address(ip))[-1]
        default = (0, 0.0) if is_private(address) else self._default
        specific = ((connections, delay) for network, connections, delay in self._networks if address in network)
        connections, delay = next(specific, default)
        return AddressRule(crc32(address.packed), connections, delay) if connections or delay else None


ROWS = 1 << 16
_SHORTEST_RETRY = 0.05  # seconds until a retry when all connections to an address are in use


class AddressTable:
    """Holds when each IP address may be requested again, and the open connections of each worker to it.

    While a worker connects to an address, no other request to that address starts. The delay starts when the request is
    sent, so the server never receives two requests closer together than the delay.
    """

    def __init__(self, settings: Politeness, workers: int = 1) -> None:
        self.rules = AddressRules(settings)
        self._memory = mmap.mmap(-1, ROWS * (8 + 2 * workers))
        view = memoryview(self._memory)
        self._free_at = view[: ROWS * 8].cast("d")  # monotonic seconds, the same in all processes of a machine
        self._open = view[ROWS * 8 :].cast("H")
        self._lock = _Lock()

    def claim(self, rule: AddressRule, worker: int, *, connected: bool, timeout: float) -> float:
        """Start a request and return 0, or return the seconds to wait when the limits do not allow it yet.

        *connected*: the request uses an open connection. *timeout*: the claim expires after so many seconds without a
        call of `mark_sent`, for example because the worker was killed.
        """
        row, now = rule.key % ROWS, time.monotonic()
        with self._lock:
            wait = self._free_at[row] - now
            if wait > 0:
                return min(wait, max(rule.delay, _SHORTEST_RETRY))  # the delay may start only when the request is sent
            if not connected:
                if 0 < rule.connections <= self._connections(row):
                    return max(rule.delay, _SHORTEST_RETRY)
                self._open[worker * ROWS + row] += 1
            self._free_at[row] = now + timeout
            return 0.0

    def mark_sent(self, rule: AddressRule) -> None:
        """Start the delay: the request was sent. Only the worker with the claim writes here, so no lock is needed."""
        self._free_at[rule.key % ROWS] = time.monotonic() + rule.delay

    def connection_closed(self, rule: AddressRule, worker: int) -> None:
        """Count one open connection less to the address."""
        cell = worker * ROWS + rule.key % ROWS
        with self._lock:
            self._open[cell] = max(self._open[cell] - 1, 0)

    def connections(self, rule: AddressRule) -> int:
        """Return the number of connections that all workers have open to an address."""
        return self._connections(rule.key % ROWS)

    def forget_worker(self, worker: int) -> None:
        """Remove the connections of a worker that has ended."""
        with self._lock:
            self._open[worker * ROWS : (worker + 1) * ROWS] = memoryview(bytes(2 * ROWS)).cast("H")

    def _connections(self, row: int) -> int:
        return sum(self._open[row::ROWS])


class _Lock:
    """A lock between processes; the kernel releases it when the process that holds it dies."""

    def __init__(self) -> None:
        with tempfile.TemporaryFile() as file:
            self._descriptor = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._descriptor)

    def __enter__(self) -> None:
        fcntl.lockf(self._descriptor, fcntl.LOCK_EX)

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        fcntl.lockf(self._descriptor, fcntl.LOCK_UN)
