"""Builds the search site from a search engine."""

from __future__ import annotations

from pathlib import Path

from starlette.routing import Route
from starlette.types import ASGIApp

from periplus.config import Serving
from periplus.site.app import build
from periplus.site.pages import Pages
from periplus.web.api_routes import SearchApi, with_versions
from periplus.web.engine_port import Engine
from periplus.web.routes import SearchSite
from periplus.web.search_queue import SearchQueue

_TEMPLATES = Path(__file__).parent / "templates"


def create_app(engine: Engine, settings: Serving) -> ASGIApp:
    """Builds the search site over *engine* as an ASGI application."""
    pages = Pages(_TEMPLATES, layout="page.html")
    return build(search_routes(engine, settings, pages), pages)


def search_routes(engine: Engine, settings: Serving, pages: Pages | None = None) -> list[Route]:
    """All routes of the search site."""
    shown = pages or Pages(_TEMPLATES, layout="page.html")
    queue = SearchQueue(engine, settings.longest_wait)
    site = SearchSite(engine, shown, queue, settings.public_address)
    return [*site.routes(), *with_versions(SearchApi(queue).routes())]
