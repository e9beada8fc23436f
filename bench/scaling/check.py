"""Predicts the runs of `bench/fleet.py` from the unit costs of its one worker."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from scaling.fleet_sim import Costs, FleetSimulation, Setup

_STEP, _LONGEST = 0.02, 3_600.0  # seconds
_RESPONSE = 0.005  # seconds of a request on loopback
_FOREIGN_LINKS = 2.0  # `living.made_web`: links of a page to other hosts


def unit_costs(fleet: dict[str, Any]) -> Costs:
    """What a page costs, from the run of one worker: without its start and what it costs to wait."""
    run = fleet["runs"]["1"]
    pages, seconds = run["pages"], run["run_seconds"]

    def each(name: str, start: str, idle: str) -> float:
        return float(run[name] / 1e3 - (fleet[start] + fleet[idle] * seconds) / pages)

    return Costs(
        page=each("cpu_ms_per_page", "start_cpu_s", "idle_cpu_share"),
        commit=each("postgres_cpu_ms_per_page", "start_postgres_cpu_s", "idle_postgres_cpu_share"),
        web=run["web_cpu_ms_per_page"] / 1e3,
        start=fleet["start_cpu_s"],
        commit_start=fleet["start_postgres_cpu_s"],
        forward=2 * fleet["admission_server_us"] / 1e6,  # written by one worker, taken over by the other
        idle=fleet["idle_cpu_share"],
        exchange=fleet["idle_postgres_cpu_share"],
    )


def check(fleet: dict[str, Any], hosts: int, seed: int) -> dict[str, Any]:
    """Pages per second of every run: predicted with the cores that other programs left, and measured."""
    runs = sorted(fleet["runs"].values(), key=lambda run: int(run["workers"]))
    predicted = [round(_predicted(fleet, run, hosts, seed), 1) for run in runs]
    ratios = [guess / run["pages_per_second"] for guess, run in zip(predicted, runs, strict=True)]
    costs = unit_costs(fleet)
    cpu = [(_cpu_ms(costs, run), run["cpu_ms_per_page"] + run["postgres_cpu_ms_per_page"]) for run in runs]
    return {
        "workers": [run["workers"] for run in runs],
        "predicted": predicted,
        "measured": [run["pages_per_second"] for run in runs],
        "largest_error": round(max(abs(ratio - 1) for ratio in ratios), 3),
        "predicted_cpu_ms": [round(guess, 3) for guess, _ in cpu],
        "measured_cpu_ms": [round(found, 3) for _, found in cpu],
        "largest_cpu_error": round(max(abs(guess / found - 1) for guess, found in cpu), 3),
    }


def _cpu_ms(costs: Costs, run: dict[str, Any]) -> float:
    """CPU time of a page on nodes and database, for a run that took as long as the measured one."""
    workers = run["workers"]
    waiting = (costs.idle + costs.exchange) * run["run_seconds"]
    forwarded = _FOREIGN_LINKS * (1 - 1 / workers) * costs.forward
    page = costs.page + costs.commit + forwarded + workers * (costs.start + costs.commit_start + waiting) / run["pages"]
    return float(page * 1e3)


def _predicted(fleet: dict[str, Any], run: dict[str, Any], hosts: int, seed: int) -> float:
    cores = max(fleet.get("cores", os.cpu_count() or 1) - run["other_cores"], 0.05)
    setup = Setup(run["workers"], shared_cores=cores, response=_RESPONSE, foreign_links=_FOREIGN_LINKS)
    sizes = np.full(hosts, run["pages"] // hosts)
    return FleetSimulation(setup, unit_costs(fleet), sizes, seed).run(_STEP, _LONGEST).pages_per_second
