"""Builds the search site of a collection, with the console beside it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from starlette.types import ASGIApp

from periplus.config import Serving, load
from periplus.console.app import console_beside
from periplus.console.reader import Ranker
from periplus.console.reader import Sources as ConsoleSources
from periplus.console.routes import PREFIX as CONSOLE
from periplus.evaluation.own_judgements import OwnJudgements
from periplus.inspector.crawl_figures import crawl_figures
from periplus.inspector.crawl_metrics import crawl_metrics
from periplus.inspector.page_library import PageLibrary
from periplus.inspector.url_report import read_url_report
from periplus.search.reload import ReloadingEngine
from periplus.site.access.credentials import CredentialsFile, may_serve_console
from periplus.site.access.login_state import LoginState
from periplus.site.access.visitors import AccessOptions
from periplus.site.app import Beside
from periplus.site.listener import is_local_site
from periplus.standing.saved_queries import SavedQueries
from periplus.store.collection import open_collection
from periplus.web.app import Sources, create_app
from periplus.web.bangs import Bangs, load_bangs
from periplus.web.branding import load_branding
from periplus.web.crawl_line import ReadCrawl
from periplus.web.health import Cluster
from periplus.web.owner import OwnerFiles
from periplus.web.standing_routes import Standing


def site_of(
    home: Path,
    secret: bytes,
    engine: ReloadingEngine,
    *,
    is_public: bool,
    metrics_folder: Path | None = None,
    crawl: ReadCrawl | None = None,
    cluster: Cluster | None = None,
) -> ASGIApp:
    """Builds the application over an open engine; *secret* signs the forms of the owner, *crawl* reads a live crawl.

    *cluster*: the shard nodes of a broker.
    """
    collection, settings = open_collection(home), load(home).settings
    library = PageLibrary(collection, settings, engine.live)
    inspects = collection.has_catalog and may_inspect(settings.serve, is_public=is_public)
    report = partial(read_url_report, collection, settings) if inspects else None
    owner = OwnerFiles(OwnJudgements(collection), home, engine.reload, secret)
    standing = Standing(SavedQueries(collection), engine.live)
    sources = Sources(
        engine,
        library,
        report,
        load_branding(settings, home),
        owner,
        bangs_of(home, settings.serve),
        standing,
        console_of(home, secret, engine, engine.reload, is_public=is_public),
        crawl,
        (lambda: crawl_metrics(crawl_figures(collection))) if collection.has_catalog else None,
        cluster,
    )
    return create_app(sources, settings.serve, is_public=is_public, metrics_folder=metrics_folder)


def console_of(
    home: Path, secret: bytes, engine: Ranker | None, reload: Callable[[], None], *, is_public: bool
) -> Beside:
    """The console, for a site that only this machine reaches or whose console has a password or a token.

    *engine*: None before the first index. *reload*: makes the site use a generation after a roll-back.
    """
    settings, credentials = load(home).settings, CredentialsFile(home)
    collection = open_collection(home)
    if not collection.has_catalog or not may_serve_console(credentials(), settings.serve, is_public=is_public):
        return Beside()
    state = LoginState(collection.logins)
    access = AccessOptions(credentials, secret, settings.console, settings.serve, state, CONSOLE, is_public=is_public)
    return console_beside(ConsoleSources(home, engine, reload), access, load_branding(settings, home).apply)


def bangs_of(home: Path, settings: Serving) -> Bangs:
    """The bangs of the owner; raises `UsageError` for an unusable file."""
    return load_bangs(home / settings.bangs) if settings.bangs else Bangs()


def may_inspect(settings: Serving, *, is_public: bool) -> bool:
    """Whether readers may inspect URLs: by the setting, or because only this machine can reach the site.

    A site with a public address may be behind a proxy on this machine.
    """
    return settings.inspect or is_local_site(settings, is_public=is_public)
