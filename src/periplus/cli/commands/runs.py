"""periplus runs: lists the crawls of a collection, newest first."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated, Any

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import moment, print_json, print_table
from periplus.inspector.runs import recent_runs
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import open_collection

app = typer.Typer(add_completion=False)

_STEPS = ("idle", "robots", "delay", "connect", "fetch", "parse", "store")
_HEADINGS = ("run", "started", "outcome", "pages", "pages/s", "seconds", "errors", *(f"{step} %" for step in _STEPS))


@app.command()
def command(
    home: Home = DEFAULT_HOME,
    size: Annotated[int, typer.Option(min=1, metavar="N", help="Number of runs to show.")] = 20,
    as_json: Json = False,
) -> None:
    """List the crawls so far, newest first, with the share of time spent in each step."""
    collection = open_collection(home)
    with closing(open_catalog(collection)) as catalog:
        found = recent_runs(collection, catalog, size)
    if as_json:
        print_json({"runs": found})
    else:
        print_table([_row(run) for run in found], _HEADINGS)


def _row(run: dict[str, Any]) -> tuple[str, ...]:
    return (
        str(run["run_id"]),
        moment(run["started"]),
        run["outcome"],
        f"{run['fetched']:,}",
        f"{run['pages_per_second']:.1f}",
        f"{run['seconds']:.1f}",
        f"{run['errors']:,}",
        *(f"{100 * run['shares'][step]:.1f}" if step in run["shares"] else "-" for step in _STEPS),
    )
