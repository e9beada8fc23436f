"""periplus start: starts the crawl of a running `periplus up` again."""

from __future__ import annotations

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import print_json
from periplus.cli.reply import Node
from periplus.control.orders import start
from periplus.store.collection import open_collection

app = typer.Typer(add_completion=False)


@app.command()
def command(home: Home = DEFAULT_HOME, node: Node = "", as_json: Json = False) -> None:
    """Start the crawl of a running `periplus up` again, after `periplus stop`."""
    number = start(open_collection(home), node)
    if as_json:
        print_json({"command": number})
    else:
        typer.echo("The crawl starts again.")
