"""Measures how the cost of crawl, reparse, rank, index and query grows with the number of pages."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from growing.exponents import BAR, SMALLEST, above_bar, exponent, is_enough
from growing.served import documentation, generated
from growing.stages import QUERY, STAGES, Plan, measured
from harness.options import numbers
from harness.report import report
from harness.tiny import add_tiny, cache_of
from periplus import __version__

CACHE = Path(__file__).with_name(".cache")
FIGURES: dict[str, tuple[str, ...]] = dict.fromkeys(STAGES, ("cpu_ms_per_page", "rss_mb", "bytes_per_page"))
FIGURES["crawl"] += ("catalog_bytes_per_page",)
QUERY_FIGURES = ("p50_ms", "p99_ms", "mean_ms", "common_p50_ms", "rare_p50_ms", "title_p50_ms", "question_p50_ms")


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--json", action="store_true", help="print one JSON object instead of a table")
    add("--sizes", type=numbers, default=[10**3, 10**4, 10**5, 10**6], metavar="N,...", help="pages (10^3 to 10^6)")
    add("--documentation", action="store_true", help="also the real pages of bench/crawl.py, which are downloaded once")
    add("--queries", type=int, default=60, help="queries of each of four kinds (%(default)s)")
    add("--rounds", type=int, default=3, help="runs of every query; the best counts (%(default)s)")
    add("--timeout", type=float, default=6 * 3600, help="seconds that one stage may take (%(default)s)")
    add("--keep", action="store_true", help="leave the collections in the cache")
    add("--cache", type=Path, default=CACHE, help="where collections and the results of finished stages are kept")
    add_tiny(parser, sizes=[40], queries=2, rounds=1, timeout=100)
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    with cache_of(options) as cache:
        plan = Plan(cache / "growth", options.queries, options.rounds, options.timeout, options.keep)
        sizes = sorted(options.sizes)
        result = summary(sizes, [measured(plan, generated(size)) for size in sizes])
        if options.documentation:
            found = measured(plan, documentation(cache))
            result["documentation"] = {stage: {name: found[stage][name] for name in FIGURES[stage]} for stage in STAGES}
            result["documentation"]["kb_per_page"] = kb_per_page(found["crawl"]["output"])
    return result


def kb_per_page(crawl: dict[str, Any]) -> float:
    return round(float(crawl["bytes"] / crawl["fetched"] / 1e3), 1)


def summary(sizes: list[int], rows: list[dict[str, dict[str, Any]]]) -> dict[str, Any]:
    """The figures of every stage by size, and how they grow."""
    costs = {stage: [row[stage]["cpu_seconds"] for row in rows] for stage in STAGES}
    costs[QUERY] = [row[QUERY]["mean_ms"] for row in rows]
    exponents = {stage: exponent(sizes, spent) for stage, spent in costs.items()}
    return {
        "bench": "growth",
        "version": __version__,
        "sizes": sizes,
        "exponents": exponents,
        "last_exponents": {stage: exponent(sizes[-2:], spent[-2:]) for stage, spent in costs.items()},
        "above_bar": above_bar(sizes, exponents),
        **{stage: {name: [row[stage][name] for row in rows] for name in FIGURES[stage]} for stage in STAGES},
        QUERY: {name: [row[QUERY][name] for row in rows] for name in (*QUERY_FIGURES, "rss_mb")},
    }


def table(result: dict[str, Any]) -> str:
    lines = [f"{'pages':32}" + "".join(f"{size:>14,}" for size in result["sizes"]) + f"{'x':>8}{'last x':>8}"]
    for stage in (*STAGES, QUERY):
        growth = "".join(f"{result[name][stage]:>8}" for name in ("exponents", "last_exponents"))
        growth += "  above the bar" if stage in result["above_bar"] else ""
        for name, values in result[stage].items():
            lines.append(f"{stage + ' ' + name:32}" + "".join(f"{value:>14,}" for value in values) + growth)
            growth = ""
    lines += [f"{name:32}{figures}" for name, figures in result.get("documentation", {}).items()]
    found = ", ".join(result["above_bar"]) or ("no stage" if is_enough(result["sizes"]) else "unknown, needs two sizes")
    lines.append(f"above the bar of pages^{BAR} from {SMALLEST:,} pages on: {found}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(report(arguments().parse_args(), bench, table))
