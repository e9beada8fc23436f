"""Simulates frontier, leases, database and broker of a fleet at 10 M, 1 B and 100 B pages a month."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from harness.errors import BenchError
from harness.report import report
from harness.tiny import add_tiny
from scaling import inputs, page
from scaling.answers import answer
from scaling.check import check

SIZES = {name.replace(" ", ""): pages for name, pages in page.SIZES.items()}


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--json", action="store_true", help="print one JSON object instead of a table")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="another value for one input; repeatable")
    add("--fleet", type=Path, default=inputs.RESULTS["fleet"], help="result of bench/fleet.py --json (%(default)s)")
    add("--hosts", type=int, default=1_000, help="hosts of the web of that result (%(default)s)")
    add("--seconds", type=float, default=30, help="simulated seconds of a crawl (%(default)s)")
    add("--queries", type=int, default=500, help="simulated queries (%(default)s)")
    add("--seed", type=int, default=22, help="of all random numbers (%(default)s)")
    add("--write-docs", type=Path, nargs="?", const=page.FILE, metavar="PAGE", help="write the tables of scale.md anew")
    add_tiny(parser, seconds=3, queries=50)
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    results = inputs.read_results(fleet=options.fleet)
    costs = inputs.read_inputs(results, options.set)
    simulated = {
        "bench": "scale_sim",
        "seed": options.seed,
        "fleet": check(results["fleet"], costs, options.hosts, options.seed),
        **{name: answer(costs, pages, options.seconds, options.queries, options.seed) for name, pages in SIZES.items()},
    }
    if options.write_docs:
        write_docs(options, results, costs, simulated)
    return simulated


def write_docs(
    options: argparse.Namespace, results: dict[str, Any], costs: inputs.Inputs, simulated: dict[str, Any]
) -> None:
    """Write the tables of the page; those of the repository come with the result of --fleet that they are made from."""
    default = arguments().parse_args([])
    if any(getattr(options, name) != getattr(default, name) for name in ("set", "hosts", "seconds", "queries", "seed")):
        raise BenchError("--write-docs works with the default options and --fleet only")
    text = page.rewritten(options.write_docs.read_text(encoding="utf-8"), results, costs, simulated)
    options.write_docs.write_text(text, encoding="utf-8")
    if options.write_docs == page.FILE:
        inputs.RESULTS["fleet"].write_text(json.dumps(results["fleet"]) + "\n")


def table(result: dict[str, Any]) -> str:
    lines = [f"{'fleet ' + name:28}{value}" for name, value in result["fleet"].items()]
    lines.append(f"{'pages a month':28}" + "".join(f"{size:>18}" for size in SIZES))
    lines += [
        f"{name:28}" + "".join(f"{_shown(result[size][name]):>18}" for size in SIZES)
        for name in result[next(iter(SIZES))]
    ]
    return "\n".join(lines)


def _shown(value: Any) -> str:
    return (", ".join(value) or "none") if isinstance(value, list) else str(value)


if __name__ == "__main__":
    sys.exit(report(arguments().parse_args(), bench, table))
