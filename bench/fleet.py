"""Measures a fleet on one machine: pages per second by number of workers, admissions, leases, cost of PostgreSQL."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from fleets.admissions import admissions
from fleets.leases import lease_cost, percentile, timed_leases
from fleets.nodes import Fleet, crawl, limit_of, start_and_idle_costs
from harness.options import numbers
from harness.report import report
from harness.tiny import add_tiny, cache_of
from living.made_web import MadeWeb
from living.web_process import served
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection
from postgres_server import DURABLE, PostgresServer, postgres_server

CACHE = Path(__file__).with_name(".cache")
SERVER = DURABLE | {"shared_buffers": "1GB", "max_wal_size": "8GB", "checkpoint_timeout": "15min"}


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--hosts", type=int, default=1000, help="hosts of the web (%(default)s)")
    parser.add_argument("--pages", type=int, default=40, help="pages of a host (%(default)s)")
    parser.add_argument("--workers", type=numbers, default=[1, 2, 3], metavar="N,...", help="one crawl each (1,2,3)")
    parser.add_argument("--writers", type=int, default=4, help="processes that admit URLs (%(default)s)")
    parser.add_argument("--batches", type=int, default=60, help="of 3,584 URLs each, by writer (%(default)s)")
    parser.add_argument("--peers", type=int, default=200, help="other workers that hold leases (%(default)s)")
    parser.add_argument(
        "--exchanges", type=int, default=300, help="of a lease, whose CPU time is measured (%(default)s)"
    )
    parser.add_argument("--timeout", type=float, default=600, help="seconds that one crawl may take (%(default)s)")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where the runs write")
    add_tiny(parser, hosts=6, pages=4, workers=[1, 2], writers=2, batches=2, peers=2, exchanges=10, timeout=90)
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    with cache_of(options) as cache:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="fleet-", dir=cache) as folder, postgres_server(SERVER) as postgres:
            return measured(options, Path(folder), postgres)


def measured(options: argparse.Namespace, folder: Path, postgres: PostgresServer) -> dict[str, Any]:
    web = MadeWeb(options.hosts, options.pages)
    with served(web, folder) as server:
        fleet = Fleet(web, server, folder, postgres.cpu_seconds, options.timeout)
        units = start_and_idle_costs(fleet, lambda: postgres.url(postgres.create_database()))
        runs = [crawl(fleet, postgres.url(postgres.create_database()), workers) for workers in options.workers]
    database = new_catalog(folder, postgres)
    costs = [
        lease_cost(new_catalog(folder, postgres), peers, options.exchanges, postgres.cpu_seconds)
        for peers in (0, options.peers)
    ]
    with timed_leases(database) as seconds:
        admitted = admissions(folder, database, options.writers, options.batches, postgres.cpu_seconds)
    best = max(runs, key=lambda run: float(run["pages_per_second"]))
    return {
        "bench": "fleet",
        "cores": os.cpu_count() or 1,
        "workers": best["workers"],
        "pages_per_second": best["pages_per_second"],
        "postgres_cpu_share": best["postgres_cpu_share"],
        "limit": limit_of(best),
        "admissions_per_second": admitted["admissions_per_second"],
        "admission_server_cores": admitted["server_cores"],
        "lease_p50_ms": percentile(seconds, 0.5),
        "lease_p99_ms": percentile(seconds, 0.99),
        "leases": len(seconds),
        "admission_server_us": admitted["server_microseconds_per_url"],
        "lease_cpu_ms": costs[0],
        "peers": options.peers,
        "lease_cpu_ms_with_peers": costs[1],
        "database_bytes_per_url": admitted["database_bytes_per_url"],
        **units,
        "runs": {str(run["workers"]): run for run in runs},
    }


def new_catalog(folder: Path, postgres: PostgresServer) -> str:
    """The URL of a database with an empty catalog."""
    database = postgres.url(postgres.create_database())
    open_catalog(Collection(folder, database), create=True).close()
    return database


def table(result: dict[str, Any]) -> str:
    lines = [f"{name:24}{value}" for name, value in result.items() if name != "runs"]
    return "\n".join([*lines, *(str(run) for run in result["runs"].values())])


if __name__ == "__main__":
    sys.exit(report(arguments().parse_args(), bench, table))
