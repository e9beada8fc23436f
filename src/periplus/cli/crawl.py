"""periplus crawl: fetch, archive and parse the pages of a scope."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import print_json, print_table, summary_rows
from periplus.cli.progress import watching
from periplus.cli.seeds import Start, read_seeds
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
        Path | None, typer.Option(help="File of seeds: one URL a line, or host<TAB>url<TAB>url...; `-` is stdin.")
    ] = None,
    sitemap: Annotated[
        list[str] | None, typer.Option(metavar="URL|FILE", help="Start from the pages a sitemap lists; repeatable.")
    ] = None,
    entry: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Ask this again whenever nothing is left: a random page, say; repeatable."),
    ] = None,
    pages: Annotated[int | None, typer.Option(min=1, help="Stop after so many pages.")] = None,
    seconds: Annotated[float | None, typer.Option(min=0, help="Stop after so much time.")] = None,
    bytes_: Annotated[int | None, typer.Option("--bytes", min=1, help="Stop after so many bytes of pages.")] = None,
    until_pages: Annotated[
        int | None, typer.Option(min=1, help="Stop when the whole collection has so many pages.")
    ] = None,
    until_bytes: Annotated[
        int | None, typer.Option(min=1, help="Stop when the pages of the whole collection have so many bytes.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Crawl in so many rounds: what one finds waits for the next.")
    ] = None,
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
    start = _start(urls or [], seeds, sitemap or [])
    request = Request(
        home,
        configuration.settings,
        start.seeds,
        Budget(pages, seconds, bytes_, until_pages, until_bytes),
        workers,
        {
            "seeds": urls or [],
            "seeds_file": str(seeds) if seeds else None,
            "sitemaps": sitemap or [],
            "entries": entry or [],
            "flags": given,
            "pages": pages,
            "seconds": seconds,
            "bytes": bytes_,
            "until_pages": until_pages,
            "until_bytes": until_bytes,
            "workers": workers,
        },
        start.sitemaps,
        entry or [],
        rounds,
    )
    with watching(log_file, quiet=as_json) as watch:
        result = crawl(request, watch)
    _show(result, as_json=as_json)


def _start(urls: list[str], seeds: Path | None, sitemaps: list[str]) -> Start:
    start = Start()
    start.add(urls)
    if seeds is not None:
        start.add(read_seeds(seeds))
    for where in sitemaps:
        start.add_sitemap(where)
    return start


def _show(result: Result, *, as_json: bool) -> None:
    if as_json:
        print_json(result.summary)
    else:
        print_table([("run", f"{result.summary['run_id']} ({result.ending})"), *summary_rows(result.summary)])
        if rounds := result.summary.get("rounds"):
            print_table([_round(one) for one in rounds], ("round", "known URLs", "fresh", "fetched", "seconds"))
    if result.failure is not None:
        raise result.failure
    if result.ending is Ending.INTERRUPTED:
        raise Interrupted("stopped as asked", hint="Everything fetched is kept; the same command continues.")


def _round(figures: dict[str, Any]) -> tuple[str, ...]:
    numbers = (figures["round"], figures["known"], figures["fresh"], figures["fetched"])
    return (*(f"{number:,}" for number in numbers), f"{figures['seconds']:.1f}")
