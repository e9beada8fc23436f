"""periplus resume: continues a paused crawl."""

from __future__ import annotations

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.reply import Node, show, wait_for_reply
from periplus.control.orders import resume
from periplus.store.collection import open_collection

app = typer.Typer(add_completion=False)


@app.command()
def command(home: Home = DEFAULT_HOME, node: Node = "", as_json: Json = False) -> None:
    """Continue a paused crawl."""
    collection = open_collection(home)
    resume(collection, node)
    reply = wait_for_reply(collection, node)
    sentence = "Resumed." if reply.is_running else "No crawl is running; the next one starts at once."
    show(sentence, {"paused": False}, reply, as_json=as_json)
