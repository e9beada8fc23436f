"""How many searches run at once, and what happens to the others?

The engine works in threads of its own, so that one slow query does not stop the answers to others. Only so many may
wait for a thread; whoever comes after them is asked to come again, which is better than a wait without an end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import anyio.to_thread
from anyio import CapacityLimiter
from starlette.exceptions import HTTPException

from periplus.model import CachedPage, Results
from periplus.web.parameters import Asked
from periplus.web.port import Engine

AT_ONCE = 4
MAY_WAIT = 2_000
_Answer = TypeVar("_Answer")


class Desk:
    """Hands questions to the engine."""

    def __init__(self, engine: Engine, at_once: int = AT_ONCE, may_wait: int = MAY_WAIT) -> None:
        self._engine = engine
        self._at_once, self._limit = at_once, at_once + may_wait
        self._limiter: CapacityLimiter | None = None  # belongs to the event loop of the first request
        self._inside = 0

    async def search(self, asked: Asked, *, explain: bool) -> Results:
        """The results for what was asked."""
        return await self.work(
            lambda: self._engine.search(asked.query, page=asked.page, size=asked.size, explain=explain, mode=asked.mode)
        )

    async def cached(self, url: str) -> CachedPage | None:
        """The archived page."""
        return await self.work(lambda: self._engine.cached(url))

    async def work(self, work: Callable[[], _Answer]) -> _Answer:
        """What the function returns, once it has had its turn in a thread."""
        if self._inside >= self._limit:
            raise HTTPException(503, "Too many people are searching. Try again in a moment.", {"retry-after": "1"})
        if self._limiter is None:
            self._limiter = CapacityLimiter(self._at_once)
        self._inside += 1
        try:
            return await anyio.to_thread.run_sync(work, limiter=self._limiter)
        finally:
            self._inside -= 1
