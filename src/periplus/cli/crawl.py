"""periplus crawl: fetch, archive and parse the pages of a scope."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import print_json, print_table, summary_rows
from periplus.cli.progress import watching
from periplus.cli.seeds import read_seeds
from periplus.config import load
from periplus.crawl.budget import Budget
from periplus.crawl.start import Request, Result, crawl
from periplus.crawl.worker import Ending
from periplus.errors import Interrupted

app = typer.Typer(add_completion=False)


@app.command()
def command(
    urls: Annotated[list[str] | None, typer.Argument(metavar="URL", help="Where to start.")] = None,
    home: Home = DEFAULT_HOME,
    seeds: Annotated[
        Path | None, typer.Option(help="File of seeds: one URL a line, or host<TAB>url<TAB>url...")
    ] = None,
    pages: Annotated[int | None, typer.Option(min=1, help="Stop after so many pages.")] = None,
    seconds: Annotated[float | None, typer.Option(min=0, help="Stop after so much time.")] = None,
    bytes_: Annotated[int | None, typer.Option("--bytes", min=1, help="Stop after so many bytes of pages.")] = None,
    depth: Annotated[int | None, typer.Option(min=0, help="Follow at most so many links from a seed.")] = None,
    delay: Annotated[float | None, typer.Option(min=0, help="Seconds between two requests to a host.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Worker processes; each owns some of the domains.")] = 1,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Requests under way at once.")] = None,
    scope_host: Annotated[list[str] | None, typer.Option(metavar="REGEX", help="Hosts to crawl; repeatable.")] = None,
    scope_path: Annotated[list[str] | None, typer.Option(metavar="REGEX", help="Paths to crawl; repeatable.")] = None,
    log_file: Annotated[Path | None, typer.Option(help="Write a line for every URL settled.")] = None,
    connect_to: Annotated[
        list[str] | None, typer.Option(metavar="HOST1:PORT1:HOST2:PORT2", help="As curl's; repeatable.")
    ] = None,
    allow_private: Annotated[bool | None, typer.Option("--allow-private", help="Dial private addresses too.")] = None,
    as_json: Json = False,
) -> None:
    """Crawl politely until done, a budget is spent, or Ctrl-C (once: drain, twice: now); the same command continues."""
    flags = {
        "scope.depth": depth,
        "scope.hosts": scope_host,
        "scope.paths": scope_path,
        "politeness.delay": delay,
        "fetch.concurrency": concurrency,
        "fetch.connect_to": connect_to,
        "fetch.allow_private": allow_private,
    }
    given = {key: value for key, value in flags.items() if value not in (None, [])}
    configuration = load(home, given)
    starts = [*(urls or []), *(read_seeds(seeds) if seeds else [])]
    budget = Budget(pages, seconds, bytes_)
    arguments: dict[str, Any] = {"seeds": starts, "flags": given, "pages": pages, "seconds": seconds, "bytes": bytes_}
    request = Request(home, configuration.settings, starts, budget, workers, arguments | {"workers": workers})
    with watching(log_file, quiet=as_json) as watch:
        result = crawl(request, watch)
    _show(result, as_json=as_json)


def _show(result: Result, *, as_json: bool) -> None:
    if as_json:
        print_json(result.summary)
    else:
        print_table([("run", f"{result.summary['run_id']} ({result.ending})"), *summary_rows(result.summary)])
    if result.failure is not None:
        raise result.failure
    if result.ending is Ending.INTERRUPTED:
        raise Interrupted("stopped as asked", hint="Everything fetched is kept; the same command continues.")
