"""periplus demo: a search engine over the documentation that is on this machine."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from periplus.cli.commands.search import results_json
from periplus.cli.options import Json
from periplus.cli.output import print_json, printable
from periplus.config import load
from periplus.demo.run import QUERIES, DemoResult, Show, Step, run_demo
from periplus.errors import PortTaken, UsageError
from periplus.model import Results
from periplus.site.server import address_of, listen, run
from periplus.web.app import create_app

app = typer.Typer(add_completion=False)
_LABELS = {
    "render": "writing the documentation of Python",
    "crawl": "crawling it",
    "rank": "ranking pages by their links",
    "index": "indexing",
}
_PORTS_TRIED = 20
_SHOWN = 5  # results of each query
_PLAIN_EVERY = 5.0  # seconds between two lines where there is no terminal
_LOOPBACK = "127.0.0.1"


@app.command()
def command(
    home: Annotated[Path, typer.Option(help="Folder for the demo; kept, so that the next start is quick.")] = Path(
        "periplus-demo"
    ),
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port of the site; the next free one if taken.")] = 8080,
    leave: Annotated[bool, typer.Option("--exit", help="Print the best results of three queries, and end.")] = False,
    as_json: Json = False,
) -> None:
    """Crawl, rank, index and serve documentation found on this machine: offline, in less than two minutes."""
    if as_json and not leave:
        raise UsageError("--json needs --exit", "a demo that keeps serving has no last word", "Add --exit.")
    started = time.monotonic()
    with ExitStack() as stack:
        listener = None if leave else stack.enter_context(_free_port(port))
        with _displaying() as show:
            ready = stack.enter_context(run_demo(home, show))
        if listener is None:
            _print_answers(ready.answers(_SHOWN), as_json=as_json)
        else:
            _invite(ready, address_of(listener), time.monotonic() - started)
            run(partial(create_app, ready.engine, load(ready.home).settings.serve), listener)


def _free_port(first: int) -> socket.socket:
    """A listening socket on this port or one of the next, so that a second program is no obstacle."""
    for port in range(first, min(first + _PORTS_TRIED, 65_536)):
        try:
            return listen(_LOOPBACK, port)
        except PortTaken:
            continue
    raise PortTaken(f"port {first} and the {_PORTS_TRIED - 1} after it are taken", hint="Name another with --port.")


# -- what a person sees -----------------------------------------------------------------------------------------


@contextmanager
def _displaying() -> Iterator[Show]:
    """Show the steps on stderr: bars on a terminal, a line now and then elsewhere."""
    if not sys.stderr.isatty():
        yield _plain()
        return
    columns = (TextColumn("{task.description:36}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, TextColumn("{task.fields[words]}"), console=Console(stderr=True)) as progress:
        tasks: dict[str, TaskID] = {}

        def show(step: Step) -> None:
            if step.name not in tasks:
                for task in tasks.values():
                    progress.update(task, total=progress.tasks[task].completed)  # its last count was the right one
                tasks[step.name] = progress.add_task(_LABELS[step.name], total=None, words="")
            progress.update(tasks[step.name], completed=step.done, total=step.total or None, words=step.words)

        yield show


def _plain() -> Show:
    last_name, last_time = "", 0.0

    def show(step: Step) -> None:
        nonlocal last_name, last_time
        if step.name != last_name or time.monotonic() - last_time >= _PLAIN_EVERY:
            last_name, last_time = step.name, time.monotonic()
            count = f" ({step.done:,} of {step.total:,})" if step.total else ""
            sys.stderr.write(f"{_LABELS[step.name]}{count}\n")

    return show


def _invite(ready: DemoResult, address: str, seconds: float) -> None:
    found = f"{ready.engine.documents:,} pages of {ready.sites} documentations"
    typer.echo(f"{found}, ready after {seconds:.0f} seconds:\n\n  {address}\n\nTry:", err=True)
    for query in QUERIES:
        typer.echo(f"  {query}", err=True)
    typer.echo(f"\nEvery command works on it, for example: periplus status --home {ready.home}", err=True)
    typer.echo("Ctrl-C stops.", err=True)


def _print_answers(answers: list[Results], *, as_json: bool) -> None:
    if as_json:
        print_json({"queries": [results_json(results) for results in answers]})
        return
    for results in answers:
        typer.echo(f"{results.query}  ({results.total:,} results, {results.seconds:.3f} s)")
        for place, hit in enumerate(results.hits, 1):
            typer.echo(f"  {place}. {printable(hit.title)}\n     {printable(hit.url)}")
