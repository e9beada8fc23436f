"""Builds the search site from a search engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from starlette.routing import Route
from starlette.types import ASGIApp

from periplus.config import Serving
from periplus.site.answer import entity_tag
from periplus.site.app import build
from periplus.site.delivery import Versioned
from periplus.site.pages import Pages
from periplus.web.api_routes import SearchApi, with_versions
from periplus.web.engine_port import Engine
from periplus.web.routes import SearchSite
from periplus.web.search_queue import SearchQueue

_VERSIONED = frozenset({"/", "/search", "/api/search", "/api/v1/search"})
_DAY = 86_400  # seconds
_TEMPLATES = Path(__file__).parent / "templates"


def create_app(engine: Engine, settings: Serving) -> ASGIApp:
    """Builds the search site over *engine* as an ASGI application."""
    pages = Pages(_TEMPLATES, layout="page.html")
    routes = search_routes(engine, settings, pages)
    versioned = Versioned(_VERSIONED & {route.path for route in routes}, _version(engine, settings, pages))
    return build(routes, pages, versioned, settings.memory_cache_mb << 20)


def search_routes(engine: Engine, settings: Serving, pages: Pages) -> list[Route]:
    """All routes of the search site."""
    queue = SearchQueue(engine, settings.longest_wait)
    site = SearchSite(engine, pages, queue, settings.public_address)
    return [*site.routes(), *with_versions(SearchApi(queue).routes())]


def _version(engine: Engine, settings: Serving, pages: Pages) -> Callable[[], str]:
    """Identifies everything that a page shows, besides its query string; pages may show how old something is."""
    constant = entity_tag(settings.model_dump_json(), pages.digest).decode()

    def version() -> str:
        fingerprint = engine.fingerprint
        return f"{fingerprint}-{int(time.time()) // _DAY}-{constant}" if fingerprint else ""

    return version
