"""periplus traps: lists suspected crawler traps, and unlearns them."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import plural, print_json, print_table
from periplus.cli.reply import Reply, show, wait_for_reply
from periplus.config import load
from periplus.control.orders import unlearn as give_unlearn
from periplus.errors import UsageError
from periplus.inspector.traps import to_unlearn, trap_report
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import open_collection

app = typer.Typer(add_completion=False)

_HEADINGS = ("host", "pattern", "fetched", "nothing new", "skipped")


@app.command()
def command(
    host: Annotated[str | None, typer.Argument(metavar="HOST", help="Only the traps of this host.")] = None,
    unlearn: Annotated[
        bool,
        typer.Option("--unlearn", help="Never suspect these patterns again; queue the URLs they skipped."),
    ] = False,
    pattern: Annotated[str | None, typer.Option(metavar="PATTERN", help="With --unlearn: only this pattern.")] = None,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """List URL patterns suspected to be crawler traps, or unlearn those of a host."""
    if unlearn and host is None:
        raise UsageError("--unlearn requires a host", hint="`periplus traps` lists them.")
    if pattern is not None and not unlearn:
        raise UsageError("--pattern requires --unlearn")
    settings, collection = load(home).settings.frontier, open_collection(home)
    if unlearn and host is not None:
        with closing(open_catalog(collection)) as catalog:
            found = [one.pattern for one in to_unlearn(catalog, settings, host, pattern)]
        queued = sum(give_unlearn(collection, host, one) for one in found)
        _show_unlearned(host, found, queued, wait_for_reply(collection), as_json=as_json)
        return
    with closing(open_catalog(collection)) as catalog:
        report = trap_report(catalog, settings, host)
    if as_json:
        print_json(report)
    elif rows := report["traps"]:
        numbers = ("fetched", "wasted", "refused")
        print_table([(one["host"], one["pattern"], *(f"{one[key]:,}" for key in numbers)) for one in rows], _HEADINGS)
    else:
        typer.echo("No URL pattern is a suspected trap.")


def _show_unlearned(host: str, patterns: list[str], queued: int, reply: Reply, *, as_json: bool) -> None:
    when = "The running crawl fetches them." if reply.is_running else "Run `periplus crawl` to fetch them."
    sentence = f"Unlearned {', '.join(patterns)} of {host}; queued {plural(queued, 'URL')}. {when}"
    show(sentence, {"host": host, "unlearned": patterns, "queued": queued}, reply, as_json=as_json)
