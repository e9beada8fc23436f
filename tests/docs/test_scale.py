"""The figures of the page about scale follow from the results of the benches and from the inputs of the simulation."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from periplus.config import Indexing
from periplus.store.shares import SHARES

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs/explanation/scale.md"
PAGE = FILE.read_text(encoding="utf-8")
BENCH = ROOT / "bench"
RESULTS = {
    name: json.loads((BENCH / f"{folder}/{name}.json").read_text(encoding="utf-8"))
    for folder, names in {"scaling": ("fleet", "broker", "graph"), "growing": ("growth", "documentation")}.items()
    for name in names
}
INPUTS = json.loads((BENCH / "scaling/inputs.json").read_text(encoding="utf-8"))
SIZES = (1e7, 1e9, 1e11)
FUNCTIONS: dict[str, Any] = {"ceil": math.ceil, "max": max, "min": min}
ROWS = re.findall(r"^\| `(\w+)`[^|]*\| `([^`]+)` \| ([\d.,]+) \| ([\d.,]+) \| ([\d.,]+) \|$", PAGE, re.MULTILINE)
LIMITS = re.findall(r"^\| ([^|`]+) \| `([^`]+)` \| ([\d.,]+) \| [^|]+ \|$", PAGE, re.MULTILINE)
SECONDS = 600  # the command takes three seconds of CPU time, on a busy machine far more of the clock


def figure(entry: dict[str, Any]) -> float:
    """The value of an input: its own, or that of the result that it names."""
    if "value" in entry:
        return float(entry["value"])
    found: Any = reduce(lambda inside, key: inside[key], entry["source"].split("."), RESULTS)
    return float(found) * float(entry.get("times", 1))


VALUES = {name: figure(entry) for name, entry in INPUTS.items()}


def number(shown: str) -> float:
    return float(shown.replace(",", ""))


def value(formula: str, names: dict[str, float]) -> float:
    return float(eval(formula, {"__builtins__": {}}, FUNCTIONS | names))  # a formula of our own page


def cells(first: str) -> list[list[str]]:
    """The rows of the table whose header begins with a cell."""
    found = re.search(rf"^\| {re.escape(first)} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert found is not None
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in found[1].splitlines()]


def written(folder: Path, *options: str) -> str:
    """The page as the command writes it anew."""
    copy = folder / "scale.md"
    copy.write_text(PAGE, encoding="utf-8")
    command = [sys.executable, str(BENCH / "scale_sim.py"), "--write-docs", str(copy), *options]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert ran.returncode == 0, ran.stderr
    return copy.read_text(encoding="utf-8")


def test_the_inputs_of_the_page_are_those_of_the_simulation() -> None:
    shown = re.findall(r"^\| `(\w+)` \| ([\d.,]+) \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
    assert [(name, what) for name, _, what, _ in shown] == [(name, entry["what"]) for name, entry in INPUTS.items()]
    for name, cell, *_ in shown:
        assert number(cell) == pytest.approx(VALUES[name], rel=1e-3), name
    assert [command.replace("`", "").removeprefix("python ") for *_, command in shown] == [
        entry["command"] for entry in INPUTS.values()
    ]


def test_every_measured_input_names_a_bench() -> None:
    named = {script for entry in INPUTS.values() for script in re.findall(r"bench/[\w/]+\.py", entry["command"])}
    assert len(named) >= 7
    assert all((ROOT / script).exists() for script in named)


def test_the_limits_of_the_program_are_those_of_the_page() -> None:
    (most,) = [limit.le for limit in Indexing.model_fields["shards"].metadata if hasattr(limit, "le")]
    assert VALUES["most_shards"] == most
    assert any(formula.startswith(f"{SHARES} *") for _, formula, _ in LIMITS)


@pytest.mark.parametrize("place", range(3))
def test_every_figure_of_the_page_follows_from_its_formula(place: int) -> None:
    names = VALUES | {"pages": SIZES[place]}
    assert len(ROWS) > 25
    for name, formula, *found in ROWS:
        names[name] = value(formula, names)
        assert number(found[place]) == pytest.approx(names[name], rel=0.05), name


def test_the_limits_follow_from_their_formulas_and_are_in_order() -> None:
    found = [value(formula, VALUES) / 1e6 for _, formula, _ in LIMITS]
    assert len(found) > 8
    assert found == sorted(found)
    for (name, _, cell), pages in zip(LIMITS, found, strict=True):
        assert number(cell) == pytest.approx(pages, rel=0.05), name


def test_a_verdict_names_every_limit_that_it_exceeds() -> None:
    at = {name: value(formula, VALUES) for name, formula, _ in LIMITS}
    ten_million, billion, hundred_billion = (row[1] for row in cells("pages a month"))
    assert ten_million == "none"
    assert set(billion.split("; ")) == {name for name, pages in at.items() if pages < 1e9}
    assert hundred_billion == f"{sum(pages < 1e11 for pages in at.values())} of {len(at)}"


def test_the_tables_of_growth_are_the_measured_figures() -> None:
    growth = RESULTS["growth"]
    stages = ("crawl", "reparse", "rank", "index")
    for first, keys, rows in (
        ("CPU ms a page", ["cpu_ms_per_page"] * 4 + ["mean_ms", "p99_ms"], [*stages, "query", "query"]),
        ("peak memory, MB", ["rss_mb"] * 5, [*stages, "query"]),
        ("bytes of a page on disk", ["bytes_per_page"] * 4 + ["catalog_bytes_per_page"], [*stages, "crawl"]),
    ):
        for (_, *found), stage, key in zip(cells(first), rows, keys, strict=True):
            measured = growth[stage][key]
            assert [number(cell) for cell in found[: len(measured)]] == pytest.approx(measured, rel=0.01), (stage, key)


@pytest.mark.slow
def test_the_page_is_what_the_command_writes_from_the_results_of_the_benches(tmp_path: Path) -> None:
    assert written(tmp_path) == PAGE, "run: python bench/scale_sim.py --write-docs"


@pytest.mark.slow
def test_another_run_of_the_fleet_changes_inputs_limits_and_predictions(tmp_path: Path) -> None:
    fleet = RESULTS["fleet"] | {"admission_server_us": 2 * RESULTS["fleet"]["admission_server_us"]}
    fleet["runs"] = {name: run | {"pages_per_second": 1234.0} for name, run in fleet["runs"].items()}
    (tmp_path / "fleet.json").write_text(json.dumps(fleet), encoding="utf-8")
    changed = set(written(tmp_path, "--fleet", str(tmp_path / "fleet.json")).splitlines()) - set(PAGE.splitlines())
    for begin in (
        f"| `admission_us` | {fleet['admission_server_us']:g} |",
        "| CPU time of PostgreSQL: admissions |",
        "| load of the database: CPU |",
    ):
        assert any(line.startswith(begin) for line in changed), begin
    assert sum("| 1,234 |" in line for line in changed) == 3
