"""periplus worker: crawls as a node of a fleet."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from periplus.cli.crawl_options import UntilBytes, UntilPages, Workers
from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import print_json, print_table, summary_rows
from periplus.cli.progress import crawl_progress
from periplus.config import load
from periplus.crawl.assignment import Budget, RecrawlPolicy
from periplus.crawl.fleet_settings import share_settings
from periplus.crawl.run import Request, crawl
from periplus.errors import UsageError
from periplus.store.collection import create_collection

app = typer.Typer(add_completion=False)


@app.command()
def command(
    database: Annotated[
        str | None, typer.Option(metavar="URL", help="Database of the fleet: postgresql://user@host/name.")
    ] = None,
    storage: Annotated[
        str | None, typer.Option(metavar="URL", help="Object store of the fleet: s3://bucket/prefix.")
    ] = None,
    home: Home = DEFAULT_HOME,
    workers: Workers = 1,
    name: Annotated[str | None, typer.Option(metavar="NODE", help="Name of this node, if not the host name.")] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Publish these settings for all nodes that start later."),
    ] = None,
    until_done: Annotated[
        bool, typer.Option("--until-done", metavar="", help="End when no node has anything left to fetch.")
    ] = False,
    until_pages: UntilPages = None,
    until_bytes: UntilBytes = None,
    as_json: Json = False,
) -> None:
    """Crawl as a node of a fleet until Ctrl-C or SIGTERM (once: finish requests; twice: stop now).

    Settings come from the database. Without seeds it waits until another node, or `periplus seed add`, adds some.
    """
    for setting, value in (("DATABASE", database), ("STORAGE", storage), ("NODE", name)):
        if value is not None:
            os.environ[f"PERIPLUS_FLEET__{setting}"] = value  # opening the collection reads it, here and in workers
    collection = create_collection(home)
    if not collection.database:
        raise UsageError("no fleet to join", "no database is named", "Give --database URL, or set `fleet.database`.")
    share_settings(collection, config)
    request = Request(
        home,
        load(home, {}).settings,
        budget=Budget(until_pages=until_pages, until_bytes=until_bytes),
        workers=workers,
        arguments={
            "node": collection.node,
            "workers": workers,
            "until_pages": until_pages,
            "until_bytes": until_bytes,
        },
        recrawl=RecrawlPolicy(continuous=not until_done),
        waits=True,
        own_process=True,
    )
    with crawl_progress(None, quiet=as_json) as progress:
        result = crawl(request, progress)
    if as_json:
        print_json(result.summary)
    else:
        print_table([("run", f"{result.summary['run_id']} ({result.ending})"), *summary_rows(result.summary)])
