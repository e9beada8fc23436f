"""periplus index: build a new generation of the index."""

from __future__ import annotations

from dataclasses import asdict

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import by_count, print_json, print_table, size, warn_about_unread
from periplus.cli.progress import counter_progress
from periplus.config import load
from periplus.frontier.scope import page_rules
from periplus.index.build import build_index
from periplus.reparse import reparse
from periplus.store.collection import open_collection

app = typer.Typer(add_completion=False)


@app.command()
def command(home: Home = DEFAULT_HOME, as_json: Json = False) -> None:
    """Build the index anew from what was crawled; the last generation serves until the new one is complete.

    Left out are pages that are gone, have moved, or that their site or the settings of the scope refuse by now.
    """
    settings = load(home).settings
    collection = open_collection(home)
    with counter_progress("reading", "pages") as progress:
        reading = reparse(collection, settings, everything=False, on_progress=progress)
    with counter_progress("indexing", "pages") as progress:
        summary = build_index(collection, settings.index, progress, page_rules(settings.scope))
    if as_json:
        print_json(asdict(summary) | {"unread": reading.unread, "failed_extractors": reading.failed_extractors})
    else:
        documents = f"{summary.documents:,} ({summary.duplicates:,} duplicates folded)"
        print_table(
            [
                ("documents", documents),
                ("left out", by_count(summary.left_out)),
                ("generation", str(summary.generation)),
                ("time", f"{summary.seconds:.1f} s"),
                ("size", size(summary.bytes)),
            ]
        )
        warn_about_unread(reading)
