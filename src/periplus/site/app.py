"""How are routes made into a site?"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from periplus.site.error_pages import ErrorPages
from periplus.site.headers import SecurityHeaders
from periplus.site.pages import Pages

_TARGET_BYTES = 32_768  # the longest query, every character of it written as four escaped bytes, fits


def build(routes: Sequence[BaseRoute], pages: Pages) -> ASGIApp:
    """The site as one application: its routes and static files, bounded, with error pages and security headers."""
    failures = ErrorPages(pages)
    app = Starlette(routes=[*routes, pages.assets.route()], exception_handlers=failures.handlers())
    app.router.redirect_slashes = False  # a redirect would repeat the Host header, which anybody can forge
    return SecurityHeaders(_ShortTargets(app, failures))


class _ShortTargets:
    """Refuses a path and query that no page of ours could have linked to."""

    def __init__(self, app: ASGIApp, failures: ErrorPages) -> None:
        self._app, self._failures = app, failures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and len(scope["path"]) + len(scope["query_string"]) > _TARGET_BYTES:
            await self._failures.answer(scope["path"], 414)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
