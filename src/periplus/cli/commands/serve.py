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

from periplus.cli.options import DEFAULT_HOME, DEFAULT_HOST, DEFAULT_PORT, Home, Host, Port
from periplus.cli.output import plural
from periplus.config import load
from periplus.live.collection_site import bangs_of, site_of
from periplus.search.engine import SearchEngine
from periplus.search.reload import ReloadingEngine
from periplus.site.access.credentials import console_notice
from periplus.site.access_log import AccessLog
from periplus.site.listener import address_of, is_loopback, listen
from periplus.site.server import run
from periplus.store.collection import open_collection
from periplus.web.branding import load_branding

app = typer.Typer(add_completion=False)


@app.command()
def command(
    home: Home = DEFAULT_HOME,
    host: Host = DEFAULT_HOST,
    port: Port = DEFAULT_PORT,
    workers: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Number of server processes.")] = 1,
) -> None:
    """Serve the search site until Ctrl-C; a newly built index is loaded automatically."""
    settings, collection = load(home).settings, open_collection(home)
    load_branding(settings, home)  # reports an unusable logo now
    bangs_of(home, settings.serve)  # reports an unusable file now
    if settings.serve.access_log:
        AccessLog(settings.serve.access_log, with_queries=False)  # reports a file that cannot be written
    secret = token_bytes()
    with ExitStack() as stack:
        if workers == 1:
            engine = stack.enter_context(closing(ReloadingEngine(collection, settings)))
            make_app: Callable[..., ASGIApp] = partial(site_of, home, secret, engine)
            pages = engine.documents
        else:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="periplus-metrics-")))
            make_app = partial(_app_of_process, home, secret, folder)
            with closing(SearchEngine.open(collection, settings)) as opened:  # reports a missing index now
                pages = opened.documents
        listener = stack.enter_context(listen(host, port))
        typer.echo(f"Serving {plural(pages, 'page')} at {address_of(listener)} (Ctrl-C to stop)", err=True)
        if notice := console_notice(settings, listener):
            typer.echo(notice, err=True)
        run(partial(make_app, is_public=not is_loopback(listener)), listener, workers)


def _app_of_process(home: Path, secret: bytes, metrics_folder: Path, *, is_public: bool) -> ASGIApp:
    """Builds the application of one server process."""
    engine = ReloadingEngine(open_collection(home), load(home).settings)
    return site_of(home, secret, engine, is_public=is_public, metrics_folder=metrics_folder)
