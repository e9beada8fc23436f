"""What does this site allow us, and since when do we know?"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import NamedTuple

from periplus.fetch.robots import Robots
from periplus.model import Response, RobotsFile
from periplus.store.catalog import Catalog

_FILES = 20_000
_MEMORY = 64 << 20  # bytes of parsed rules; a hostile file of 512 KiB takes 8 MB
_LARGE = 64 << 10  # bytes of a file that is parsed in a thread: 20 ms and more
_QUEUE = 8  # large files that are parsed or wait for that; each keeps a place among the requests under way
_LOOK_AGAIN = 1.0  # seconds


class RobotsBusy(Exception):  # noqa: N818  # no error: a reason to come back
    """The rules have to be parsed, and too many other large files come first."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds  # until it is worth trying again
        super().__init__(f"other robots.txt files are being parsed; look again in {seconds:.2f} s")


class _Entry(NamedTuple):
    expires: float
    rules: Robots
    memory: int  # bytes


class RobotsCache:
    """robots.txt files in memory, in front of those in the catalog; none is used past its age.

    The files used least recently are dropped when all together take too much memory; the catalog still has them.
    """

    def __init__(self, catalog: Catalog, age: float) -> None:
        self._catalog = catalog
        self._age = age
        self._shelf: OrderedDict[str, _Entry] = OrderedDict()
        self._memory = 0
        self._parsing = asyncio.Lock()  # held while a large file is parsed
        self._queued = 0  # large files that are parsed or wait for that

    async def find(self, origin: str, now: float) -> Robots | None:
        """The rules of an origin, or None when its robots.txt has to be fetched.

        Raises `RobotsBusy` when that would mean to wait until many other large files are parsed.
        """
        entry = self._shelf.get(origin)
        if entry is None:
            stored = self._catalog.robots(origin)
            # An unreachable robots.txt is asked for again by every run.
            if stored is None or is_unreachable(stored.status) or now >= stored.fetched_at + self._age:
                return None
            if len(stored.body) >= _LARGE and self._queued >= _QUEUE:
                raise RobotsBusy(_LOOK_AGAIN)
            return (await self._keep(stored)).rules
        self._shelf.move_to_end(origin)
        return entry.rules if now < entry.expires else None

    async def put(self, origin: str, response: Response) -> tuple[RobotsFile, Robots]:
        """Keep what was fetched."""
        status = 0 if response.failure is not None else response.status  # half a file is none
        file = RobotsFile(origin, response.fetched_at, status, response.body)
        return file, (await self._keep(file)).rules

    def forget(self, origin: str) -> None:
        """Ask for the file again at the next occasion."""
        if (entry := self._shelf.pop(origin, None)) is not None:
            self._memory -= entry.memory

    async def _keep(self, file: RobotsFile) -> _Entry:
        entry = self._entry(file) if len(file.body) < _LARGE else await self._entry_of_large(file)
        self.forget(file.origin)
        self._shelf[file.origin] = entry
        self._memory += entry.memory
        while len(self._shelf) > 1 and (len(self._shelf) > _FILES or self._memory > _MEMORY):
            self.forget(next(iter(self._shelf)))
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
    """Whether an answer to the question for robots.txt leaves open what is allowed; 0 means that there was none."""
    return status in {0, 429} or status >= 500
