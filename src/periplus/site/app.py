"""Builds an ASGI application from routes: adds static files, error pages, security headers and a URL limit."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from periplus.site.error_pages import ErrorPages
from periplus.site.headers import SecurityHeaders
from periplus.site.pages import Pages

_URL_BYTES = 32_768  # enough for the longest query with every character as four percent-encoded bytes


def build(routes: Sequence[BaseRoute], pages: Pages) -> ASGIApp:
    """Builds the application of a site."""
    errors = ErrorPages(pages)
    app = Starlette(routes=[*routes, pages.assets.route()], exception_handlers=errors.handlers())
    app.router.redirect_slashes = False  # a redirect would repeat the Host header, which a client can forge
    return SecurityHeaders(_UrlLimit(app, errors))


class _UrlLimit:
    """Answers 414 when path and query string are longer than 32 kB."""

    def __init__(self, app: ASGIApp, errors: ErrorPages) -> None:
        self._app, self._errors = app, errors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and len(scope["path"]) + len(scope["query_string"]) > _URL_BYTES:
            await self._errors.answer(scope["path"], 414)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
