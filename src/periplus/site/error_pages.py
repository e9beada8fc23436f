"""Builds the response to a request that failed: an HTML page, or JSON for the API.

The response has one sentence about the error, and never a file path or a traceback.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from periplus.errors import PeriplusError, UsageError
from periplus.site.pages import Pages

JSON = "application/json"
_JSON_PATHS = ("/api/", "/console/api/", "/healthz", "/suggest")
_CLIENT_CLOSED_REQUEST = 499  # nginx's code
_HEADINGS = {
    400: "Bad request",
    401: "Not logged in",
    403: "Refused",
    404: "Page not found",
    405: "Method not allowed",
    408: "Request too slow",
    413: "Request too long",
    414: "Request too long",
    415: "Cannot be shown",
    429: "Too many requests",
    500: "Internal error",
    503: "Temporarily unavailable",
}
_SENTENCES = {
    404: "Page not found.",
    405: "Method not allowed.",
    414: "Request too long.",
    500: "Internal error; it has been logged. Please try again.",
    503: "The index cannot be read at the moment. Please try again shortly.",
}
_ADVICE = {  # shown below the heading, where the sentence would repeat it
    404: "Check the URL, or search for the page.",
    405: "This URL accepts GET requests only.",
    414: "Shorten the query.",
}
_log = logging.getLogger("periplus.site")

Handler = Callable[[Request, Exception], Awaitable[Response]]


class ErrorPages:
    """Builds the responses to failed requests."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def handlers(self) -> Mapping[type[Exception], Handler]:
        """The handler of each exception class."""
        return {
            HTTPException: self._http_error,
            ClientDisconnect: self._disconnected,
            PeriplusError: self._periplus_error,
            Exception: self._unexpected,
        }

    def answer(
        self,
        path: str,
        status: int,
        sentence: str = "",
        headers: Mapping[str, str] | None = None,
        query: str = "",
    ) -> Response:
        """An error page, or JSON for the API and the health check; *query* stays in the search box."""
        message = sentence or _SENTENCES.get(status, "")
        uncached = {"cache-control": "no-store"} | dict(headers or {})
        if path.startswith(_JSON_PATHS):
            body = orjson.dumps({"status": status, "error": message})
            return Response(body, status, uncached | {"content-type": JSON})
        heading = _HEADINGS.get(status, "Error")
        if message == f"{heading}.":
            message = _ADVICE.get(status, message)
        values = {"code": status, "heading": heading, "sentence": message, "query": query}
        return self._pages.response("error.html", status, uncached, **values)

    async def _http_error(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        own = error.detail if error.detail.endswith(".") else ""  # Starlette's messages have no full stop
        return self.answer(request.url.path, error.status_code, own, error.headers, _query(request))

    async def _periplus_error(self, request: Request, error: Exception) -> Response:
        if isinstance(error, UsageError):
            return self.answer(request.url.path, 400, _sentence(str(error)), query=_query(request))
        _log.error("cannot answer: %s", error)
        return self.answer(request.url.path, 503, headers={"retry-after": "5"}, query=_query(request))

    async def _disconnected(self, request: Request, error: Exception) -> Response:
        """The client has closed the connection, so this response is never sent."""
        del request, error
        return Response(status_code=_CLIENT_CLOSED_REQUEST)

    async def _unexpected(self, request: Request, error: Exception) -> Response:
        del error  # the server logs it
        return self.answer(request.url.path, 500, query=_query(request))


def _query(request: Request) -> str:
    """The query of a search that failed."""
    return request.query_params.get("q", "")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
