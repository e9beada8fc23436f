"""The arithmetic of the page about scale follows from its inputs, and these are the inputs of the simulation."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanation/scale.md").read_text(encoding="utf-8")
INPUTS = json.loads((ROOT / "bench/scaling/inputs.json").read_text(encoding="utf-8"))
SIZES = (1e7, 1e9, 1e11)
VALUES = {name: entry["value"] for name, entry in INPUTS.items()}
FUNCTIONS: dict[str, Any] = {"ceil": math.ceil, "max": max, "min": min}
ROWS = re.findall(r"^\| `(\w+)`[^|]*\| `([^`]+)` \| ([\d.,]+) \| ([\d.,]+) \| ([\d.,]+) \|$", PAGE, re.MULTILINE)
LIMITS = re.findall(r"^\| ([^|`]+) \| `([^`]+)` \| ([\d.,]+) \| [^|]+ \|$", PAGE, re.MULTILINE)


def number(shown: str) -> float:
    return float(shown.replace(",", ""))


def value(formula: str, names: dict[str, float]) -> float:
    return float(eval(formula, {"__builtins__": {}}, FUNCTIONS | names))  # a formula of our own page


def test_the_inputs_of_the_page_are_those_of_the_simulation() -> None:
    shown = re.findall(r"^\| `(\w+)` \| ([\d.,]+) \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
    assert {name: (number(cell), what) for name, cell, what, _ in shown} == {
        name: (entry["value"], entry["what"]) for name, entry in INPUTS.items()
    }
    assert [command.replace("`", "").removeprefix("python ") for *_, command in shown] == [
        entry["command"] for entry in INPUTS.values()
    ]


def test_every_measured_input_names_a_bench() -> None:
    named = {script for entry in INPUTS.values() for script in re.findall(r"bench/\w+\.py", entry["command"])}
    assert len(named) >= 5
    assert all((ROOT / script).exists() for script in named)


@pytest.mark.parametrize("place", range(3))
def test_every_figure_of_the_page_follows_from_its_formula(place: int) -> None:
    names = VALUES | {"pages": SIZES[place]}
    assert len(ROWS) > 25
    for name, formula, *cells in ROWS:
        names[name] = value(formula, names)
        assert number(cells[place]) == pytest.approx(names[name], rel=0.05), name


def test_the_limits_follow_from_their_formulas_and_are_in_order() -> None:
    found = [value(formula, VALUES) / 1e6 for _, formula, _ in LIMITS]
    assert len(found) > 5
    assert found == sorted(found)
    for (name, _, cell), pages in zip(LIMITS, found, strict=True):
        assert number(cell) == pytest.approx(pages, rel=0.05), name
