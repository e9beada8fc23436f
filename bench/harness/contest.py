"""Who is how much faster on the same web, round by round?"""

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
    """What is run in every round."""

    pages: int | None  # our budget; None: everything
    workers: Sequence[int]
    peer_pages: int | None  # the budget of slow peers; None: the same as ours

    @property
    def peers_stop_early(self) -> bool:
        return self.peer_pages is not None and (self.pages is None or self.peer_pages < self.pages)


def hold(arena: trial.Arena, plan: Plan, ours: Crawler, rivals: Sequence[Crawler], rounds: int) -> Row:
    """All crawlers run in each round, so that a machine that slows down hits all of them alike."""
    played = [_round(arena, plan, ours, rivals) for _ in range(rounds)]
    rows = {label: _middle([entry[label] for entry in played]) for label in played[0]}
    by_workers = [rows.pop(f"workers={count}") for count in plan.workers]
    result: Row = dict(by_workers[0])
    if len(by_workers) > 1:
        result["by_workers"] = _beside_one(by_workers)
    result.update(rows)
    for rival in rivals:
        result[f"times_{rival.name}"] = _times(result, rows, rival, plan)
    return result


def _round(arena: trial.Arena, plan: Plan, ours: Crawler, rivals: Sequence[Crawler]) -> dict[str, Row]:
    rows = {f"workers={count}": trial.crawl(arena, ours, plan.pages, count) for count in plan.workers}
    if plan.peers_stop_early and any(rival.takes_budget for rival in rivals):
        # The first pages of every host are its longest ones: a peer that stops early must be compared
        # with a run of ours that stops early too, or it would look slower than it is.
        rows["same_budget"] = trial.crawl(arena, ours, plan.peer_pages)
    for rival in rivals:
        rows[rival.name] = _peer_row(arena, plan, rival)
    return rows


def _peer_row(arena: trial.Arena, plan: Plan, rival: Crawler) -> Row:
    """A peer that fails costs us its row, not the whole bench."""
    budget = plan.peer_pages if plan.peers_stop_early else plan.pages
    try:
        rival.provision(arena.cache)
        row = trial.crawl(arena, rival, budget if rival.takes_budget else None)
        return {"version": rival.version(), **row}
    except BenchError as problem:
        print(f"peer {rival.name} is left out: {problem}", file=sys.stderr)
        return {"error": str(problem)}


def _middle(rows: Sequence[Row]) -> Row:
    """The median round by pages a second, with the speeds of all rounds beside it."""
    valid = [row for row in rows if "error" not in row]
    if not valid:
        return rows[0]
    speeds = [float(row["pages_per_second"]) for row in valid]
    middle = speeds.index(sorted(speeds)[len(speeds) // 2])
    return {**valid[middle], "rounds": speeds}


def _beside_one(by_workers: Sequence[Row]) -> list[Row]:
    """The rows, each with how many times as fast as one worker it is; None when one worker was not asked for."""
    alone = next((float(row["pages_per_second"]) for row in by_workers if row["workers"] == 1), None)
    return [{**row, "times_one": alone and round(float(row["pages_per_second"]) / alone, 2)} for row in by_workers]


def _times(result: Row, rows: dict[str, Row], rival: Crawler, plan: Plan) -> float | None:
    theirs = rows[rival.name]
    if "error" in theirs:
        return None
    mine = rows["same_budget"] if plan.peers_stop_early and rival.takes_budget else result
    return round(float(mine["pages_per_second"]) / float(theirs["pages_per_second"]), 2)
