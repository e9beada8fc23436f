"""periplus serve: the search site."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from starlette.types import ASGIApp

from periplus.cli.options import DEFAULT_HOME, Home
from periplus.config import load
from periplus.search.reload import ReloadingEngine
from periplus.site.server import address_of, listen, run
from periplus.store.collection import open_collection
from periplus.web.app import create_app

app = typer.Typer(add_completion=False)


@app.command()
def command(
    home: Home = DEFAULT_HOME,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 is every network.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 takes a free one.")] = 8080,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that answer.")] = 1,
) -> None:
    """Serve the search site until Ctrl-C; an index that is built meanwhile is served from then on."""
    settings = load(home).settings
    engine = ReloadingEngine(open_collection(home), settings)
    try:
        with listen(host, port) as listener:
            typer.echo(f"{engine.documents:,} pages to search at {address_of(listener)} (Ctrl-C stops)", err=True)
            make_app = partial(create_app, engine, settings.serve) if workers == 1 else partial(_site, home)
            run(make_app, listener, workers)
    finally:
        engine.close()


def _site(home: Path) -> ASGIApp:
    """What each worker process serves."""
    settings = load(home).settings
    return create_app(ReloadingEngine(open_collection(home), settings), settings.serve)
