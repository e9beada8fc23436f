"""periplus demo: builds and serves a search engine over the documentation on this machine."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from starlette.types import ASGIApp

from periplus.cli.commands.search import results_json
from periplus.cli.options import Json
from periplus.cli.output import plural, print_json, printable
from periplus.config import load
from periplus.demo.run import QUERIES, DemoResult, Show, Step, run_demo
from periplus.errors import PortTaken, UsageError
from periplus.inspector.page_library import PageLibrary
from periplus.inspector.url_report import read_url_report
from periplus.model import Results
from periplus.site.listener import address_of, listen
from periplus.site.server import run
from periplus.store.collection import open_collection
from periplus.web.app import Sources, create_app
from periplus.web.branding import load_branding

app = typer.Typer(add_completion=False)
_LABELS = {
    "render": "rendering the Python documentation",
    "crawl": "crawling",
    "rank": "computing PageRank",
    "index": "indexing",
}
_PORTS_TRIED = 20
_SHOWN = 5  # results of each query
_PLAIN_SECONDS = 5.0  # between two progress lines when stderr is not a terminal
_LOOPBACK = "127.0.0.1"


@app.command()
def command(
    home: Annotated[Path, typer.Option(help="Folder of the demo; kept, so the next start is quick.")] = Path(
        "periplus-demo"
    ),
    port: Annotated[
        int, typer.Option(min=0, max=65_535, metavar="PORT", help="Port of the site, or the next free one.")
    ] = 8080,
    exit_: Annotated[bool, typer.Option("--exit", help="Print the best results of three queries and exit.")] = False,
    as_json: Json = False,
) -> None:
    """Crawl, rank, index and serve the documentation on this machine: offline, in less than two minutes."""
    if as_json and not exit_:
        raise UsageError("--json requires --exit")
    started = time.monotonic()
    with ExitStack() as stack:
        listener = None if exit_ else stack.enter_context(_free_port(port))
        with _displaying() as show:
            ready = stack.enter_context(run_demo(home, show))
        if listener is None:
            _print_answers(ready.answers(_SHOWN), as_json=as_json)
        else:
            _show_address(ready, address_of(listener), time.monotonic() - started)
            run(partial(_app, ready), listener)


def _app(ready: DemoResult) -> ASGIApp:
    """The search site over the demo collection, on this machine only."""
    collection, settings = open_collection(ready.home), load(ready.home).settings
    library = PageLibrary(collection, settings, lambda: nullcontext(ready.engine))
    report = partial(read_url_report, collection, settings)
    return create_app(Sources(ready.engine, library, report, load_branding(settings, ready.home)), settings.serve)


def _free_port(first: int) -> socket.socket:
    """Opens a listening socket on this port, or on one of the next 19 when it is taken."""
    for port in range(first, min(first + _PORTS_TRIED, 65_536)):
        try:
            return listen(_LOOPBACK, port)
        except PortTaken:
            continue
    raise PortTaken(f"port {first} and the {_PORTS_TRIED - 1} after it are taken", hint="Choose another with --port.")


# -- progress and output ----------------------------------------------------------------------------------------


@contextmanager
def _displaying() -> Iterator[Show]:
    """Shows progress on stderr: bars on a terminal, otherwise one line every 5 seconds."""
    if not sys.stderr.isatty():
        yield _plain_lines()
        return
    columns = (TextColumn("{task.description:36}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, TextColumn("{task.fields[words]}"), console=Console(stderr=True)) as progress:
        tasks: dict[str, TaskID] = {}

        def show(step: Step) -> None:
            if step.name not in tasks:
                for task in tasks.values():
                    progress.update(
                        task, total=progress.tasks[task].completed
                    )  # the estimate of the total may have been wrong
                tasks[step.name] = progress.add_task(_LABELS[step.name], total=None, words="")
            progress.update(tasks[step.name], completed=step.done, total=step.total or None, words=step.words)

        yield show


def _plain_lines() -> Show:
    last_name, last_time = "", 0.0

    def show(step: Step) -> None:
        nonlocal last_name, last_time
        if step.name != last_name or time.monotonic() - last_time >= _PLAIN_SECONDS:
            last_name, last_time = step.name, time.monotonic()
            count = f" ({step.done:,} of {step.total:,})" if step.total else ""
            sys.stderr.write(f"{_LABELS[step.name]}{count}\n")

    return show


def _show_address(ready: DemoResult, address: str, seconds: float) -> None:
    found = f"{plural(ready.engine.documents, 'page')} from {plural(ready.sites, 'documentation site')}"
    typer.echo(f"{found}, ready after {seconds:.0f} seconds:\n\n  {address}\n\nTry:", err=True)
    for query in QUERIES:
        typer.echo(f"  {query}", err=True)
    typer.echo(f"\nOther commands work too, for example: periplus status --home {ready.home}", err=True)
    typer.echo("Press Ctrl-C to stop.", err=True)


def _print_answers(answers: list[Results], *, as_json: bool) -> None:
    if as_json:
        print_json({"queries": [results_json(results) for results in answers]})
        return
    for results in answers:
        typer.echo(f"{results.query}  ({plural(results.total, 'result')}, {results.seconds:.3f} s)")
        for place, hit in enumerate(results.hits, 1):
            typer.echo(f"  {place}. {printable(hit.title)}\n     {printable(hit.url)}")
