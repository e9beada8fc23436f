"""periplus rank: PageRank of every known page and host."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import print_json, print_table
from periplus.config import load
from periplus.graph.run import RankSummary, rank
from periplus.store.collection import open_collection

app = typer.Typer(add_completion=False)


@app.command()
def command(
    home: Home = DEFAULT_HOME,
    warm: Annotated[bool, typer.Option("--warm", help="Start from the last ranks instead of from nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Rank every known page and host by the links to it, and collect what the links call it."""
    settings = load(home).settings
    collection = open_collection(home)
    with _saying(quiet=as_json) as say:
        summary = rank(collection, settings.graph, warm=warm, progress=say)
    if as_json:
        print_json(summary.report())
    else:
        print_table(_rows(summary, len(settings.graph.trusted_hosts)))


@contextmanager
def _saying(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show what is being done on stderr: one live line on a terminal, a line for each step elsewhere."""
    if sys.stderr.isatty():
        with Live(Text("starting"), console=Console(stderr=True), transient=True, refresh_per_second=8) as live:
            yield lambda step: live.update(Text(step))
    elif quiet:
        yield lambda _: None
    else:
        yield lambda step: typer.echo(step, err=True)


def _rows(summary: RankSummary, trusted: int) -> list[tuple[str, str]]:
    known = f"{summary.pages:,} crawled, {summary.nodes - summary.pages:,} only known from links"
    trust = [("trusted", f"{summary.trusted} of {trusted} hosts are known")] if trusted else []
    return [
        ("ranks", f"generation {summary.generation}"),
        ("pages", f"{summary.nodes:,} ({known}) on {summary.hosts:,} hosts"),
        ("links", f"{summary.edges:,} counted"),
        ("PageRank", f"{summary.iterations} iterations, last change {summary.delta:.1e}"),
        *trust,
        ("time", f"{summary.seconds:.1f} s"),
    ]
