"""Builds an ASGI application from routes.

It adds static files, error pages, security headers, limits, compression, stored answers, log and metrics.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from periplus.site.delivery import Delivery, Versioned
from periplus.site.error_pages import ErrorPages
from periplus.site.front import Front, FrontOptions
from periplus.site.headers import SecurityHeaders
from periplus.site.pages import Pages

_URL_BYTES = 32_768  # enough for the longest query with every character as four percent-encoded bytes
_NOT_VERSIONED = Versioned((), lambda: "")
Guard = Callable[[ASGIApp, ErrorPages], ASGIApp]  # refuses requests before they reach a route


@dataclass(frozen=True, slots=True)
class Beside:
    """Routes of another site that are served beside those of a site, and the guard before them."""

    routes: Sequence[Route | Mount] = ()
    guard: Guard = lambda app, _: app


def build(
    routes: Sequence[Route | Mount],
    pages: Pages,
    versioned: Versioned = _NOT_VERSIONED,
    memory: int = 0,
    options: FrontOptions | None = None,
    guard: Guard = lambda app, _: app,
) -> ASGIApp:
    """Builds the application of a site; *memory*: bytes for stored answers of versioned paths."""
    errors, front = ErrorPages(pages), options or FrontOptions()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        front.metrics.save()  # so that a process counts before its first request
        yield
        front.close()

    handlers = errors.handlers()
    app = Starlette(routes=[*routes, pages.assets.route()], exception_handlers=handlers, lifespan=lifespan)
    app.router.redirect_slashes = False  # a redirect would repeat the Host header, which a client can forge
    on_hit = partial(front.metrics.add, "periplus_cache_hits_total", "memory")
    delivery = Delivery(SecurityHeaders(_UrlLimit(guard(app, errors), errors)), versioned, memory, on_hit)
    return Front(delivery, errors, front, [route.path for route in routes])


class _UrlLimit:
    """Answers 414 when path and query string are longer than 32 kB."""

    def __init__(self, app: ASGIApp, errors: ErrorPages) -> None:
        self._app, self._errors = app, errors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and len(scope["path"]) + len(scope["query_string"]) > _URL_BYTES:
            await self._errors.answer(scope["path"], 414)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
