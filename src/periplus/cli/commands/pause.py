"""periplus pause: lets a running crawl start no new requests."""

from __future__ import annotations

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.reply import Node, show, wait_for_reply
from periplus.control.orders import pause
from periplus.store.collection import open_collection

app = typer.Typer(add_completion=False)


@app.command()
def command(home: Home = DEFAULT_HOME, node: Node = "", as_json: Json = False) -> None:
    """Pause the crawl: requests under way finish, and no new ones start until `periplus resume`.

    A crawl that is killed and started again stays paused.
    """
    collection = open_collection(home)
    pause(collection, node)
    reply = wait_for_reply(collection, node)
    sentence = f"Paused. {reply.requests}" if reply.is_running else "No crawl is running; the next one starts paused."
    show(sentence, {"paused": True}, reply, as_json=as_json)
