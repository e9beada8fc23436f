"""The routes of the search site and their handlers."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from periplus.errors import UsageError
from periplus.model import CachedPage
from periplus.site.error_pages import JSON
from periplus.site.pages import Pages
from periplus.web import api, cached
from periplus.web.display import cached_link, clock, day, moment, raw_link, visible, web_link
from periplus.web.engine_port import Engine
from periplus.web.parameters import API_SIZE, read, read_url
from periplus.web.search_queue import SearchQueue
from periplus.web.server_timing import timing_headers

_ROBOTS = b"User-agent: *\nDisallow: /search\nDisallow: /why\nDisallow: /like\nDisallow: /cached\nDisallow: /api/\n"
_MOST_ROWS = 200  # results with features in one answer
_NO_COPY = "No cached copy of this page."


class SearchSite:
    """The handlers of all routes."""

    def __init__(self, engine: Engine, pages: Pages, queue: SearchQueue, public_address: str = "") -> None:
        self._engine, self._pages, self._queue = engine, pages, queue
        self._public_address = public_address

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [
            Route("/", self.home),
            Route("/api/search", self.api_search),
            Route("/cached", self.cached_page),
            Route("/cached/raw", self.cached_raw),
            Route("/opensearch.xml", self.opensearch),
            Route("/robots.txt", self.robots),
            Route("/healthz", self.health),
        ]

    async def home(self, request: Request) -> Response:
        """The start page: an empty search box."""
        del request
        return self._pages.response("home.html", documents=self._engine.documents)

    async def api_search(self, request: Request) -> Response:
        """The results as JSON."""
        parameters = read(request.query_params, API_SIZE)
        if not parameters.query:
            raise UsageError("the query is empty", hint="Add it: /api/search?q=words.")
        found = await self._queue.search(request, parameters, explain=parameters.explain)
        table = await self._queue.feature_table(request, parameters, _MOST_ROWS) if parameters.features else None
        headers = {"cache-control": "private, no-cache", "content-type": JSON, **timing_headers(found)}
        return Response(api.encode_results(found, table), headers=headers)

    async def cached_page(self, request: Request) -> Response:
        """The page around the frame with the cached copy."""
        url = read_url(request.query_params)
        page = await self._cached_or_404(request, url)
        headers = {"content-security-policy": cached.frame_policy(request), "x-robots-tag": "noindex, nofollow"}
        return self._pages.response(
            "cached.html",
            headers=headers,
            url=visible(page.url),
            live=web_link(page.url),
            frame=raw_link(url) if cached.media_type(page) else "",
            mime=page.mime,
            day=day(page.fetched_at),
            clock=clock(page.fetched_at),
            moment=moment(page.fetched_at),
        )

    async def cached_raw(self, request: Request) -> Response:
        """The cached copy itself, for the frame."""
        url = read_url(request.query_params)
        if not cached.is_framed(request):
            return RedirectResponse(cached_link(url), 303)
        page = await self._cached_or_404(request, url)
        media_type = cached.media_type(page)
        if not media_type:
            raise HTTPException(415, "Only text can be shown here.", cached.RAW_HEADERS)
        body = await self._queue.work(request, lambda: cached.sanitized(page))
        return Response(body, headers=cached.RAW_HEADERS | {"content-type": media_type})

    async def _cached_or_404(self, request: Request, url: str) -> CachedPage:
        page = await self._queue.cached(request, url)
        if page is None:
            raise HTTPException(404, _NO_COPY)
        return page

    async def opensearch(self, request: Request) -> Response:
        """The OpenSearch description, from which a browser adds this search engine."""
        base = self._public_address or str(request.base_url).rstrip("/")
        # A client can forge the Host header, and a shared cache would serve the forged URL to others.
        caching = "public, max-age=3600" if self._public_address else "no-store"
        headers = {"content-type": "application/opensearchdescription+xml", "cache-control": caching}
        return self._pages.response("opensearch.xml", headers=headers, base=base)

    async def robots(self, request: Request) -> Response:
        """Keeps crawlers away from searches and cached pages."""
        del request
        return Response(_ROBOTS, headers={"content-type": "text/plain", "cache-control": "public, max-age=86400"})

    async def health(self, request: Request) -> Response:
        """Health check for monitoring tools; the log names a damaged file."""
        del request
        engine, is_damaged = self._engine, self._engine.is_damaged
        status = "damaged" if is_damaged else "ok"
        state = {"status": status, "generation": engine.generation, "documents": engine.documents}
        headers = {"content-type": JSON, "cache-control": "no-store"}
        return Response(api.as_json(state), 503 if is_damaged else 200, headers)
