"""periplus retry: fetches failed URLs again."""

from __future__ import annotations

from typing import Annotated

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import plural
from periplus.cli.reply import show, wait_for_reply
from periplus.control.orders import retry
from periplus.store.collection import open_collection

app = typer.Typer(add_completion=False)


@app.command()
def command(
    what: Annotated[str, typer.Argument(metavar="URL|HOST", help="A URL, or a host for all its failed URLs.")],
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Forget the errors of a host and queue its failed URLs, or queue one URL whatever its state."""
    collection = open_collection(home)
    queued = retry(collection, what)
    reply = wait_for_reply(collection)
    when = "The running crawl fetches them." if reply.is_running else "Run `periplus crawl` to fetch them."
    sentence = f"Queued {plural(queued, 'URL')} of {what}. {when if queued else ''}"
    show(sentence, {"retried": what, "queued": queued}, reply, as_json=as_json)
