"""Measures how much hostile hosts slow down the crawl of friendly hosts.

Friendly hosts are crawled alone, then with one hostile host of every kind, then alone again. The hostile kinds are in
`tests/testweb/menagerie.py`; a test of the same crawl uses them too.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from harness.report import report
from harness.tiny import add_tiny

sys.path[0] = str(Path(__file__).parents[1] / "tests")  # in place of this folder, whose crawl.py is another crawl

from crawl.hostile_crawl import FRIENDS, SEEDS, crawl_apart, friendly  # noqa: E402
from testweb import TestWeb  # noqa: E402
from testweb.menagerie import menagerie  # noqa: E402


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    parser.add_argument("--pages", type=int, default=40, help="pages of a friendly host beside hostile ones (40)")
    parser.add_argument("--pages-alone", type=int, default=10, help="pages of a friendly host alone (10)")
    parser.add_argument("--kinds", type=int, help="hostile hosts, one of each kind (default: all kinds)")
    parser.add_argument("--delay", type=float, default=1.0, help="seconds between requests to a host (1)")
    parser.add_argument("--cap", type=int, default=40, help="URLs of a domain that are crawled (40)")
    add_tiny(parser, pages=6, pages_alone=3, kinds=2, delay=0.1, cap=6)
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    hostile_hosts, began = menagerie()[: options.kinds], time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        home = Path(folder)
        before, _ = measured(home / "before", options, options.pages_alone, [])
        together, memory = measured(home / "together", options, options.pages, hostile_hosts)
        after, _ = measured(home / "after", options, options.pages_alone, [])
    return {
        "bench": "hostile",
        "friendly_hosts": len(FRIENDS),
        "hostile_hosts": len(hostile_hosts),
        "pages_per_second_alone": [round(before, 2), round(after, 2)],
        "pages_per_second": round(together, 2),
        "share": round(together / min(before, after), 3),
        "rss_mb": memory,
        "seconds": round(time.monotonic() - began, 1),
    }


def measured(home: Path, options: argparse.Namespace, pages: int, hostile_hosts: list[Any]) -> tuple[float, int]:
    """Requests per second to all friendly hosts together, and the crawler's peak memory in megabytes."""
    with TestWeb([*friendly(pages), *(host.site for host in hostile_hosts)]) as web:
        limits = {"politeness__delay": options.delay, "scope__pages_per_domain": options.cap}
        memory = crawl_apart(web, home, [*SEEDS, *(host.seed for host in hostile_hosts)], **limits)
        logs = [web.log.entries(host) for host in FRIENDS]
    return sum((len(entries) - 1) / (entries[-1].started - entries[0].started) for entries in logs), memory


if __name__ == "__main__":
    sys.exit(report(arguments().parse_args(), bench))
