"""Builds the console: as routes beside those of another site, or as a site of its own."""

from __future__ import annotations

from collections.abc import Callable

from starlette.routing import Route
from starlette.types import ASGIApp

from periplus.console.reader import Sources
from periplus.console.routes import TEMPLATES, Console
from periplus.site.access.guard import Access
from periplus.site.access.visitors import AccessOptions
from periplus.site.app import Beside, build
from periplus.site.front import FrontOptions
from periplus.site.pages import Pages
from periplus.site.preferences import ReadPreferences

Dress = Callable[[Pages], None]  # gives pages the name, logo and colours of a site


def console_beside(sources: Sources, access: AccessOptions, dress: Dress = lambda _: None) -> Beside:
    """The routes of the console with the guard before them, for another site."""
    pages = Pages(TEMPLATES, layout="console.html")
    dress(pages)
    guard = Access(access, pages)
    return Beside([*console_routes(sources, pages), *guard.routes()], guard.guard)


def create_console(sources: Sources, access: AccessOptions, front: FrontOptions | None = None) -> ASGIApp:
    """The console as a site of its own."""
    pages = Pages(TEMPLATES, layout="console.html")
    guard = Access(access, pages)
    routes = [*console_routes(sources, pages), *guard.routes()]
    return ReadPreferences(build(routes, pages, options=front, guard=guard.guard))


def console_routes(sources: Sources, pages: Pages) -> list[Route]:
    """The routes of the console, without a guard."""
    return Console(sources, pages).routes()
