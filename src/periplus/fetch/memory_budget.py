"""Limits the memory for large response bodies of one worker.

Most pages are small. When a body grows beyond `LARGE`, the fetcher reserves its maximum size. While the budget is used
up, the transfer is paused and the rest of the body stays with the server. The reservation ends when the caller of the
fetch releases the body.
"""

from __future__ import annotations

from collections.abc import Callable

LARGE = 1 << 20  # bytes


class MemoryBudget:
    """Reserves memory for large bodies, in the order of requests; a host has one body at a time."""

    def __init__(self, capacity: int) -> None:
        """*capacity* in bytes; a larger body gets all of it."""
        self._capacity = self._free = capacity
        self._reserved: dict[str, int] = {}  # by host: bytes
        self._waiting: dict[str, tuple[int, Callable[[], None]]] = {}  # by host, in order of arrival

    def reserve(self, host: str, size: int, on_available: Callable[[], None]) -> bool:
        """Reserve *size* bytes and return True, or return False and call *on_available* once they are reserved."""
        size = min(size, self._capacity)
        if host in self._reserved:
            return True
        if self._waiting or size > self._free:
            self._waiting[host] = size, on_available
            return False
        self._allocate(host, size)
        return True

    def release(self, host: str) -> None:
        """End the reservation of a host, or its wait for one, and serve the hosts that wait."""
        self._waiting.pop(host, None)
        self._free += self._reserved.pop(host, 0)
        while self._waiting:
            next_host, (size, on_available) = next(iter(self._waiting.items()))
            if size > self._free:
                return
            del self._waiting[next_host]
            self._allocate(next_host, size)
            on_available()

    def _allocate(self, host: str, size: int) -> None:
        self._reserved[host] = size
        self._free -= size
