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
def test_the_measured_figures_of_one_and_three_workers_are_predicted_within_20_percent() -> None:
    fleet = json.loads(simulated().stdout)["fleet"]
    assert fleet["workers"][0] == 1
    assert fleet["workers"][-1] == 3
    assert fleet["largest_error"] <= 0.2
    assert fleet["largest_cpu_error"] <= 0.2


@pytest.mark.slow
def test_a_slower_database_is_a_limit_of_a_large_fleet() -> None:
    before, after = (json.loads(simulated(*changed).stdout) for changed in ([], ["--set", "admission_us=3000"]))
    assert "database" not in before["1B"]["limits"]
    assert "database" in after["1B"]["limits"]
    assert "database" not in after["10M"]["limits"]


@pytest.mark.slow
def test_an_unknown_input_is_an_error() -> None:
    ran = simulated("--set", "admision_us=1")
    assert ran.returncode == 1
    assert "no input 'admision_us'" in ran.stderr


@pytest.mark.slow
def test_every_round_of_a_search_waits_for_its_slowest_shard() -> None:
    once, first = (json.loads(simulated("--set", f"new_words_share={share}").stdout)["1B"] for share in (0, 1))
    assert first["search_p50_ms"] > once["search_p50_ms"] + 1


@pytest.mark.slow
def test_the_page_is_written_from_default_options_only(tmp_path: Path) -> None:
    ran = simulated("--write-docs", str(tmp_path / "scale.md"))
    assert ran.returncode == 1
    assert "default options" in ran.stderr
