"""Measures the freshness of a continuous crawl of changing pages, and the number of requests it needs.

The weeks are simulated, the crawl is real: see `tests/crawl/changing_web.py`, which a quick test also uses.
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

from crawl import changing_web  # noqa: E402

COLUMNS = ("pages", "requests", "unchanged", "oracle_requests", "freshness", "evenly_freshness", "days_between_visits")


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--days", type=float, default=180, help="days to simulate (180)")
    parser.add_argument("--learning", type=float, default=60, help="days that do not count (60)")
    parser.add_argument("--pages", type=int, default=4, help="pages of each kind (4)")
    add_tiny(parser, days=8, learning=2, pages=1)
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    """Lives through all days, and compares what was fetched with what changed."""
    web, began = changing_web.ChangingWeb(options.days, options.pages), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="freshness-") as home:
        changing_web.crawl_for_days(web, Path(home))
    figures = changing_web.report(web, options.learning)
    return {"bench": "freshness", **figures, "seconds": round(time.monotonic() - began, 1)}


def table(result: dict[str, Any]) -> str:
    rows: list[tuple[Any, ...]] = [("", *COLUMNS)]
    rows += [(kind, *(figures[name] for name in COLUMNS)) for kind, figures in result["kinds"].items()]
    rows.append(("all", *(result[name] for name in COLUMNS)))
    return "\n".join("".join(f"{'-' if cell is None else cell!s:>20}" for cell in row) for row in rows)


if __name__ == "__main__":
    sys.exit(report(arguments().parse_args(), bench, table))
