"""periplus serve: serves the search site."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from secrets import token_bytes
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from starlette.types import ASGIApp

from periplus.cli.options import DEFAULT_HOME, Home
from periplus.cli.output import plural
from periplus.config import Serving, Settings, load
from periplus.console.app import console_beside
from periplus.console.reader import Sources as ConsoleSources
from periplus.console.routes import PREFIX as CONSOLE
from periplus.evaluation.own_judgements import OwnJudgements
from periplus.inspector.page_library import PageLibrary
from periplus.inspector.url_report import read_url_report
from periplus.search.engine import SearchEngine
from periplus.search.reload import ReloadingEngine
from periplus.site.access.credentials import CredentialsFile
from periplus.site.access.login_state import LoginState
from periplus.site.access.request_source import is_local_site
from periplus.site.access.visitors import AccessOptions
from periplus.site.access_log import AccessLog
from periplus.site.app import Beside
from periplus.site.server import address_of, is_loopback, listen, run
from periplus.standing.saved_queries import SavedQueries
from periplus.store.collection import open_collection
from periplus.web.app import Sources, create_app
from periplus.web.bangs import Bangs, load_bangs
from periplus.web.branding import load_branding
from periplus.web.owner import OwnerFiles
from periplus.web.standing_routes import Standing

app = typer.Typer(add_completion=False)


@app.command()
def command(
    home: Home = DEFAULT_HOME,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on; 0.0.0.0 means all.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65_535, metavar="PORT", help="Port to listen on; 0: any free one.")
    ] = 8080,
    workers: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Number of server processes.")] = 1,
) -> None:
    """Serve the search site until Ctrl-C; a newly built index is loaded automatically."""
    settings, collection = load(home).settings, open_collection(home)
    load_branding(settings, home)  # reports an unusable logo now
    _bangs(home, settings.serve)  # reports an unusable file now
    if settings.serve.access_log:
        AccessLog(settings.serve.access_log, with_queries=False)  # reports a file that cannot be written
    secret = token_bytes()
    with ExitStack() as stack:
        if workers == 1:
            engine = stack.enter_context(closing(ReloadingEngine(collection, settings)))
            make_app: Callable[..., ASGIApp] = partial(_app, home, secret, engine)
            pages = engine.documents
        else:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="periplus-metrics-")))
            make_app = partial(_app_of_process, home, secret, folder)
            with closing(SearchEngine.open(collection, settings)) as opened:  # reports a missing index now
                pages = opened.documents
        listener = stack.enter_context(listen(host, port))
        typer.echo(f"Serving {plural(pages, 'page')} at {address_of(listener)} (Ctrl-C to stop)", err=True)
        run(partial(make_app, is_public=not is_loopback(listener)), listener, workers)


def _app_of_process(home: Path, secret: bytes, metrics_folder: Path, *, is_public: bool) -> ASGIApp:
    """Builds the application of one server process."""
    engine = ReloadingEngine(open_collection(home), load(home).settings)
    return _app(home, secret, engine, is_public=is_public, metrics_folder=metrics_folder)


def _app(
    home: Path, secret: bytes, engine: ReloadingEngine, *, is_public: bool, metrics_folder: Path | None = None
) -> ASGIApp:
    collection, settings = open_collection(home), load(home).settings
    library = PageLibrary(collection, settings, engine.live)
    inspects = may_inspect(settings.serve, is_public=is_public)
    report = partial(read_url_report, collection, settings) if inspects else None
    owner = OwnerFiles(OwnJudgements(collection), home, engine.reload, secret)
    bangs = _bangs(home, settings.serve)
    standing = Standing(SavedQueries(collection), engine.live)
    beside = _console(home, secret, engine, settings, is_public=is_public)
    sources = Sources(engine, library, report, load_branding(settings, home), owner, bangs, standing, beside)
    return create_app(sources, settings.serve, is_public=is_public, metrics_folder=metrics_folder)


def _console(home: Path, secret: bytes, engine: ReloadingEngine, settings: Settings, *, is_public: bool) -> Beside:
    """The console, for a site that only this machine reaches or whose console has a password or a token."""
    credentials = CredentialsFile(home)
    if not credentials() and not is_local_site(settings.serve, is_public=is_public):
        return Beside()
    access = AccessOptions(
        credentials, secret, settings.console, settings.serve, LoginState(), CONSOLE, is_public=is_public
    )
    return console_beside(ConsoleSources(home, engine, engine.reload), access, load_branding(settings, home).apply)


def _bangs(home: Path, settings: Serving) -> Bangs:
    return load_bangs(home / settings.bangs) if settings.bangs else Bangs()


def may_inspect(settings: Serving, *, is_public: bool) -> bool:
    """Whether readers may inspect URLs: by the setting, or because only this machine can reach the site.

    A site with a public address may be behind a proxy on this machine.
    """
    return settings.inspect or is_local_site(settings, is_public=is_public)
