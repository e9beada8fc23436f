"""periplus up: crawls, indexes and serves at once."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import typer

from periplus.cli.crawl_options import (
    AllowPrivate,
    Concurrency,
    ConnectTo,
    CrawlOptions,
    Delay,
    Depth,
    ScopeHosts,
    ScopePaths,
    Seeds,
    Sitemaps,
    UntilPages,
    Urls,
    Workers,
)
from periplus.cli.options import DEFAULT_HOME, DEFAULT_HOST, DEFAULT_PORT, Home, Host, Json, Port
from periplus.cli.output import plural, print_json
from periplus.cli.progress import live_line
from periplus.crawl.assignment import Budget, RecrawlPolicy
from periplus.crawl.coordination.settings_sync import sync_settings
from periplus.live.status import Status
from periplus.live.up import Callbacks, UpRequest, up
from periplus.site.listener import address_of, listen

app = typer.Typer(add_completion=False)

_PLAIN_SECONDS = 60.0  # between two status lines when stderr is not a terminal


@app.command()
def command(
    urls: Urls = None,
    home: Home = DEFAULT_HOME,
    seeds: Seeds = None,
    sitemap: Sitemaps = None,
    host: Host = DEFAULT_HOST,
    port: Port = DEFAULT_PORT,
    until_pages: UntilPages = None,
    depth: Depth = None,
    delay: Delay = None,
    workers: Workers = 1,
    concurrency: Concurrency = None,
    scope_host: ScopeHosts = None,
    scope_path: ScopePaths = None,
    connect_to: ConnectTo = None,
    allow_private: AllowPrivate = None,
    as_json: Json = False,
) -> None:
    """Crawl, index and serve at once: pages can be searched within a minute of being fetched.

    Ctrl-C finishes requests and indexes the last pages; twice stops now. The same command continues, and so does
    `periplus up` without a URL. The file up.log in the collection tells what happened.
    """
    flags = {
        "scope.depth": depth,
        "scope.hosts": scope_host,
        "scope.paths": scope_path,
        "politeness.delay": delay,
        "fetch.concurrency": concurrency,
        "fetch.connect_to": connect_to,
        "fetch.allow_private": allow_private,
    }
    budget = Budget(until_pages=until_pages)
    options = CrawlOptions(
        urls or [], seeds, sitemap or [], [], budget, workers, None, flags, RecrawlPolicy(continuous=True)
    )
    sync_settings(home)
    request = options.request(home)
    with listen(host, port) as listener, _showing(address_of(listener), quiet=as_json) as callbacks:
        summary = up(UpRequest(request, listener), callbacks, address_of(listener))
    if as_json:
        print_json(summary)
    else:
        pages = f"{plural(summary['pages'], 'page')}, {summary['searchable']:,} searchable"
        typer.echo(f"Stopped. {pages}; the same command continues.", err=True)


@contextmanager
def _showing(address: str, *, quiet: bool) -> Iterator[Callbacks]:
    """Shows one live line on a terminal, otherwise a line a minute; messages stay above it."""
    if sys.stderr.isatty():
        with live_line(f"starting; the site is at {address}") as (show, say):
            yield Callbacks(lambda status: show(status_line(status)), say)
        return
    say = partial(typer.echo, err=True)
    started = partial(say, f"Serving at {address} (Ctrl-C to stop)")
    yield Callbacks(_plain_lines() if not quiet else lambda _: None, say, started)


def _plain_lines() -> Callable[[Status], None]:
    last = time.monotonic()

    def show(status: Status) -> None:
        nonlocal last
        if time.monotonic() - last >= _PLAIN_SECONDS:
            last = time.monotonic()
            typer.echo(status_line(status), err=True)

    return show


def status_line(status: Status) -> str:
    """The status in one line."""
    rate = "paused" if status.is_paused else f"{status.pages_per_second:.1f} pages/s"
    ended = "crawl stopped" if status.queued else "crawl finished"
    crawl = ended if status.is_crawl_finished else rate
    parts = [
        f"{plural(status.pages, 'page')} ({crawl}, {status.queued:,} queued)",
        f"{status.searchable:,} searchable",
        f"{status.waiting:,} waiting for {status.freshness:.0f} s" if status.waiting else "",
        f"restarting: {', '.join(status.restarting)}" if status.restarting else "",
        status.address,
    ]
    return " · ".join(part for part in parts if part)
