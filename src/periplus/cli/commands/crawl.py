"""periplus crawl: fetch, archive and parse the pages of a scope."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from periplus.cli.crawl_options import (
    AllowPrivate,
    Bytes,
    ConnectTo,
    Continuous,
    CrawlOptions,
    Entries,
    NewOnly,
    NoTraps,
    OfClass,
    Rounds,
    ScopeHosts,
    ScopePaths,
    Seeds,
    Sitemaps,
    UntilBytes,
    UntilPages,
    Urls,
    Workers,
)
from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import print_json, print_table, printable, summary_rows
from periplus.cli.progress import crawl_progress
from periplus.crawl.assignment import Budget, Ending, RecrawlPolicy
from periplus.crawl.run import Result, crawl
from periplus.errors import Interrupted
from periplus.frontier.schedule import RecrawlClass

app = typer.Typer(add_completion=False)


@app.command()
def command(
    urls: Urls = None,
    home: Home = DEFAULT_HOME,
    seeds: Seeds = None,
    sitemap: Sitemaps = None,
    entry: Entries = None,
    pages: Annotated[int | None, typer.Option(min=1, help="Stop after so many pages.")] = None,
    seconds: Annotated[float | None, typer.Option(min=0, help="Stop after so much time.")] = None,
    bytes_: Bytes = None,
    until_pages: UntilPages = None,
    until_bytes: UntilBytes = None,
    rounds: Rounds = None,
    continuous: Continuous = False,
    class_: OfClass = None,
    new_only: NewOnly = False,
    no_traps: NoTraps = False,
    depth: Annotated[int | None, typer.Option(min=0, help="Follow at most so many links from a seed.")] = None,
    delay: Annotated[float | None, typer.Option(min=0, help="Seconds between two requests to a host.")] = None,
    workers: Workers = 1,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Requests under way at once.")] = None,
    scope_host: ScopeHosts = None,
    scope_path: ScopePaths = None,
    log_file: Annotated[Path | None, typer.Option(help="Write a line for every URL settled.")] = None,
    connect_to: ConnectTo = None,
    allow_private: AllowPrivate = None,
    as_json: Json = False,
) -> None:
    """Crawl politely until done, a budget is spent, or Ctrl-C (once: drain, twice: now); the same command continues.

    Pages that are due again are asked for again.
    """
    flags = {
        "scope.depth": depth,
        "frontier.trap_fetches": 0 if no_traps else None,
        "scope.hosts": scope_host,
        "scope.paths": scope_path,
        "politeness.delay": delay,
        "fetch.concurrency": concurrency,
        "fetch.connect_to": connect_to,
        "fetch.allow_private": allow_private,
    }
    budget = Budget(pages, seconds, bytes_, until_pages, until_bytes)
    agenda = RecrawlPolicy(new_only, class_, continuous)
    order = CrawlOptions(urls or [], seeds, sitemap or [], entry or [], budget, workers, rounds, flags, agenda)
    request = order.request(home)
    with crawl_progress(log_file, quiet=as_json) as watch:
        result = crawl(request, watch)
    _tell_kept(result.kept)
    _show(result, class_, as_json=as_json)


def _tell_kept(files: Sequence[Path]) -> None:
    """Say on stderr where pages went that this catalog, an older copy, does not know."""
    if files:
        named = printable(", ".join(map(str, files)))
        sys.stderr.write(
            "periplus: crawl.db is older than the archive: the pages that it does not know were moved to "
            f"{named}; `periplus import` brings them back.\n"
        )


def _show(result: Result, wanted: RecrawlClass | None, *, as_json: bool) -> None:
    if as_json:
        print_json(result.summary)
    else:
        print_table([("run", f"{result.summary['run_id']} ({result.ending})"), *summary_rows(result.summary)])
        if wanted is not None and not result.summary["revisits"]:
            typer.echo(
                f"No {wanted} page was due; `periplus status` tells what is, `periplus inspect url` when one will be."
            )
        if rounds := result.summary.get("rounds"):
            print_table([_round(one) for one in rounds], ("round", "known URLs", "fresh", "fetched", "seconds"))
    if result.failure is not None:
        raise result.failure
    if result.ending is Ending.INTERRUPTED:
        raise Interrupted("stopped as asked", hint="Everything fetched is kept; the same command continues.")


def _round(figures: dict[str, Any]) -> tuple[str, ...]:
    numbers = (figures["round"], figures["known"], figures["fresh"], figures["fetched"])
    return (*(f"{number:,}" for number in numbers), f"{figures['seconds']:.1f}")
