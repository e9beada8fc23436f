"""Sends what changes on a page to its script, as server-sent events every two seconds.

An event has the parts of the page as HTML, rendered by the same templates as the page, and the newest point of every
chart. Pages of several readers share one reading of the database.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from periplus.console.charts import chart_data
from periplus.console.reader import Sources
from periplus.console.views import now
from periplus.errors import PeriplusError
from periplus.site.pages import Pages
from periplus.site.protocol import STOPPING

SECONDS = 2.0  # between two events
_HEADERS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store", "x-accel-buffering": "no"}
_PARTS = {  # by view: the parts of its page, each with its template
    "overview": {"live-state": "_state.html", "live-figures": "_figures.html"},
    "workers": {"live-nodes": "_nodes.html"},
}
_Work = Callable[[Callable[[], dict[str, Any]]], Awaitable[dict[str, Any]]]


class EventStream:
    """The handler of `/console/events`."""

    def __init__(self, sources: Sources, pages: Pages, work: _Work) -> None:
        self._sources, self._pages, self._work = sources, pages, work
        self._read: dict[str, tuple[float, asyncio.Future[dict[str, Any]]]] = {}

    async def answer(self, request: Request) -> Response:
        """Events until the reader leaves the page or the site stops."""
        view = request.query_params.get("view", "")
        if view not in _PARTS:
            raise HTTPException(404)
        return StreamingResponse(self._events(request, view), headers=_HEADERS)

    async def _events(self, request: Request, view: str) -> AsyncIterator[bytes]:
        stopping: asyncio.Event = request.scope.get(STOPPING) or asyncio.Event()
        sent: Mapping[str, str] = {}
        while not stopping.is_set():
            try:
                found = await self._current(view)
            except PeriplusError:  # the collection cannot be read at the moment
                found = {"parts": {}, "point": None}
            changed = {name: html for name, html in found["parts"].items() if sent.get(name) != html}
            sent = found["parts"]
            yield b"data: " + orjson.dumps({"parts": changed, "point": found["point"]}) + b"\n\n"
            try:
                await asyncio.wait_for(stopping.wait(), SECONDS)
            except TimeoutError:
                continue

    async def _current(self, view: str) -> dict[str, Any]:
        """What the page shows now; read at most once in a second."""
        clock = asyncio.get_running_loop().time()
        known = self._read.get(view)
        if known is None or clock - known[0] > SECONDS / 2:
            known = (clock, asyncio.ensure_future(self._work(lambda: self._reading(view))))
            self._read[view] = known
        return await asyncio.shield(known[1])

    def _reading(self, view: str) -> dict[str, Any]:
        with self._sources.reading() as reader:
            if view == "workers":
                data: dict[str, Any] = now.workers(self._sources, reader, {})
                point = None
            else:
                data = now.figures(self._sources, reader)
                point = _newest_point(chart_data(now.last_samples(reader)))
            parts = {
                name: self._pages.render(template, data=data, now=reader.now, token="", back="").decode()
                for name, template in _PARTS[view].items()
            }
        return {"parts": parts, "point": point}


def _newest_point(series: dict[str, Any]) -> dict[str, Any] | None:
    """The last time of the series, and the last value of each line."""
    if not series["at"]:
        return None
    values = {chart["name"]: [line["values"][-1] for line in chart["lines"]] for chart in series["charts"]}
    return {"at": series["at"][-1], "values": values}
