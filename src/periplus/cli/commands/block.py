"""periplus block: fetches nothing more from a host."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import moment, plural, print_json, print_table
from periplus.cli.reply import show, wait_for_reply
from periplus.control.orders import block
from periplus.errors import UsageError
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.queries import Queries
from periplus.store.collection import Collection, open_collection

app = typer.Typer(add_completion=False)


@app.command()
def command(
    host: Annotated[str | None, typer.Argument(metavar="HOST", help="The host, without its subdomains.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the blocked hosts.")] = False,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Fetch nothing more from a host, also in the crawl that is running; its archived pages stay."""
    if listed == (host is not None):
        raise UsageError("name a host or use --list", hint="For example: periplus block ads.example.org")
    collection = open_collection(home)
    if host is None:
        _list(collection, as_json=as_json)
        return
    refused = block(collection, host)
    reply = wait_for_reply(collection)
    sentence = f"Blocked {host}; {plural(refused, 'queued URL')} will not be fetched."
    show(sentence, {"host": host, "refused": refused}, reply, as_json=as_json)


def _list(collection: Collection, *, as_json: bool) -> None:
    with closing(open_catalog(collection, Queries)) as catalog:
        blocked = catalog.blocked_hosts()
    if as_json:
        print_json({"blocked": [{"host": host, "since": since} for host, since in blocked.items()]})
    elif blocked:
        print_table([(host, moment(since)) for host, since in blocked.items()], ("host", "since"))
    else:
        typer.echo("No host is blocked.")
