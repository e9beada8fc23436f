"""periplus crawl: fetches, archives and parses the pages in scope."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from periplus.cli.crawl_options import (
    AllowPrivate,
    Bytes,
    Concurrency,
    ConnectTo,
    Continuous,
    CrawlOptions,
    Delay,
    Depth,
    DryRun,
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
from periplus.cli.output import by_count, plural, print_json, print_table, printable, summary_rows
from periplus.cli.progress import crawl_progress
from periplus.crawl.assignment import Budget, Ending, RecrawlPolicy
from periplus.crawl.coordination.settings_sync import sync_settings
from periplus.crawl.run import Result, crawl
from periplus.errors import Interrupted
from periplus.frontier.schedule import RecrawlClass

app = typer.Typer(add_completion=False)

_NEXT = "`periplus rank`, then `periplus index`, then `periplus serve`."


@app.command()
def command(
    urls: Urls = None,
    home: Home = DEFAULT_HOME,
    seeds: Seeds = None,
    sitemap: Sitemaps = None,
    entry: Entries = None,
    pages: Annotated[int | None, typer.Option(min=1, metavar="N", help="Stop after N pages.")] = None,
    seconds: Annotated[float | None, typer.Option(min=0, metavar="SECONDS", help="Stop after this time.")] = None,
    bytes_: Bytes = None,
    until_pages: UntilPages = None,
    until_bytes: UntilBytes = None,
    rounds: Rounds = None,
    continuous: Continuous = False,
    class_: OfClass = None,
    new_only: NewOnly = False,
    no_traps: NoTraps = False,
    depth: Depth = None,
    delay: Delay = None,
    workers: Workers = 1,
    concurrency: Concurrency = None,
    scope_host: ScopeHosts = None,
    scope_path: ScopePaths = None,
    log_file: Annotated[Path | None, typer.Option(metavar="FILE", help="Log one line per finished URL.")] = None,
    connect_to: ConnectTo = None,
    allow_private: AllowPrivate = None,
    dry: DryRun = False,
    as_json: Json = False,
) -> None:
    """Crawl politely until the queue is empty, a budget is reached, or Ctrl-C (once: finish requests; twice: stop now).

    The same command continues. It also recrawls known pages that are due.
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
    recrawl = RecrawlPolicy(new_only, class_, continuous)
    options = CrawlOptions(urls or [], seeds, sitemap or [], entry or [], budget, workers, rounds, flags, recrawl)
    if not dry:
        sync_settings(home)
    request = options.request(home)
    if dry:
        from periplus.inspector.dry_run import dry_run  # noqa: PLC0415  # a crawl does not need it

        _show_dry_run(dry_run(home, request.settings, request.seeds, request.sitemaps), as_json=as_json)
        return
    with crawl_progress(log_file, quiet=as_json) as progress:
        result = crawl(request, progress)
    _warn_about_moved_pages(result.kept)
    _show(result, class_, as_json=as_json)


def _show_dry_run(found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    queue, refused = found["queue"], found["queue"]["refused"]
    more = f" of the first {queue['checked']:,}" if found["queued"] > queue["checked"] else ""
    rows = [
        *(("seed", seed["url"] if seed["admitted"] else _refused_seed(seed)) for seed in found["seeds"]),
        *(("sitemap", url) for url in found["sitemaps"]),
        ("hosts", " ".join(found["scope_hosts"]) or "-"),
        ("delay", f"{found['delay']:g} s between requests to a host"),
        ("User-Agent", found["user_agent"]),
        ("queue", f"{plural(found['queued'], 'URL')}: {queue['admitted']:,}{more} in scope"),
        *([("out of scope", by_count(refused))] if refused else []),
        *(("", f"{reason}: {url}") for reason, urls in queue["samples"].items() for url in urls),
        *(("warning", warning) for warning in found["warnings"]),
    ]
    print_table([*rows, ("", "Nothing was requested and nothing was written.")])


def _refused_seed(seed: dict[str, Any]) -> str:
    return f"{seed['url']} refused: {seed['reason']} ({seed['detail']})"


def _warn_about_moved_pages(files: Sequence[Path]) -> None:
    """Names on stderr the files that hold archived pages which an older crawl.db does not list."""
    if files:
        named = printable(", ".join(map(str, files)))
        sys.stderr.write(
            "periplus: crawl.db is older than the archive. Pages missing from crawl.db were moved to "
            f"{named}; run `periplus import` on these files to restore them.\n"
        )


def _show(result: Result, wanted: RecrawlClass | None, *, as_json: bool) -> None:
    if as_json:
        print_json(result.summary)
    else:
        rows = [("run", f"{result.summary['run_id']} ({result.ending})"), *summary_rows(result.summary)]
        print_table([*rows, *([("next", _NEXT)] if result.failure is None else [])])
        if wanted is not None and not result.summary["revisits"]:
            typer.echo(
                f"No {wanted} page was due. `periplus status` counts due pages; `periplus inspect url` shows when."
            )
        if rounds := result.summary.get("rounds"):
            print_table([_round(one) for one in rounds], ("round", "known URLs", "new", "fetched", "seconds"))
    if result.failure is not None:
        raise result.failure
    if result.ending is Ending.INTERRUPTED:
        raise Interrupted("stopped by the user", hint="Everything fetched is kept; the same command continues.")


def _round(figures: dict[str, Any]) -> tuple[str, ...]:
    numbers = (figures["round"], figures["known"], figures["fresh"], figures["fetched"])
    return (*(f"{number:,}" for number in numbers), f"{figures['seconds']:.1f}")
