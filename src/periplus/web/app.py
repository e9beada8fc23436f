"""Builds the search site from a search engine and a library of pages."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from starlette.routing import Route
from starlette.types import ASGIApp

from periplus.config import Serving
from periplus.site.access_log import AccessLog
from periplus.site.answer import entity_tag
from periplus.site.app import Beside, build
from periplus.site.client_address import ClientAddresses
from periplus.site.delivery import Versioned
from periplus.site.front import FrontOptions
from periplus.site.metrics import Metrics
from periplus.site.pages import Pages
from periplus.site.preferences import ReadPreferences
from periplus.site.rate_limit import RateLimit
from periplus.web.api.routes import SearchApi, with_versions
from periplus.web.bangs import Bangs
from periplus.web.boxes.boxes import Boxes
from periplus.web.boxes.makers import box_makers
from periplus.web.branding import Branding
from periplus.web.completion import CompletionRoutes
from periplus.web.crawl_line import ReadCrawl
from periplus.web.engine_port import Engine
from periplus.web.health import Cluster, HealthCheck
from periplus.web.information import InformationPages
from periplus.web.metrics_route import MetricsPage, ReadText
from periplus.web.owner import Owner, OwnerFiles
from periplus.web.owner_routes import OwnerRoutes
from periplus.web.page.cached_pages import CachedPages
from periplus.web.page.inspect import InspectPages, UrlReport
from periplus.web.page.library_port import Library
from periplus.web.page.panel import PagePanel
from periplus.web.playground.page import Playground
from periplus.web.results.exports import ExportRoutes
from periplus.web.results.result_page import ResultExtras, ResultPage
from periplus.web.search_queue import SearchQueue
from periplus.web.settings_page import SettingsPage
from periplus.web.site_files import SiteFiles
from periplus.web.standing_routes import Standing, StandingRoutes
from periplus.web.tabs.media_page import MediaTabs

_SEARCHES = ("search", "news", "images", "videos")
_VERSIONED = frozenset({"/", "/search", *(f"/api/{version}{name}" for version in ("", "v1/") for name in _SEARCHES)})
_DAY = 86_400  # seconds
_PUBLIC_RATE = 10.0  # requests per second of a client
TEMPLATES = Path(__file__).parent / "templates"


class _Part(Protocol):
    """The handlers of some routes."""

    def routes(self) -> list[Route]: ...


@dataclass(frozen=True, slots=True)
class Sources:
    """What the search site shows."""

    engine: Engine
    library: Library
    report: UrlReport | None = None  # None: no reader can inspect URLs
    branding: Branding = field(default_factory=Branding)
    owner: OwnerFiles | None = None  # what the owner can change from the site
    bangs: Bangs = field(default_factory=Bangs)
    standing: Standing | None = None  # standing queries; None: there are no feeds
    beside: Beside = field(default_factory=Beside)  # another site on the same port, such as the console
    crawl: ReadCrawl | None = None  # what the crawl does, for the start page; None: no crawl runs beside the site
    crawl_metrics: ReadText | None = None  # its figures, for /metrics
    cluster: Cluster | None = None  # the shard nodes of a broker


def create_app(
    sources: Sources, settings: Serving, *, is_public: bool = False, metrics_folder: Path | None = None
) -> ASGIApp:
    """Builds the search site as an ASGI application.

    *is_public*: the site listens on an address that other machines reach. *metrics_folder*: where several server
    processes save their figures.
    """
    pages, metrics = Pages(TEMPLATES, layout="page.html"), Metrics(metrics_folder)
    sources.branding.apply(pages)
    sources.bangs.apply(pages)
    pages.define(inspects=sources.report is not None, playground=settings.playground)
    pages.define(saves_feeds=sources.standing is not None, has_console=bool(sources.beside.routes))
    pages.define(
        has_weather="weather" in settings.boxes and bool(settings.weather_address), loads_images=settings.load_images
    )
    owner = Owner(sources.owner, settings, is_public=is_public)
    routes = search_routes(sources, settings, pages, metrics, owner)
    paths = _VERSIONED & {route.path for route in routes}
    if sources.crawl is not None:
        paths -= {"/"}  # it shows how many pages a crawl has fetched
    versioned = Versioned(paths, _version(sources.engine, settings, pages), owner.variant)
    options = _front_options(settings, metrics, is_public=is_public)
    memory = settings.memory_cache_mb << 20
    everything = [*routes, *sources.beside.routes]
    return ReadPreferences(build(everything, pages, versioned, memory, options, sources.beside.guard))


def search_routes(
    sources: Sources, settings: Serving, pages: Pages, metrics: Metrics, owner: Owner | None = None
) -> list[Route]:
    """All routes of the search site."""
    owner = owner or Owner(None, settings, is_public=True)
    engine, library, look = sources.engine, sources.library, sources.branding
    queue = SearchQueue(engine, settings.longest_wait, metrics=metrics)
    metrics.gauge("periplus_search_queue_length", lambda: queue.length)
    metrics.gauge("periplus_index_generation", lambda: engine.generation)
    metrics.gauge("periplus_index_documents", lambda: engine.documents)
    if sources.cluster is not None:
        sources.cluster.measure(metrics)
    boxes, media = Boxes(box_makers(settings, engine, queue)), MediaTabs(engine, pages, queue, settings).answer
    extras = ResultExtras(boxes, sources.bangs, owner, media)
    parts: list[_Part] = [
        InformationPages(engine, pages, look, sources.bangs, sources.crawl),
        ResultPage(engine, pages, queue, extras),
        *([Playground(engine, pages, queue, owner)] if settings.playground else []),
        OwnerRoutes(owner, pages, saves_weights=settings.playground),
        HealthCheck(engine, sources.cluster),
        CachedPages(engine, library, pages, queue),
        PagePanel(library, pages, queue, inspects=sources.report is not None),
        *([InspectPages(sources.report, pages, queue)] if sources.report else []),
        ExportRoutes(pages, queue, settings.public_address),
        *([StandingRoutes(sources.standing, owner, pages, settings.public_address)] if sources.standing else []),
        SettingsPage(pages, settings.public_address),
        SiteFiles(pages, settings.public_address, look.icon),
        MetricsPage(metrics, is_open=settings.metrics, crawl=sources.crawl_metrics),
        SearchApi(queue),
        CompletionRoutes(engine),
    ]
    return with_versions(route for part in parts for route in part.routes())


def _front_options(settings: Serving, metrics: Metrics, *, is_public: bool) -> FrontOptions:
    rate = settings.rate_limit
    if rate == "auto":
        rate = _PUBLIC_RATE if is_public or settings.trusted_proxies else 0
    log = settings.access_log
    return FrontOptions(
        clients=ClientAddresses(settings.trusted_proxies),
        limit=RateLimit(rate, settings.rate_burst) if rate else None,
        log=AccessLog(log, with_queries=settings.log_queries) if log else None,
        metrics=metrics,
    )


def _version(engine: Engine, settings: Serving, pages: Pages) -> Callable[[], str]:
    """Identifies everything that a page shows, besides its query string; pages may show how old something is."""
    constant = entity_tag(settings.model_dump_json(), pages.digest).decode()

    def version() -> str:
        fingerprint = engine.fingerprint
        return f"{fingerprint}-{int(time.time()) // _DAY}-{constant}" if fingerprint else ""

    return version
