"""How much of all large bodies together may be in memory?

Most pages are small. A body that grows beyond `LARGE` needs room in the hold for all that it may become; while there is
none it waits, the rest of it still with its server. The room is kept until whoever asked for the body has done with it.
"""

from __future__ import annotations

from collections.abc import Callable

LARGE = 1 << 20  # bytes


class MemoryBudget:
    """The room for large bodies of one worker; a host has one at a time."""

    def __init__(self, capacity: int) -> None:
        """In bytes; a body that is larger still gets it all."""
        self._capacity = self._free = capacity
        self._laden: dict[str, int] = {}  # by host: how much room its body has
        self._waiting: dict[str, tuple[int, Callable[[], None]]] = {}  # by host, first come first served

    def take(self, host: str, size: int, go_on: Callable[[], None]) -> bool:
        """Whether there is room for the body of a host; if not, *go_on* is called as soon as it has some."""
        size = min(size, self._capacity)
        if host in self._laden:
            return True
        if self._waiting or size > self._free:
            self._waiting[host] = size, go_on
            return False
        self._load(host, size)
        return True

    def leave(self, host: str) -> None:
        """The body of a host is needed no longer, or will not come."""
        self._waiting.pop(host, None)
        self._free += self._laden.pop(host, 0)
        while self._waiting:
            following, (size, go_on) = next(iter(self._waiting.items()))
            if size > self._free:
                return
            del self._waiting[following]
            self._load(following, size)
            go_on()

    def _load(self, host: str, size: int) -> None:
        self._laden[host] = size
        self._free -= size
