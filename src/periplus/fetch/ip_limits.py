"""Is this address free, with all that other workers ask of it?

A table in memory that all workers of a crawl share, made before they part. An address has its row by hash: two that
share one are treated as one address, which only makes us more polite.

How much may be asked of one address, beside what its hosts allow?
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

_REMEMBERED = 65_536


@dataclass(frozen=True, slots=True)
class AddressRule:
    """The limits of one address, and the number under which all workers keep its state."""

    key: int
    connections: int  # open at once; 0: any number
    delay: float  # seconds from one request to the next

    def keeps(self, connections: int) -> bool:
        """Whether, with so many open, one may wait for its next use: half of them, so that other hosts have room."""
        return not self.connections or connections <= self.connections // 2


class AddressRules:
    """The rules under one configuration: those of the smallest network that holds an address, else the general one."""

    def __init__(self, settings: Politeness) -> None:
        networks = [(ip_network(limit.range), limit.connections, limit.delay) for limit in settings.address_limits]
        self._networks = sorted(networks, key=lambda entry: entry[0].prefixlen, reverse=True)
        self._general = (settings.address_connections, settings.address_delay)
        self.of = lru_cache(maxsize=_REMEMBERED)(self._find)

    def _find(self, ip: str) -> AddressRule | None:
        """The limits of an address that may be dialled; None when it has none."""
        address = embedded_ipv4(ip_address(ip))[-1]
        general = (0, 0.0) if is_private(address) else self._general
        own = ((connections, delay) for network, connections, delay in self._networks if address in network)
        connections, delay = next(own, general)
        return AddressRule(crc32(address.packed), connections, delay) if connections or delay else None


ROWS = 1 << 16
_LOOK_AGAIN = 0.05  # seconds; the soonest return to an address whose connections are all taken


class AddressTable:
    """When every address may be asked again, and how many connections each worker has open to it.

    While a connection to an address is being made, no other request to it begins: only when the request is on its way
    does the delay begin to count, so the server never sees two requests closer than that.
    """

    def __init__(self, settings: Politeness, workers: int = 1) -> None:
        self.rules = AddressRules(settings)
        self._memory = mmap.mmap(-1, ROWS * (8 + 2 * workers))
        view = memoryview(self._memory)
        self._free_at = view[: ROWS * 8].cast("d")  # monotonic seconds, the same in all processes of a machine
        self._open = view[ROWS * 8 :].cast("H")
        self._locked = _Lock()

    def claim(self, rule: AddressRule, worker: int, *, connected: bool, patience: float) -> float:
        """Begin a request; returns the seconds to wait instead, when it is too early for one.

        *connected*: it has a connection of its own already. *patience*: seconds after which it is given up, should
        nobody say that it was sent or is over.
        """
        row, now = rule.key % ROWS, time.monotonic()
        with self._locked:
            wait = self._free_at[row] - now
            if wait > 0:
                return min(wait, max(rule.delay, _LOOK_AGAIN))  # sooner than its delay from now it cannot be free
            if not connected:
                if 0 < rule.connections <= self._connections(row):
                    return max(rule.delay, _LOOK_AGAIN)
                self._open[worker * ROWS + row] += 1
            self._free_at[row] = now + patience
            return 0.0

    def sent(self, rule: AddressRule) -> None:
        """The request is on its way: the delay begins. Nobody else writes here while a request is being made."""
        self._free_at[rule.key % ROWS] = time.monotonic() + rule.delay

    def disconnected(self, rule: AddressRule, worker: int) -> None:
        """One connection to the address is closed."""
        cell = worker * ROWS + rule.key % ROWS
        with self._locked:
            self._open[cell] = max(self._open[cell] - 1, 0)

    def connections(self, rule: AddressRule) -> int:
        """How many connections all workers have open to an address."""
        return self._connections(rule.key % ROWS)

    def forget_worker(self, worker: int) -> None:
        """A worker is gone, and with it all its connections."""
        with self._locked:
            self._open[worker * ROWS : (worker + 1) * ROWS] = memoryview(bytes(2 * ROWS)).cast("H")

    def _connections(self, row: int) -> int:
        return sum(self._open[row::ROWS])


class _Lock:
    """Held by one process at a time, and let go by the kernel should that process die."""

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
