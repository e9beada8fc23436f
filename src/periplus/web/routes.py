"""The routes of the search site and their handlers."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from periplus.model import CachedPage, Results
from periplus.site.error_pages import JSON
from periplus.site.pages import Pages
from periplus.site.preferences import preferences
from periplus.web import api, cached, results
from periplus.web.api_routes import server_timing
from periplus.web.display import cached_link, clock, day, moment, raw_link, visible, web_link
from periplus.web.engine_port import Engine
from periplus.web.parameters import SIZE, SearchParameters, read, read_url
from periplus.web.search_queue import SearchQueue

_NO_COPY = "No cached copy of this page."


class SearchSite:
    """The handlers of all routes."""

    def __init__(self, engine: Engine, pages: Pages, queue: SearchQueue) -> None:
        self._engine, self._pages, self._queue = engine, pages, queue

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [
            Route("/search", self.search),
            Route("/cached", self.cached_page),
            Route("/cached/raw", self.cached_raw),
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
        )

    async def _related(self, request: Request, parameters: SearchParameters, found: Results) -> list[tuple[str, str]]:
        """Link and text of related searches, on the first page of results."""
        if not found.hits or found.page > 1:
            return []
        query, urls = found.corrected or found.query, [hit.url for hit in found.hits]
        texts = await self._queue.work(request, lambda: self._engine.related(query, urls))
        return [(parameters.link(query=text, exact=False), visible(text)) for text in texts]

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

    async def health(self, request: Request) -> Response:
        """Health check for monitoring tools; the log names a damaged file."""
        del request
        engine, is_damaged = self._engine, self._engine.is_damaged
        status = "damaged" if is_damaged else "ok"
        state = {"status": status, "generation": engine.generation, "documents": engine.documents}
        headers = {"content-type": JSON, "cache-control": "no-store"}
        return Response(api.as_json(state), 503 if is_damaged else 200, headers)
