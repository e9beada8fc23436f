"""Builds the search site from a search engine and a library of pages."""

from __future__ import annotations

from pathlib import Path

from starlette.types import ASGIApp

from periplus.config import Serving
from periplus.site.app import build
from periplus.site.pages import Pages
from periplus.web.cached_pages import CachedPages
from periplus.web.engine_port import Engine
from periplus.web.inspect_pages import InspectPages, UrlReport
from periplus.web.library_port import Library
from periplus.web.page_panel import PagePanel
from periplus.web.routes import SearchSite
from periplus.web.search_queue import SearchQueue

_TEMPLATES = Path(__file__).parent / "templates"


def create_app(engine: Engine, settings: Serving, library: Library, report: UrlReport | None = None) -> ASGIApp:
    """Builds the search site over *engine* as an ASGI application; without *report*, no reader can inspect URLs."""
    pages = Pages(_TEMPLATES, layout="page.html", inspects=report is not None)
    queue = SearchQueue(engine, settings.longest_wait)
    routes = [
        *SearchSite(engine, pages, queue, settings.public_address).routes(),
        *CachedPages(engine, library, pages, queue).routes(),
        *PagePanel(library, pages, queue, inspects=report is not None).routes(),
        *(InspectPages(report, pages, queue).routes() if report is not None else []),
    ]
    return build(routes, pages)
