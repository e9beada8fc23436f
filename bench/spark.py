"""Compares ranking, indexing and parsing on this machine and on Spark, and says where Spark begins to pay."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import Any

from harness.errors import BenchError
from harness.options import numbers
from harness.report import report
from harness.tiny import add_tiny, cache_of

CACHE = Path(__file__).with_name(".cache")


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--json", action="store_true", help="print one JSON object instead of lines")
    add("--sizes", type=sizes, default=sizes("30000:600000,100000:2000000,300000:6000000"), metavar="PAGES:LINKS,...")
    add("--pages", type=numbers, default=numbers("1000,4000,12000"), metavar="N,...", help="pages to index and parse")
    add("--cache", type=Path, default=CACHE, help="folder of the webs")
    add_tiny(parser, sizes=sizes("2000:20000"), pages=[40])
    return parser


def sizes(text: str) -> list[tuple[int, int]]:
    """Pages and links of every web."""
    try:
        return [(int(pages), int(links)) for pages, links in (pair.split(":") for pair in text.split(","))]
    except ValueError:
        raise argparse.ArgumentTypeError("give PAGES:LINKS,PAGES:LINKS") from None


def bench(options: argparse.Namespace) -> dict[str, Any]:
    if shutil.which("java") is None:
        raise BenchError("Spark needs Java")
    from indexing import engines  # noqa: PLC0415  # needs an extra
    from ranking.engines import measured  # noqa: PLC0415  # needs an extra

    with cache_of(options) as cache:
        return {"bench": "spark", **measured(options.sizes, cache), **engines.measured_jobs(options.pages, cache)}


if __name__ == "__main__":
    sys.exit(report(arguments().parse_args(), bench))
