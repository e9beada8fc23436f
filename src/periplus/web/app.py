"""Builds the search site from a search engine."""

from __future__ import annotations

from pathlib import Path

from starlette.types import ASGIApp

from periplus.config import Serving
from periplus.site.app import build
from periplus.site.pages import Pages
from periplus.web.engine_port import Engine
from periplus.web.result_page import ResultPage
from periplus.web.routes import SearchSite
from periplus.web.search_queue import SearchQueue

_TEMPLATES = Path(__file__).parent / "templates"


def create_app(engine: Engine, settings: Serving) -> ASGIApp:
    """Builds the search site over *engine* as an ASGI application."""
    pages = Pages(_TEMPLATES, layout="page.html")
    queue = SearchQueue(engine, settings.longest_wait)
    site = SearchSite(engine, pages, queue, settings.public_address)
    return build([*site.routes(), *ResultPage(engine, pages, queue).routes()], pages)
