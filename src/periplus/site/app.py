"""Builds an ASGI application from routes.

It adds static files, error pages, security headers, a URL limit, compression and stored answers.
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from periplus.site.delivery import Delivery, Versioned
from periplus.site.error_pages import ErrorPages
from periplus.site.headers import SecurityHeaders
from periplus.site.pages import Pages

_URL_BYTES = 32_768  # enough for the longest query with every character as four percent-encoded bytes
_NOT_VERSIONED = Versioned((), lambda: "")


def build(routes: Sequence[BaseRoute], pages: Pages, versioned: Versioned = _NOT_VERSIONED, memory: int = 0) -> ASGIApp:
    """Builds the application of a site; *memory*: bytes for stored answers of versioned paths."""
    errors = ErrorPages(pages)
    app = Starlette(routes=[*routes, pages.assets.route()], exception_handlers=errors.handlers())
    app.router.redirect_slashes = False  # a redirect would repeat the Host header, which a client can forge
    return Delivery(SecurityHeaders(_UrlLimit(app, errors)), versioned, memory)


class _UrlLimit:
    """Answers 414 when path and query string are longer than 32 kB."""

    def __init__(self, app: ASGIApp, errors: ErrorPages) -> None:
        self._app, self._errors = app, errors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and len(scope["path"]) + len(scope["query_string"]) > _URL_BYTES:
            await self._errors.answer(scope["path"], 414)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
