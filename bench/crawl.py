"""Measures the pages per CPU second of the crawler, and compares it with Scrapy, Crawlee and wget2."""

from __future__ import annotations

import argparse
import signal
import sys
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import peers
from harness import contest, machine, nginx, plain_server, trial, web
from harness.options import numbers
from harness.report import report
from harness.tiny import add_tiny, cache_of, made_web
from peers.periplus_peer import Periplus

CACHE = Path(__file__).with_name(".cache")
PEERS_HELP = f"of {', '.join(peers.KNOWN)} (scrapy,crawlee)"
COLUMNS = ("pages", "cpu_ms_per_page", "pages_per_second", "rss_mb", "kb_per_page", "seconds")


def main() -> int:
    """Prints one JSON object (or a table), and returns the exit code."""
    options = arguments().parse_args()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
    return report(options, bench, table)


def leave(number: int, _frame: FrameType | None) -> NoReturn:
    """Turns a signal into an exception, so that every server and crawler is stopped."""
    raise SystemExit(128 + number)


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--json", action="store_true", help="print one JSON object instead of a table")
    add("--pages", type=int, help="stop our crawler after this many pages (default: everything)")
    add("--copies", type=int, default=1, help="host names for each documentation package, so more pages (1)")
    add("--workers", type=numbers, default=[1], metavar="N,...", help="worker processes, one row each (1)")
    add("--concurrency", type=int, default=64, help="requests in flight (64)")
    add("--rounds", type=int, default=1, help="repeat everything and report the median round (1)")
    add("--peers", type=names, default=["scrapy", "crawlee"], metavar="NAME,...", help=PEERS_HELP)
    add("--no-peers", action="store_const", const=[], dest="peers", help="measure only our own crawler")
    add("--peer-pages", type=int, default=1500, help="page budget of slow peers; 0: everything (1500)")
    add("--periplus", metavar="PATH", help="our executable (default: the one beside this Python)")
    add("--cache", type=Path, default=CACHE, help="folder of downloads and peers")
    add("--timeout", type=float, default=600, help="seconds one crawl may take (600)")
    add("--host-pattern", default=web.HOST_PATTERN, help="name of the virtual hosts (%(default)s)")
    add("--all-cores", action="store_true", help="let the crawler use the server's core too")
    add_tiny(parser, workers=[1, 2], peers=[], timeout=60)
    return parser


def names(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


def bench(options: argparse.Namespace) -> dict[str, Any]:
    """Prepares the web and the crawlers, and measures."""
    with cache_of(options) as cache:
        return measured(options, cache)


def measured(options: argparse.Namespace, cache: Path) -> dict[str, Any]:
    cores = machine.split_cores(shared=options.all_cores)
    ours, others = Periplus(options.periplus), peers.select(options.peers)
    ours.provision(cache)
    if options.tiny:
        pages, serve = made_web(cache, options.host_pattern), plain_server.serve
    else:
        pages, serve = web.prepare(cache, options.host_pattern, options.copies), partial(nginx.serve, nginx.find(cache))
    web.warm(pages)
    machine.pin_self(cores.server)
    setup = trial.Setup(pages, cache, serve, cores, options.concurrency, options.timeout)
    plan = contest.Plan(options.pages, options.workers, options.peer_pages or None)
    result = contest.compare(setup, plan, ours, others, options.rounds)
    about = {"sites": {site.host: site.pages for site in pages.sites}, "packages": web.versions(cache)}
    return {"bench": "crawl", "version": ours.version(), **result, "web": {"pages": pages.pages, **about}}


def table(result: dict[str, Any]) -> str:
    """The main figures as a table."""
    ours = result.get("by_workers", [result])
    rows = {f"periplus, {row['workers']} worker(s)": row for row in ours}
    rows |= {name: result[name] for name in ("same_budget", *peers.KNOWN) if name in result}
    lines = [f"{'':24}" + "".join(f"{column:>18}" for column in COLUMNS)]
    for name, row in rows.items():
        cells = [f"{row[column]:>18,}" for column in COLUMNS] if "pages" in row else ["  ", row["error"]]
        lines.append(f"{name:24}" + "".join(cells))
    lines += [f"{name} = {value}" for name, value in result.items() if name.startswith("times_")]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
