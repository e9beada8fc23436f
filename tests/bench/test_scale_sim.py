"""The simulation of a fleet agrees with what was measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "bench" / "scale_sim.py"
SECONDS = 120  # it takes one second of CPU time


def simulated(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "--tiny", "--json", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


@pytest.mark.slow
def test_one_worker_predicts_what_three_workers_do() -> None:
    fleet = json.loads(simulated().stdout)["fleet"]
    assert fleet["workers"][0] == 1
    assert fleet["workers"][-1] == 3
    assert fleet["largest_error"] <= 0.2
    assert fleet["largest_cpu_error"] <= 0.2


@pytest.mark.slow
def test_a_slower_database_is_a_limit_of_a_large_fleet() -> None:
    result = json.loads(simulated("--set", "admission_us=2000").stdout)
    assert "database" not in result["10M"]["limits"]
    assert "database" in result["100B"]["limits"]


@pytest.mark.slow
def test_an_unknown_input_is_an_error() -> None:
    ran = simulated("--set", "admision_us=1")
    assert ran.returncode == 1
    assert "no input 'admision_us'" in ran.stderr
