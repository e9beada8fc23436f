"""The site before the first index exists: it says how far the crawl is, and answers searches with 503.

The health check answers 503 with the status "starting", so that a load balancer sends no readers yet.
"""

from __future__ import annotations

import asyncio

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from periplus.config import Settings
from periplus.site.app import Beside, build
from periplus.site.error_pages import JSON, ErrorPages
from periplus.site.pages import Pages
from periplus.site.preferences import ReadPreferences
from periplus.web.app import TEMPLATES
from periplus.web.branding import Branding
from periplus.web.crawl_line import ReadCrawl

_RETRY_SECONDS = 3  # after which the page reloads itself
_RETRY = {"retry-after": str(_RETRY_SECONDS), "cache-control": "no-store"}
_SENTENCE = "The index is being built: no page can be searched yet. Please try again in some seconds."


def starting_app(settings: Settings, branding: Branding, crawl: ReadCrawl, beside: Beside) -> ASGIApp:
    """Builds the application that is served until the first generation is there; *beside*: the console."""
    pages = Pages(TEMPLATES, layout="page.html")
    branding.apply(pages)
    pages.define(
        inspects=False, playground=False, has_weather=False, loads_images=settings.serve.load_images, has_bangs=False
    )
    routes = [*_Routes(pages, crawl).routes(), *beside.routes]
    return ReadPreferences(build(routes, pages, guard=beside.guard))


class _Routes:
    def __init__(self, pages: Pages, crawl: ReadCrawl) -> None:
        self._pages, self._crawl, self._errors = pages, crawl, ErrorPages(pages)

    def routes(self) -> list[Route]:
        return [
            Route("/", self.home),
            Route("/search", self.search),
            Route("/healthz", self.health),
            Route("/api/{rest:path}", self.unavailable),
        ]

    async def home(self, request: Request) -> Response:
        return await self._page(request, 200)

    async def search(self, request: Request) -> Response:
        """Reloads until there are results; the status keeps programs from storing it."""
        return await self._page(request, 503)

    async def health(self, request: Request) -> Response:
        del request
        state = {"status": "starting", "generation": 0, "documents": 0}
        return Response(orjson.dumps(state), 503, _RETRY | {"content-type": JSON})

    async def unavailable(self, request: Request) -> Response:
        return self._errors.answer(request.url.path, 503, _SENTENCE, _RETRY)

    async def _page(self, request: Request, status: int) -> Response:
        crawl = await asyncio.to_thread(self._crawl)
        values = {"line": crawl.starting_line, "query": request.query_params.get("q", ""), "seconds": _RETRY_SECONDS}
        return self._pages.response("starting.html", status, _RETRY, **values)
