"""periplus serve: serves the search site."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from starlette.types import ASGIApp

from periplus.cli.options import DEFAULT_HOME, Home
from periplus.cli.output import plural
from periplus.config import load
from periplus.search.reload import ReloadingEngine
from periplus.site.server import address_of, listen, run
from periplus.store.collection import open_collection
from periplus.web.app import create_app
from periplus.web.branding import load_branding

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
    collection = open_collection(home)
    branding = load_branding(settings, home)
    engine = ReloadingEngine(collection, settings)
    try:
        with listen(host, port) as listener:
            pages = plural(engine.documents, "page")
            typer.echo(f"Serving {pages} at {address_of(listener)} (Ctrl-C to stop)", err=True)
            make_app = partial(create_app, engine, settings.serve, branding) if workers == 1 else partial(_site, home)
            run(make_app, listener, workers)
    finally:
        engine.close()


def _site(home: Path) -> ASGIApp:
    """Builds the application of one server process."""
    settings = load(home).settings
    return create_app(ReloadingEngine(open_collection(home), settings), settings.serve, load_branding(settings, home))
