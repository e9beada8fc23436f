"""Compares the speed of crawlers on the same web, in several rounds."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness import trial
from harness.crawler import Crawler
from harness.errors import BenchError

Row = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """The runs of every round."""

    pages: int | None  # our budget; None: everything
    workers: Sequence[int]
    peer_pages: int | None  # the budget of slow peers; None: the same as ours

    @property
    def peers_stop_early(self) -> bool:
        return self.peer_pages is not None and (self.pages is None or self.peer_pages < self.pages)


def compare(setup: trial.Setup, plan: Plan, ours: Crawler, peers: Sequence[Crawler], rounds: int) -> Row:
    """Runs all crawlers in each round, so that a slow moment of the machine affects all of them."""
    measured = [_round(setup, plan, ours, peers) for _ in range(rounds)]
    rows = {label: _median([entry[label] for entry in measured]) for label in measured[0]}
    by_workers = [rows.pop(f"workers={count}") for count in plan.workers]
    result: Row = dict(by_workers[0])
    if len(by_workers) > 1:
        result["by_workers"] = _with_speedup(by_workers)
    result.update(rows)
    for peer in peers:
        result[f"times_{peer.name}"] = _times(result, rows, peer, plan)
    return result


def _round(setup: trial.Setup, plan: Plan, ours: Crawler, peers: Sequence[Crawler]) -> dict[str, Row]:
    rows = {f"workers={count}": trial.crawl(setup, ours, plan.pages, count) for count in plan.workers}
    if plan.peers_stop_early and any(peer.takes_budget for peer in peers):
        # The first pages of every host are its longest. A peer that stops early would look slower than it is,
        # unless it is compared with a run of our crawler that stops early too.
        rows["same_budget"] = trial.crawl(setup, ours, plan.peer_pages)
    for peer in peers:
        rows[peer.name] = _peer_row(setup, plan, peer)
    return rows


def _peer_row(setup: trial.Setup, plan: Plan, peer: Crawler) -> Row:
    """Runs a peer; a peer that fails gets a row with its error, and the bench continues."""
    budget = plan.peer_pages if plan.peers_stop_early else plan.pages
    try:
        peer.provision(setup.cache)
        row = trial.crawl(setup, peer, budget if peer.takes_budget else None)
        return {"version": peer.version(), **row}
    except BenchError as problem:
        print(f"peer {peer.name} is left out: {problem}", file=sys.stderr)
        return {"error": str(problem)}


def _median(rows: Sequence[Row]) -> Row:
    """The median round by pages per second, with the speeds of all rounds."""
    valid = [row for row in rows if "error" not in row]
    if not valid:
        return rows[0]
    speeds = [float(row["pages_per_second"]) for row in valid]
    middle = speeds.index(sorted(speeds)[len(speeds) // 2])
    return {**valid[middle], "rounds": speeds}


def _with_speedup(by_workers: Sequence[Row]) -> list[Row]:
    """The rows with their speed relative to one worker; None without a run of one worker."""
    alone = next((float(row["pages_per_second"]) for row in by_workers if row["workers"] == 1), None)
    return [{**row, "times_one": alone and round(float(row["pages_per_second"]) / alone, 2)} for row in by_workers]


def _times(result: Row, rows: dict[str, Row], peer: Crawler, plan: Plan) -> float | None:
    theirs = rows[peer.name]
    if "error" in theirs:
        return None
    ours = rows["same_budget"] if plan.peers_stop_early and peer.takes_budget else result
    return round(float(ours["pages_per_second"]) / float(theirs["pages_per_second"]), 2)
