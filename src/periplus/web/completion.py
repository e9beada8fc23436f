"""Answers with completions of the typed text: as JSON for the search box, in OpenSearch form for browsers.

Completions have a queue of their own with one thread. Under load they are refused first, and searches go on.
"""

from __future__ import annotations

from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from periplus.search.suggest.completion import Suggestion
from periplus.site.error_pages import JSON
from periplus.web.display import visible
from periplus.web.engine_port import Engine
from periplus.web.parameters import QUERY_LENGTH
from periplus.web.search_queue import SearchQueue

OPENSEARCH_JSON = "application/x-suggestions+json"
_MOST = 8  # suggestions in one answer
_LONGEST_WAIT = 0.25  # seconds; a later answer is for text that the reader has already changed
_CACHING = "public, max-age=60"


class CompletionRoutes:
    """The handlers of `/api/suggest` and `/suggest`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._queue = SearchQueue(engine, _LONGEST_WAIT, threads=1)

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [Route("/api/suggest", self.api_suggest), Route("/suggest", self.suggest)]

    async def api_suggest(self, request: Request) -> Response:
        """The suggestions with their kinds, for the search box."""
        typed = _typed(request)
        found = await self._complete(request, typed)
        suggestions = [{"text": text, "kind": kind} for text, kind in found.items()]
        return _json({"query": typed, "suggestions": suggestions}, JSON)

    async def suggest(self, request: Request) -> Response:
        """The suggestions in the form of OpenSearch, for the address bar of browsers."""
        typed = _typed(request)
        return _json([typed, list(await self._complete(request, typed))], OPENSEARCH_JSON)

    async def _complete(self, request: Request, typed: str) -> dict[str, str]:
        if not typed or len(typed) > QUERY_LENGTH:
            return {}
        return _displayed(await self._queue.work(request, lambda: self._engine.complete(typed, _MOST)))


def _typed(request: Request) -> str:
    """The typed text. A space at its end counts: it ends the last word."""
    return request.query_params.get("q", "").lstrip()


def _displayed(found: list[Suggestion]) -> dict[str, str]:
    """The kind of each text; texts have no control characters and differ from each other."""
    texts: dict[str, str] = {}
    for suggestion in found:
        text = " ".join(visible(suggestion.text).split())
        if text:
            texts.setdefault(text, suggestion.source)
    return texts


def _json(value: Any, media_type: str) -> Response:
    return Response(orjson.dumps(value), headers={"content-type": media_type, "cache-control": _CACHING})
