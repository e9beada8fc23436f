"""The routes of the JSON API; every route exists with and without the version in its path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from periplus.errors import UsageError
from periplus.model import Results
from periplus.site.error_pages import JSON
from periplus.web.api.json_results import encode_media, encode_results
from periplus.web.api.openapi import description
from periplus.web.parameters import API_SIZE, MEDIA_SIZE, SearchParameters, read
from periplus.web.results.partial import marked, storing_headers
from periplus.web.search_queue import SearchQueue, missing_shards
from periplus.web.server_timing import timing_headers

_PREFIX, _VERSION_1 = "/api/", "/api/v1/"
_MOST_ROWS = 200  # results with features in one answer
_HEADERS = {"cache-control": "private, no-cache", "content-type": JSON}


def with_versions(routes: Iterable[Route]) -> list[Route]:
    """Adds a route under /api/v1/ for every route under /api/; the path without a version is its alias."""
    both = []
    for route in routes:
        both.append(route)
        if route.path.startswith(_PREFIX) and not route.path.startswith(_VERSION_1):
            both.append(Route(_VERSION_1 + route.path.removeprefix(_PREFIX), route.endpoint))
    return both


def _read(request: Request, usual_size: int, tab: str = "") -> SearchParameters:
    """The parameters of a request; the path names the tab."""
    parameters = replace(read(request.query_params, usual_size), tab=tab)
    if not parameters.query:
        raise UsageError("the query is empty", hint=f"Add it: {request.url.path}?q=words.")
    return parameters


def _answer(body: bytes, found: Results) -> Response:
    return Response(body, headers=_HEADERS | timing_headers(found) | storing_headers(found))


class SearchApi:
    """The handlers of searches as JSON."""

    def __init__(self, queue: SearchQueue) -> None:
        self._queue = queue
        self._description = orjson.dumps(description())

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [
            Route("/api/search", self.search),
            Route("/api/news", self.news),
            Route("/api/images", self.images),
            Route("/api/videos", self.videos),
            Route("/api/openapi.json", self.openapi),
        ]

    async def search(self, request: Request) -> Response:
        """The results as JSON."""
        parameters = _read(request, API_SIZE)
        found = await self._queue.search(request, parameters, explain=parameters.explain)
        table = await self._queue.feature_table(request, parameters, _MOST_ROWS) if parameters.features else None
        found = marked(found, missing_shards(request))
        return _answer(encode_results(found, table), found)

    async def news(self, request: Request) -> Response:
        """Dated pages as JSON, newest first."""
        parameters = _read(request, API_SIZE, "news")
        found = await self._queue.search(request, parameters, explain=False)
        return _answer(encode_results(found), found)

    async def images(self, request: Request) -> Response:
        """Images as JSON."""
        return await self._media(request, "image")

    async def videos(self, request: Request) -> Response:
        """Videos as JSON."""
        return await self._media(request, "video")

    async def _media(self, request: Request, kind: str) -> Response:
        parameters = _read(request, MEDIA_SIZE)
        found = await self._queue.media(request, parameters, kind)
        body = encode_media(parameters.query, parameters.page, parameters.size, found)
        return Response(body, headers=_HEADERS | storing_headers(found))

    async def openapi(self, request: Request) -> Response:
        """The OpenAPI description of the API."""
        del request
        headers = {"content-type": JSON, "cache-control": "public, max-age=3600"}
        return Response(self._description, headers=headers)
