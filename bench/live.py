"""Measures `periplus up`: how soon pages can be searched, how fast searches are meanwhile, and what that costs."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from harness.report import report
from harness.tiny import add_tiny, cache_of
from living.alone import crawl_alone, steps_alone
from living.made_web import MadeWeb
from living.runs import Bench, up_until_searchable, up_while_polite
from living.web_process import served

CACHE = Path(__file__).with_name(".cache")


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--hosts", type=int, default=200, help="hosts of the web (%(default)s)")
    parser.add_argument("--pages", type=int, default=100, help="pages of a host (%(default)s)")
    parser.add_argument("--seconds", type=float, default=90, help="duration of the polite runs (%(default)s)")
    parser.add_argument("--rate", type=float, default=5, help="searches per second meanwhile (%(default)s)")
    parser.add_argument("--timeout", type=float, default=900, help="seconds that one run may take (%(default)s)")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where the runs write")
    add_tiny(parser, hosts=4, pages=6, seconds=12, timeout=90)
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    web = MadeWeb(options.hosts, options.pages)
    with cache_of(options) as cache:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="live-", dir=cache) as folder:
            return measured(web, Path(folder), options)


def measured(web: MadeWeb, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    with served(web, folder) as server:
        setup = Bench(web, server, folder, options.seconds, options.rate, options.timeout)
        alone = steps_alone(setup)
        fast = up_until_searchable(setup)
        polite = up_while_polite(setup)
        polite["rate_alone"] = crawl_alone(setup)
    total = sum(alone.values())
    return {
        "bench": "live",
        "hosts": web.hosts,
        "pages": web.hosts * web.pages,
        "first_result_s": polite["first_result_s"],
        "freshness_p95_s": max(polite["freshness_p95_s"], fast["freshness_p95_s"]),
        "search_p99_ms": max(polite["search_p99_ms"], fast["search_p99_ms"]),
        "crawl_share": round(polite["rate"] / polite["rate_alone"], 3) if polite["rate_alone"] else 0.0,
        "times_sum": round(fast["cpu_s"] / total, 3),
        "cpu_ms_per_page": round(1e3 * fast["cpu_s"] / max(fast["searchable"], 1), 3),
        "alone_cpu_s": alone,
        "fast": fast,
        "polite": polite,
    }


def leave(number: int, _frame: FrameType | None) -> NoReturn:
    """Turns a signal into an exception, so that everything is stopped."""
    raise SystemExit(128 + number)


if __name__ == "__main__":
    for stop in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop, leave)
    sys.exit(report(arguments().parse_args(), bench))
