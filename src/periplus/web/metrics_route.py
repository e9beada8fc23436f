"""Answers /metrics: to every client if the settings say so, otherwise on this machine only."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from periplus.site.client_address import is_forwarded, parsed_address
from periplus.site.front import CLIENT
from periplus.site.metrics import Metrics

ReadText = Callable[[], str]
_TEXT = "text/plain; version=0.0.4; charset=utf-8"


class MetricsPage:
    """The handler of /metrics."""

    def __init__(self, metrics: Metrics, *, is_open: bool, crawl: ReadText | None = None) -> None:
        """*is_open*: every client gets the figures. *crawl*: those of the crawl, in the same format."""
        self._metrics, self._is_open, self._crawl = metrics, is_open, crawl

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [Route("/metrics", self.metrics)]

    async def metrics(self, request: Request) -> Response:
        """The figures in the text format of Prometheus."""
        if not self._is_open and not is_local(request):
            raise HTTPException(404)
        crawl = await asyncio.to_thread(self._crawl) if self._crawl is not None else ""
        return Response(self._metrics.text() + crawl, headers={"content-type": _TEXT, "cache-control": "no-store"})


def is_local(request: Request) -> bool:
    """Whether the client is on this machine; a proxy on this machine passes on requests of others."""
    address = parsed_address(request.scope[CLIENT])
    return address is not None and address.is_loopback and not is_forwarded(request.scope)
