"""periplus stop: ends a running crawl."""

from __future__ import annotations

from typing import Annotated

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.reply import Node, require_known, show, wait_for_reply
from periplus.control.orders import drain, stop
from periplus.store.collection import open_collection

app = typer.Typer(add_completion=False)


@app.command()
def command(
    now: Annotated[bool, typer.Option("--now", help="Drop the requests under way.")] = False,
    home: Home = DEFAULT_HOME,
    node: Node = "",
    as_json: Json = False,
) -> None:
    """End the running crawl when its requests under way have finished, as Ctrl-C does; the same crawl continues it."""
    collection = open_collection(home)
    require_known(collection, node)
    (stop if now else drain)(collection, node)
    reply = wait_for_reply(collection, node)
    if not reply.is_running:
        sentence = "No crawl is running."
    elif now:
        sentence = "Stopped. Requests under way were dropped; their URLs stay queued."
    else:
        sentence = f"Stopping. {reply.requests}"
    show(sentence, {"stopped": reply.is_running, "dropped": now}, reply, as_json=as_json)
