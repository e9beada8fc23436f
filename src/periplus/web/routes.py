"""The routes of the search site and their handlers."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from periplus.model import Results
from periplus.site.error_pages import JSON
from periplus.site.pages import Pages
from periplus.site.preferences import preferences
from periplus.web import api, results
from periplus.web.api_routes import server_timing
from periplus.web.display import visible
from periplus.web.engine_port import Engine
from periplus.web.page_panel import named_site, site_link
from periplus.web.parameters import SIZE, SearchParameters, read
from periplus.web.search_queue import SearchQueue


class SearchSite:
    """The handlers of all routes."""

    def __init__(self, engine: Engine, pages: Pages, queue: SearchQueue) -> None:
        self._engine, self._pages, self._queue = engine, pages, queue

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [
            Route("/search", self.search),
            Route("/healthz", self.health),
        ]

    async def search(self, request: Request) -> Response:
        """The result page."""
        parameters = read(request.query_params, preferences().size or SIZE)
        if not parameters.query:
            return RedirectResponse("/", 303)
        found = await self._queue.search(request, parameters, explain=True)
        return self._pages.response(
            "search.html",
            headers=server_timing(found),
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
            related=await self._related(request, parameters, found),
            first_panel=site_link(named_site(found.hits, found.page)),
        )

    async def _related(self, request: Request, parameters: SearchParameters, found: Results) -> list[tuple[str, str]]:
        """Link and text of related searches, on the first page of results."""
        if not found.hits or found.page > 1:
            return []
        query, urls = found.corrected or found.query, [hit.url for hit in found.hits]
        texts = await self._queue.work(request, lambda: self._engine.related(query, urls))
        return [(parameters.link(query=text, exact=False), visible(text)) for text in texts]

    async def health(self, request: Request) -> Response:
        """Health check for monitoring tools; the log names a damaged file."""
        del request
        engine, is_damaged = self._engine, self._engine.is_damaged
        status = "damaged" if is_damaged else "ok"
        state = {"status": status, "generation": engine.generation, "documents": engine.documents}
        headers = {"content-type": JSON, "cache-control": "no-store"}
        return Response(api.as_json(state), 503 if is_damaged else 200, headers)
