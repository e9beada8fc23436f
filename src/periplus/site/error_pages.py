"""What does a reader see when a request cannot be answered?

A page for people, JSON for programs; in both one sentence that says what to do, and never a path or a traceback.
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
_FOR_PROGRAMS = ("/api/", "/healthz")
_CLIENT_GONE = 499  # as nginx calls it
_HEADINGS = {
    400: "That request cannot be understood",
    404: "There is nothing here",
    405: "That is not how to ask for this",
    414: "That address is too long",
    503: "Not just now",
}
_SENTENCES = {
    404: "No page of this site has that address.",
    405: "This address can only be read.",
    414: "Ask for less at once.",
    500: "The fault is ours, and it has been written to the log. Trying again may help.",
    503: "The index cannot be read at this moment. Try again shortly.",
}
_log = logging.getLogger("periplus.site")

Handler = Callable[[Request, Exception], Awaitable[Response]]


class ErrorPages:
    """Answers in place of a handler that failed."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def handlers(self) -> Mapping[type[Exception], Handler]:
        """What to do about each kind of exception."""
        return {
            HTTPException: self._refused,
            ClientDisconnect: self._gone,
            PeriplusError: self._ours,
            Exception: self._bug,
        }

    def answer(self, path: str, status: int, sentence: str = "", headers: Mapping[str, str] | None = None) -> Response:
        """The page, or for the paths of programs the JSON, about one failure."""
        said = sentence or _SENTENCES.get(status, "")
        unkept = {"cache-control": "no-store"} | dict(headers or {})
        if path.startswith(_FOR_PROGRAMS):
            body = orjson.dumps({"status": status, "error": said})
            return Response(body, status, unkept | {"content-type": JSON})
        heading = _HEADINGS.get(status, "Something went wrong")
        return self._pages.response("error.html", status, unkept, code=status, heading=heading, sentence=said)

    async def _refused(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        ours = error.detail if error.detail.endswith(".") else ""  # the library's own are mere phrases
        return self.answer(request.url.path, error.status_code, ours, error.headers)

    async def _ours(self, request: Request, error: Exception) -> Response:
        if isinstance(error, UsageError):
            return self.answer(request.url.path, 400, _sentence(str(error)))
        _log.error("cannot answer: %s", error)
        return self.answer(request.url.path, 503, headers={"retry-after": "5"})

    async def _gone(self, request: Request, error: Exception) -> Response:
        """The client has closed the connection; the server sends nothing of this."""
        del request, error
        return Response(status_code=_CLIENT_GONE)

    async def _bug(self, request: Request, error: Exception) -> Response:
        del error  # the server logs it
        return self.answer(request.url.path, 500)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
