"""periplus reparse: re-extracts text from archived pages with the current parser."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from periplus.cli.engines import Engine, EngineName, Master, chosen_session, runner_of
from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import plural, print_json, print_table, warn_about_unread
from periplus.cli.progress import counter_progress
from periplus.config import load
from periplus.reparse import reparse
from periplus.store.collection import open_collection

app = typer.Typer(add_completion=False)


@app.command()
def command(
    home: Home = DEFAULT_HOME,
    everything: Annotated[
        bool,
        typer.Option("--everything", help="Also pages with extracted text, for example after an update."),
    ] = False,
    engine: Engine = EngineName.LOCAL,
    master: Master = "",
    as_json: Json = False,
) -> None:
    """Re-extract text from archived pages that the crawl parsed only for links; `periplus index` does this too."""
    settings = load(home).settings
    collection = open_collection(home)
    with chosen_session(engine, master, settings.spark) as session, counter_progress("parsing", "pages") as progress:
        runner = runner_of(session)
        summary = reparse(collection, settings, everything=everything, on_progress=progress, runner=runner)
    if as_json:
        print_json(asdict(summary) | {"reasons": [entry._asdict() for entry in summary.reasons]})
    else:
        pages = f"{summary.pages:,} in {plural(summary.segments, 'segment')}"
        print_table([("pages", pages), ("time", f"{summary.seconds:.1f} s")])
        warn_about_unread(summary)
    if (failure := summary.failure()) is not None:
        raise failure
