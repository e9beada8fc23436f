"""periplus generations: lists the generations of index and ranks."""

from __future__ import annotations

from dataclasses import asdict

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import moment, print_json, print_table, size
from periplus.inspector.generation_list import ListedGeneration, list_published
from periplus.store.collection import open_collection

app = typer.Typer(add_completion=False)

_HEADINGS = ("kind", "generation", "published", "documents", "size", "format", "state")


@app.command()
def command(
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """List the generations of index and ranks, newest first, and which is live; on a fleet, the published ones.

    `periplus index --rollback` makes an earlier generation of the index live again.
    """
    found = list_published(open_collection(home))
    if as_json:
        print_json({"generations": [asdict(generation) for generation in found]})
    else:
        print_table([_row(generation) for generation in found], _HEADINGS)


def _documents(listed: ListedGeneration) -> str:
    if listed.documents is None:
        return "-"
    return f"{listed.documents:,}" + (f" in {listed.shards} shards" if listed.shards > 1 else "")


def _row(listed: ListedGeneration) -> tuple[str, ...]:
    state = ", ".join(filter(None, ("live" if listed.live else "", listed.problem)))
    return (
        listed.kind,
        str(listed.generation),
        moment(listed.published),
        _documents(listed),
        size(listed.bytes),
        "-" if listed.format is None else str(listed.format),
        state,
    )
