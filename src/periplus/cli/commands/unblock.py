"""periplus unblock: fetches from a blocked host again."""

from __future__ import annotations

from typing import Annotated

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import plural
from periplus.cli.reply import show, wait_for_reply
from periplus.control.orders import unblock
from periplus.store.collection import open_collection

app = typer.Typer(add_completion=False)


@app.command()
def command(
    host: Annotated[str, typer.Argument(metavar="HOST", help="The host; `periplus block --list` lists them.")],
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Fetch from a blocked host again: the URLs that were queued are queued again."""
    collection = open_collection(home)
    queued = unblock(collection, host)
    reply = wait_for_reply(collection)
    sentence = f"Unblocked {host}; queued {plural(queued, 'URL')}."
    show(sentence, {"host": host, "queued": queued}, reply, as_json=as_json)
