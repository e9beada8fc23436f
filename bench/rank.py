"""Measures the speed of ranking, and compares it with memory bandwidth, scipy and networkit."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from harness.report import report
from harness.tiny import add_tiny, cache_of
from periplus.store.ranks import open_ranks
from ranking.contest import PEERS, contest
from ranking.crawl import crawled
from ranking.whole import whole_way

CACHE = Path(__file__).with_name(".cache")


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--json", action="store_true", help="print one JSON object instead of lines")
    add("--nodes", type=int, default=1_200_000, help="pages of the web (1,200,000)")
    add("--edges", type=int, default=72_000_000, help="links that count, about (72,000,000)")
    add("--rounds", type=int, default=5, help="rounds, the best of which counts (5)")
    add("--peers", type=names, default=list(PEERS), metavar="NAME,...", help=f"of {', '.join(PEERS)} (all)")
    add("--no-peers", action="store_const", const=[], dest="peers", help="measure only ourselves")
    add("--cache", type=Path, default=CACHE, help="folder of the web and the peers")
    add_tiny(parser, nodes=2_000, edges=20_000, rounds=1, peers=[])
    return parser


def names(text: str) -> list[str]:
    chosen = text.split(",")
    if unknown := set(chosen) - set(PEERS):
        raise argparse.ArgumentTypeError(f"unknown peer {', '.join(unknown)}")
    return chosen


def bench(options: argparse.Namespace) -> dict[str, Any]:
    """Prepares the web and the peers, and measures."""
    with cache_of(options) as cache:
        return measured(options, cache)


def measured(options: argparse.Namespace, cache: Path) -> dict[str, Any]:
    collection = crawled(cache / "rank" / f"web-{options.nodes}-{options.edges}", options.nodes, options.edges)
    whole = whole_way(collection)
    table = open_ranks(collection.ranks)
    assert table is not None
    seconds = contest(table.folder, options.peers, cache, options.rounds)
    ours = seconds["ours"]
    return {
        "bench": "rank",
        "nodes": table.figures.nodes,
        "edges": table.figures.edges,
        "seconds_per_iteration": round(ours.mean, 4),
        "times_floor": round(ours.best / seconds["floor"].best, 2),
        **{f"times_{name}": round(seconds[name].mean / ours.mean, 2) for name in options.peers},
        **whole,
        "rounds": options.rounds,
    }


if __name__ == "__main__":
    sys.exit(report(arguments().parse_args(), bench))
