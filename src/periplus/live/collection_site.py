"""Builds the search site of a collection: search engine, page library, reports for the owner."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from starlette.types import ASGIApp

from periplus.config import Serving, load
from periplus.evaluation.own_judgements import OwnJudgements
from periplus.inspector.page_library import PageLibrary
from periplus.inspector.url_report import read_url_report
from periplus.search.reload import ReloadingEngine
from periplus.store.collection import open_collection
from periplus.web.app import Sources, create_app
from periplus.web.bangs import Bangs, load_bangs
from periplus.web.branding import load_branding
from periplus.web.crawl_line import ReadCrawl
from periplus.web.owner import OwnerFiles


def site_of(
    home: Path,
    secret: bytes,
    engine: ReloadingEngine,
    *,
    is_public: bool,
    metrics_folder: Path | None = None,
    crawl: ReadCrawl | None = None,
) -> ASGIApp:
    """Builds the application over an open engine; *secret* signs the forms of the owner, *crawl* reads a live crawl."""
    collection, settings = open_collection(home), load(home).settings
    library = PageLibrary(collection, settings, engine.live)
    inspects = may_inspect(settings.serve, is_public=is_public)
    report = partial(read_url_report, collection, settings) if inspects else None
    owner = OwnerFiles(OwnJudgements(collection), home, engine.reload, secret)
    bangs = bangs_of(home, settings.serve)
    sources = Sources(engine, library, report, load_branding(settings, home), owner, bangs, crawl)
    return create_app(sources, settings.serve, is_public=is_public, metrics_folder=metrics_folder)


def bangs_of(home: Path, settings: Serving) -> Bangs:
    """The bangs of the owner; raises `UsageError` for an unusable file."""
    return load_bangs(home / settings.bangs) if settings.bangs else Bangs()


def may_inspect(settings: Serving, *, is_public: bool) -> bool:
    """Whether readers may inspect URLs: by the setting, or because only this machine can reach the site.

    A site with a public address may be behind a proxy on this machine.
    """
    return settings.inspect or not (is_public or settings.public_address or settings.trusted_proxies)
