"""Which searches run now, which wait for a thread, and which are refused?

Searches run in a few threads, so that one slow query does not stop the answers to others. A search is admitted when its
expected wait is short; otherwise the client gets 503 with Retry-After at once. The expected wait is the number of
searches ahead, times the mean time of recent searches, divided by the number of threads. A search whose client closes
the connection leaves the queue before a thread computes it. Each server process counts its own searches.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from periplus.model import FeatureTable, MediaResults, Results
from periplus.search.missing_shards import tracking_missing
from periplus.site.metrics import Metrics
from periplus.web.engine_port import Engine
from periplus.web.parameters import SearchParameters

THREADS = 4
_FIRST_MEAN = 0.05  # seconds that a search is expected to take before one was measured
_WEIGHT = 0.1  # of the latest search in the mean
_MISSING = "periplus.missing_shards"  # key of the ASGI scope
_Answer = TypeVar("_Answer")


def missing_shards(request: Request) -> set[int]:
    """The shards that gave no answer to any search of a request: what the response shows is incomplete."""
    found: set[int] = request.scope.setdefault(_MISSING, set())
    return found


def search_tab(engine: Engine, parameters: SearchParameters, *, explain: bool) -> Results:
    """Runs in a thread: the search of the tab Web, News or PDF."""
    text, page, size, mode = parameters.search_text, parameters.page, parameters.size, parameters.mode
    if parameters.tab == "news":
        return engine.news(text, page=page, size=size, mode=mode, verbatim=parameters.exact)
    return engine.search(
        text,
        page=page,
        size=size,
        explain=explain,
        mode=mode,
        verbatim=parameters.exact,
        site_boosts=parameters.site_boosts,
    )


class SearchQueue:
    """Runs searches in threads and refuses them when the wait would be too long."""

    def __init__(
        self,
        engine: Engine,
        longest_wait: float,
        threads: int = THREADS,
        clock: Callable[[], float] = time.monotonic,
        metrics: Metrics | None = None,
    ) -> None:
        """*longest_wait* in seconds."""
        self._metrics = metrics or Metrics()
        self._engine, self._longest_wait, self._clock = engine, longest_wait, clock
        self._threads, self._pool = threads, ThreadPoolExecutor(threads, "search")
        self._admitted = 0  # searches that wait or run
        self._mean = _FIRST_MEAN

    @property
    def length(self) -> int:
        """The number of searches that wait or run."""
        return self._admitted

    async def search(self, request: Request, parameters: SearchParameters, *, explain: bool) -> Results:
        """Runs one search."""
        found = await self.work(request, partial(search_tab, self._engine, parameters, explain=explain))
        self.count_steps(found)
        return found

    async def media(self, request: Request, parameters: SearchParameters, kind: str) -> MediaResults:
        """Searches images or videos; *kind* is "image" or "video"."""
        text, page, size, mode = parameters.search_text, parameters.page, parameters.size, parameters.mode
        return await self.work(request, partial(self._engine.media, text, kind, page=page, size=size, mode=mode))

    def count_steps(self, found: Results) -> None:
        """Counts the times of a search for the metrics."""
        self._metrics.search(found.steps, is_partial=bool(found.missing_shards))

    async def feature_table(self, request: Request, parameters: SearchParameters, most: int) -> FeatureTable:
        """Computes the features of the *most* best results."""
        compute = partial(
            self._engine.feature_table,
            parameters.search_text,
            most,
            mode=parameters.mode,
            verbatim=parameters.exact,
            site_boosts=parameters.site_boosts,
        )
        return await self.work(request, compute)

    async def work(self, request: Request, work: Callable[[], _Answer]) -> _Answer:
        """Run *work* in a thread. Raises `ClientDisconnect` when the client closes the connection before the answer.

        Shards that give no answer are added to `missing_shards` of the request.
        """
        self._refuse_if_busy()
        queued = self._pool.submit(self._timed, work, missing_shards(request))
        self._admitted += 1
        answer = asyncio.wrap_future(queued)
        answer.add_done_callback(self._leave)
        gone = asyncio.ensure_future(_disconnected(request))
        either: set[asyncio.Future[Any]] = {answer, gone}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise ClientDisconnect
            return answer.result()
        except asyncio.CancelledError:
            raise HTTPException(503, "The site is being stopped.") from None
        finally:
            gone.cancel()
            queued.cancel()  # has no effect once a thread has begun

    async def work_if_free(self, work: Callable[[], _Answer]) -> _Answer:
        """Run *work*, which a page can do without, in a thread. Raises `TimeoutError` when all threads are busy."""
        if self._admitted >= self._threads:
            raise TimeoutError("all threads are searching")
        queued = self._pool.submit(_run, work)
        self._admitted += 1
        answer = asyncio.wrap_future(queued)
        answer.add_done_callback(self._leave)
        try:
            return await asyncio.shield(answer)  # a thread counts until it is done, also when the caller is cancelled
        finally:
            queued.cancel()  # a thread that has begun goes on

    def _refuse_if_busy(self) -> None:
        ahead = self._admitted + 1 - self._threads  # searches that must end before a thread is free
        wait = ahead * self._mean / self._threads
        if ahead > 0 and wait >= self._longest_wait:
            self._metrics.add("periplus_http_refused_total", "queue")
            seconds = math.ceil(wait)
            sentence = f"Too many searches are waiting. Try again in {seconds} s."
            raise HTTPException(503, sentence, {"retry-after": str(seconds)})

    def _timed(self, work: Callable[[], _Answer], missing: set[int]) -> _Answer:
        """Runs in a thread. Two threads may overwrite each other's figure; the mean needs only some of them."""
        begun = self._clock()
        try:
            with tracking_missing() as found:
                return _run(work)
        finally:
            missing.update(found)
            self._mean += _WEIGHT * (self._clock() - begun - self._mean)

    def _leave(self, answer: asyncio.Future[_Answer]) -> None:
        self._admitted -= 1
        if not answer.cancelled():
            answer.exception()  # otherwise asyncio logs it when the client has disconnected


def _run(work: Callable[[], _Answer]) -> _Answer:
    """Calls *work*. asyncio cannot take a `StopIteration` from a thread: the request would wait for ever."""
    try:
        return work()
    except StopIteration as error:
        raise RuntimeError("a search has ended with StopIteration") from error


async def _disconnected(request: Request) -> None:
    """Returns when the client has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass  # a body, which no page of the site needs
