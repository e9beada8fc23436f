"""Simulates frontier, leases, database and broker of a fleet at 10 M, 1 B and 100 B pages a month."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from harness.report import report
from harness.tiny import add_tiny
from scaling import inputs
from scaling.answers import answer
from scaling.check import check

FLEET = Path(__file__).parent / "scaling" / "fleet.json"  # a result of bench/fleet.py
SIZES = {"10M": 1e7, "1B": 1e9, "100B": 1e11}


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--json", action="store_true", help="print one JSON object instead of a table")
    add("--inputs", type=Path, default=inputs.FILE, help="unit costs with their commands (%(default)s)")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="another value for one input; repeatable")
    add("--fleet", type=Path, default=FLEET, help="result of bench/fleet.py --json that is predicted (%(default)s)")
    add("--hosts", type=int, default=1_000, help="hosts of the web of that result (%(default)s)")
    add("--seconds", type=float, default=30, help="simulated seconds of a crawl (%(default)s)")
    add("--queries", type=int, default=2_000, help="simulated queries (%(default)s)")
    add("--seed", type=int, default=22, help="of all random numbers (%(default)s)")
    add_tiny(parser, seconds=3, queries=50)
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    costs = inputs.read_inputs(options.inputs, options.set)
    return {
        "bench": "scale_sim",
        "seed": options.seed,
        "fleet": check(json.loads(options.fleet.read_text()), options.hosts, options.seed),
        **{name: answer(costs, pages, options.seconds, options.queries, options.seed) for name, pages in SIZES.items()},
    }


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
