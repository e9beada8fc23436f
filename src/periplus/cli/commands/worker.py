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
from periplus.config import Settings, load
from periplus.crawl.assignment import Budget, RecrawlPolicy
from periplus.crawl.coordination.settings_sync import publish_settings, wait_for_settings
from periplus.crawl.run import Request, crawl, require_contact
from periplus.errors import UsageError
from periplus.store.collection import Collection, create_collection

app = typer.Typer(add_completion=False)

_NO_CONTACT = "Set identity.contact in periplus.toml of the head, and start `periplus up` there again."


@app.command()
def command(
    database: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Database of the fleet: postgresql://user@host/name. Other users of the machine see the command line: "
            "put a URL with a password into PERIPLUS_FLEET__DATABASE.",
        ),
    ] = None,
    storage: Annotated[
        str | None, typer.Option(metavar="URL", help="Object store of the fleet: s3://bucket/prefix.")
    ] = None,
    home: Home = DEFAULT_HOME,
    workers: Workers = 1,
    name: Annotated[
        str | None, typer.Option(metavar="NODE", help="Node name, unique in the fleet; default: the host name.")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Publish these settings for all nodes that start later."),
    ] = None,
    until_done: Annotated[
        bool, typer.Option("--until-done", help="End when no node has anything left to fetch.")
    ] = False,
    until_pages: UntilPages = None,
    until_bytes: UntilBytes = None,
    as_json: Json = False,
) -> None:
    """Crawl as a node of a fleet until Ctrl-C or SIGTERM (once: finish requests; twice: stop now).

    The node uses the settings that the head has published, and waits for them. Without seeds, the node waits until
    another node or `periplus seed add` adds some.
    """
    for setting, value in (("DATABASE", database), ("STORAGE", storage), ("NODE", name)):
        if value is not None:
            os.environ[f"PERIPLUS_FLEET__{setting}"] = value  # opening the collection reads it, here and in workers
    collection = create_collection(home)
    settings = _settings_of_fleet(collection, config)
    target = {"until_pages": until_pages, "until_bytes": until_bytes}
    request = Request(
        home,
        settings,
        budget=Budget(**target),
        workers=workers,
        arguments={"node": collection.node, "workers": workers, **target},
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


def _settings_of_fleet(collection: Collection, config: Path | None) -> Settings:
    """Publishes the settings of a file, if one is given; waits for the published ones and returns them."""
    if not collection.database:
        raise UsageError("no fleet to join", "no database is named", "Give --database URL, or set `fleet.database`.")
    if config is not None:
        if not config.exists():
            raise UsageError(f"{config} cannot be read", "there is no such file")
        publish_settings(collection, config)
    wait_for_settings(collection)
    settings = load(collection.home, {}).settings
    require_contact(settings, _NO_CONTACT)
    return settings
