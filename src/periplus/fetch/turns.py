"""Whose turn is it to ask?"""

from __future__ import annotations

import asyncio


class Turns:
    """At most one request to a host at a time, and a limited number together."""

    def __init__(self, together: int) -> None:
        self._together = together
        self._taken: dict[str, asyncio.Future[None]] = {}  # by host; ends with its turn

    async def take(self, host: str) -> None:
        """Wait for the turn of a host; it lasts until `leave`. Nobody waits as long as nobody asks too much."""
        while host in self._taken or len(self._taken) >= self._together:
            before = [self._taken[host]] if host in self._taken else self._taken.values()
            await asyncio.wait(before, return_when=asyncio.FIRST_COMPLETED)
        self._taken[host] = asyncio.get_running_loop().create_future()

    def leave(self, host: str) -> None:
        """The turn of a host is over."""
        self._taken.pop(host).set_result(None)
