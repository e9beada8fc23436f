"""Builds the search site from a search engine."""

from __future__ import annotations

from pathlib import Path

from starlette.types import ASGIApp

from periplus.config import Serving
from periplus.site.app import build
from periplus.site.pages import Pages
from periplus.site.preferences import ReadPreferences
from periplus.web.branding import Branding
from periplus.web.completion import CompletionRoutes
from periplus.web.engine_port import Engine
from periplus.web.exports import ExportRoutes
from periplus.web.information import InformationPages
from periplus.web.routes import SearchSite
from periplus.web.search_queue import SearchQueue
from periplus.web.settings_page import SettingsPage
from periplus.web.site_files import SiteFiles

_TEMPLATES = Path(__file__).parent / "templates"


def create_app(engine: Engine, settings: Serving, branding: Branding | None = None) -> ASGIApp:
    """Builds the search site over *engine* as an ASGI application."""
    pages = Pages(_TEMPLATES, layout="page.html")
    look = branding or Branding()
    look.apply(pages)
    queue = SearchQueue(engine, settings.longest_wait)
    parts = (
        InformationPages(engine, pages, look),
        SearchSite(engine, pages, queue),
        CompletionRoutes(engine),
        ExportRoutes(pages, queue, settings.public_address),
        SettingsPage(pages, settings.public_address),
        SiteFiles(pages, settings.public_address, look.icon),
    )
    return ReadPreferences(build([route for part in parts for route in part.routes()], pages))
