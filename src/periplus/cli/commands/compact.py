"""periplus compact: merges small segments into larger ones."""

from __future__ import annotations

from dataclasses import asdict

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import print_json, print_table, size
from periplus.cli.progress import counter_progress
from periplus.store.collection import open_collection
from periplus.store.compaction import compact

app = typer.Typer(add_completion=False)


@app.command()
def command(home: Home = DEFAULT_HOME, as_json: Json = False) -> None:
    """Merge all small segments into larger ones; `periplus index` merges them when there are many."""
    with counter_progress("merging", "segments") as progress:
        summary = compact(open_collection(home), fewest=2, on_progress=progress)
    if as_json:
        print_json(asdict(summary))
    else:
        print_table(
            [
                ("segments", f"{summary.segments:,} ({summary.merged:,} merged)"),
                ("written", size(summary.bytes)),
                ("time", f"{summary.seconds:.1f} s"),
            ]
        )
