"""Predicts the runs of `bench/fleet.py`.

The CPU time of a page comes from the run of one worker, because the pages of that web are smaller than real ones. All
other costs are inputs of the simulation. So the figures of one worker show that the simulation is consistent, and those
of more workers are predictions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scaling.fleet_sim import Costs, FleetSimulation, Setup
from scaling.inputs import Inputs

_STEP, _LONGEST = 0.02, 3_600.0  # seconds
_RESPONSE = 0.005  # seconds of a request on loopback
_FOREIGN_LINKS = 2.0  # `living.made_web`: links of a page to other hosts
# A worker that is alone takes all shares. Another one gets its part at once when it joins before that, else after two
# exchanges: the owner sees it, and gives. Workers make one a second (`crawl/coordination/fleet_coordination.py`).
_HANDOVER = 1.0  # seconds, mean


def unit_costs(fleet: dict[str, Any], inputs: Inputs) -> Costs:
    """What a page costs, from the run of one worker: without its start and what it costs to wait."""
    run = fleet["runs"]["1"]
    pages, seconds = run["pages"], run["run_seconds"]

    def each(name: str, start: float, idle: float) -> float:
        return float(run[name] / 1e3 - (start + idle * seconds) / pages)

    exchange = inputs.worker_exchange_ms / 1e3
    return Costs(
        page=each("cpu_ms_per_page", inputs.start_s, inputs.idle_share),
        commit=each("postgres_cpu_ms_per_page", inputs.start_database_s, exchange),
        web=run["web_cpu_ms_per_page"] / 1e3,
        start=inputs.start_s,
        commit_start=inputs.start_database_s,
        forward=2 * inputs.admission_us / 1e6,  # written by one worker, taken over by the other
        idle=inputs.idle_share,
        exchange=exchange,
    )


def check(fleet: dict[str, Any], inputs: Inputs, hosts: int, seed: int) -> dict[str, Any]:
    """Pages per second of every run: predicted with the cores that other programs left, and measured."""
    runs = sorted(fleet["runs"].values(), key=lambda run: int(run["workers"]))
    costs = unit_costs(fleet, inputs)
    predicted = [round(_predicted(costs, fleet, run, hosts, seed), 1) for run in runs]
    ratios = [guess / run["pages_per_second"] for guess, run in zip(predicted, runs, strict=True)]
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


def _predicted(costs: Costs, fleet: dict[str, Any], run: dict[str, Any], hosts: int, seed: int) -> float:
    cores = max(fleet["cores"] - run["other_cores"], 0.05)
    setup = Setup(
        run["workers"], shared_cores=cores, response=_RESPONSE, foreign_links=_FOREIGN_LINKS, handover=_HANDOVER
    )
    sizes = np.full(hosts, run["pages"] // hosts)
    return FleetSimulation(setup, costs, sizes, seed).run(_STEP, _LONGEST).pages_per_second
