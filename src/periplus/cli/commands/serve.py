"""periplus serve: serves the search site."""

from __future__ import annotations

import ipaddress
import socket
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from starlette.types import ASGIApp

from periplus.cli.options import DEFAULT_HOME, Home
from periplus.cli.output import plural
from periplus.config import Serving, load
from periplus.inspector.page_library import PageLibrary
from periplus.inspector.url_report import read_url_report
from periplus.search.reload import ReloadingEngine
from periplus.site.server import address_of, listen, run
from periplus.store.collection import open_collection
from periplus.web.app import create_app

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
    settings = load(home).settings
    engine = ReloadingEngine(open_collection(home), settings)
    try:
        with listen(host, port) as listener:
            pages = plural(engine.documents, "page")
            typer.echo(f"Serving {pages} at {address_of(listener)} (Ctrl-C to stop)", err=True)
            inspects = may_inspect(settings.serve, listener)
            make_app = (
                partial(_app, home, engine, inspects=inspects)
                if workers == 1
                else partial(_app_of_process, home, inspects=inspects)
            )
            run(make_app, listener, workers)
    finally:
        engine.close()


def may_inspect(settings: Serving, listener: socket.socket) -> bool:
    """Whether readers may inspect URLs: by the setting, or because only this machine can reach the site.

    A site with a public address may be behind a proxy on this machine.
    """
    is_local = ipaddress.ip_address(listener.getsockname()[0]).is_loopback
    return settings.inspect or (is_local and not settings.public_address)


def _app_of_process(home: Path, *, inspects: bool) -> ASGIApp:
    """Builds the application of one server process."""
    return _app(home, ReloadingEngine(open_collection(home), load(home).settings), inspects=inspects)


def _app(home: Path, engine: ReloadingEngine, *, inspects: bool) -> ASGIApp:
    collection, settings = open_collection(home), load(home).settings
    library = PageLibrary(collection, settings, engine.live)
    report = partial(read_url_report, collection, settings) if inspects else None
    return create_app(engine, settings.serve, library, report)
