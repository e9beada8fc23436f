"""Caches parsed robots.txt files: what does this site allow, and is the file recent enough?"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import NamedTuple

from periplus.fetch.robots import Robots
from periplus.model import Response, RobotsFile
from periplus.store.catalog.catalog import Catalog

_FILES = 20_000
_MEMORY = 64 << 20  # bytes of parsed rules; a hostile file of 512 KiB takes 8 MB
_LARGE = 64 << 10  # bytes of a file that is parsed in a thread: 20 ms and more
_QUEUE = 8  # large files that are being parsed or wait for it; each occupies one of the concurrent visits
_RETRY_SECONDS = 1.0


class RobotsBusy(Exception):  # noqa: N818  # no error: a reason to retry later
    """The file has to be parsed, and too many other large files wait already."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds  # until a retry makes sense
        super().__init__(f"other robots.txt files are being parsed; retry in {seconds:.2f} s")


class _Entry(NamedTuple):
    expires: float
    rules: Robots
    memory: int  # bytes


class RobotsCache:
    """An LRU cache of parsed robots.txt files in front of the catalog; no file is used beyond its maximum age.

    When the cache is full it drops the file used least recently; the catalog still has it.
    """

    def __init__(self, catalog: Catalog, age: float) -> None:
        self._catalog = catalog
        self._age = age
        self._cache: OrderedDict[str, _Entry] = OrderedDict()
        self._memory = 0
        self._parsing = asyncio.Lock()  # held while a large file is parsed
        self._queued = 0  # large files that are being parsed or wait for it

    async def find(self, origin: str, now: float) -> Robots | None:
        """Return the rules of an origin, or None when its robots.txt has to be fetched.

        Raises `RobotsBusy` when the file is large and too many other large files wait to be parsed.
        """
        entry = self._cache.get(origin)
        if entry is None:
            stored = self._catalog.robots(origin)
            # Every run fetches an unreachable robots.txt again.
            if stored is None or is_unreachable(stored.status) or now >= stored.fetched_at + self._age:
                return None
            if len(stored.body) >= _LARGE and self._queued >= _QUEUE:
                raise RobotsBusy(_RETRY_SECONDS)
            return (await self._keep(stored)).rules
        self._cache.move_to_end(origin)
        return entry.rules if now < entry.expires else None

    async def put(self, origin: str, response: Response) -> tuple[RobotsFile, Robots]:
        """Parse and cache a fetched robots.txt."""
        status = 0 if response.failure is not None else response.status  # a partial file counts as unreachable
        file = RobotsFile(origin, response.fetched_at, status, response.body)
        return file, (await self._keep(file)).rules

    def forget(self, origin: str) -> None:
        """Drop the rules of an origin from the cache."""
        if (entry := self._cache.pop(origin, None)) is not None:
            self._memory -= entry.memory

    async def _keep(self, file: RobotsFile) -> _Entry:
        entry = self._entry(file) if len(file.body) < _LARGE else await self._entry_of_large(file)
        self.forget(file.origin)
        self._cache[file.origin] = entry
        self._memory += entry.memory
        while len(self._cache) > 1 and (len(self._cache) > _FILES or self._memory > _MEMORY):
            self.forget(next(iter(self._cache)))
        return entry

    async def _entry_of_large(self, file: RobotsFile) -> _Entry:
        self._queued += 1
        try:
            async with self._parsing:
                return await asyncio.to_thread(self._entry, file)
        finally:
            self._queued -= 1

    def _entry(self, file: RobotsFile) -> _Entry:
        rules = Robots.for_status(file.status, file.body)
        return _Entry(file.fetched_at + self._age, rules, rules.memory_bytes())


def is_unreachable(status: int) -> bool:
    """Whether the status of a robots.txt leaves unknown what is allowed; 0 means that there was no response."""
    return status in {0, 429} or status >= 500
