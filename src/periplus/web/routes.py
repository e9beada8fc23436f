"""The routes of the search site and their handlers."""

from __future__ import annotations

import re

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from periplus.errors import UsageError
from periplus.model import Results
from periplus.site.error_pages import JSON
from periplus.site.pages import Pages
from periplus.web import api, results
from periplus.web.engine_port import Engine
from periplus.web.page_panel import named_site, site_link
from periplus.web.parameters import read
from periplus.web.search_queue import SearchQueue

_NOT_TOKEN = re.compile(r"[^A-Za-z0-9_-]+")
_NOT_CRAWLED = ("/search", "/cached", "/page", "/panel", "/inspect", "/api/")
_ROBOTS = "".join(["User-agent: *\n", *(f"Disallow: {path}\n" for path in _NOT_CRAWLED)])
_MOST_ROWS = 200  # results with features in one answer


class SearchSite:
    """The handlers of all routes."""

    def __init__(self, engine: Engine, pages: Pages, queue: SearchQueue, public_address: str = "") -> None:
        self._engine, self._pages, self._queue = engine, pages, queue
        self._public_address = public_address

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [
            Route("/", self.home),
            Route("/search", self.search),
            Route("/api/search", self.api_search),
            Route("/opensearch.xml", self.opensearch),
            Route("/robots.txt", self.robots),
            Route("/healthz", self.health),
        ]

    async def home(self, request: Request) -> Response:
        """The start page: an empty search box."""
        del request
        return self._pages.response("home.html", documents=self._engine.documents)

    async def search(self, request: Request) -> Response:
        """The result page."""
        parameters = read(request.query_params)
        if not parameters.query:
            return RedirectResponse("/", 303)
        found = await self._queue.search(request, parameters, explain=True)
        return self._pages.response(
            "search.html",
            headers=_timing(found),
            query=parameters.query,
            parameters=parameters,
            found=found,
            entries=results.entries(parameters, found.hits),
            count=results.count(found),
            last_page=results.last_page(found),
            understood=results.understood(found),
            paging=results.paging(parameters, found),
            suggestions=results.suggestions(parameters),
            documents=self._engine.documents,
            first_panel=site_link(named_site(found.hits, found.page)),
        )

    async def api_search(self, request: Request) -> Response:
        """The results as JSON."""
        parameters = read(request.query_params)
        if not parameters.query:
            raise UsageError("the query is empty", hint="Add it: /api/search?q=words.")
        found = await self._queue.search(request, parameters, explain=parameters.explain)
        table = await self._queue.feature_table(request, parameters, _MOST_ROWS) if parameters.features else None
        headers = {"cache-control": "private, no-cache", "content-type": JSON, **_timing(found)}
        return Response(api.encode_results(found, table), headers=headers)

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


def _timing(found: Results) -> dict[str, str]:
    """The Server-Timing header: the time of each step, which browser developer tools show."""
    steps = {"total": found.seconds, **found.steps}
    entries = (f"{_NOT_TOKEN.sub('_', name)};dur={1000 * seconds:.3f}" for name, seconds in steps.items())
    return {"server-timing": ", ".join(entries)}
