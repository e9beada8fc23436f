"""periplus compact: merges small segments into larger ones."""

from __future__ import annotations

from dataclasses import asdict

import typer

from periplus.cli.engines import Engine, EngineName, Master, chosen_session, runner_of
from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import print_json, print_table, size
from periplus.cli.progress import counter_progress
from periplus.config import load
from periplus.store.collection import open_collection
from periplus.store.segments.compaction import compact

app = typer.Typer(add_completion=False)


@app.command()
def command(
    home: Home = DEFAULT_HOME,
    engine: Engine = EngineName.LOCAL,
    master: Master = "",
    as_json: Json = False,
) -> None:
    """Merge all small segments into larger ones; `periplus index` merges them when there are many."""
    collection, spark = open_collection(home), load(home).settings.spark
    with chosen_session(engine, master, spark) as session, counter_progress("merging", "segments") as progress:
        summary = compact(collection, fewest=2, on_progress=progress, runner=runner_of(session))
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
