"""periplus reparse: read archived pages again with today's parser."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import print_json, print_table, warn_about_unread
from periplus.cli.progress import counter_progress
from periplus.config import load
from periplus.reparse import reparse
from periplus.store.collection import open_collection

app = typer.Typer(add_completion=False)


@app.command()
def command(
    home: Home = DEFAULT_HOME,
    everything: Annotated[
        bool, typer.Option("--everything", help="Also pages that were read closely before; after an update, say.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Read closely, from the archive, the pages that a crawl has only skimmed; `periplus index` does so by itself."""
    settings = load(home).settings
    with counter_progress("reading", "pages") as progress:
        summary = reparse(open_collection(home), settings, everything=everything, on_progress=progress)
    if as_json:
        print_json(asdict(summary) | {"reasons": [entry._asdict() for entry in summary.reasons]})
    else:
        pages = f"{summary.pages:,} in {summary.segments:,} segments"
        print_table([("pages", pages), ("time", f"{summary.seconds:.1f} s")])
        warn_about_unread(summary)
