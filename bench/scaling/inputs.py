"""Reads the unit costs of a simulation: measured figures, each with the command that measured it.

An input of `inputs.json` has a value, or the place of its value in the result of a bench: the name of the file, and the
keys that lead to the figure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from harness.errors import BenchError

_HERE = Path(__file__).parent
FILE = _HERE / "inputs.json"
RESULTS = {
    "fleet": _HERE / "fleet.json",
    "broker": _HERE / "broker.json",
    "graph": _HERE / "graph.json",
    "growth": _HERE.parent / "growing" / "growth.json",
    "documentation": _HERE.parent / "growing" / "documentation.json",
}
Results = Mapping[str, Any]  # what the benches printed, by name


@dataclass(frozen=True)
class Inputs:
    """Unit costs by name."""

    values: dict[str, float]
    entries: dict[str, dict[str, Any]]  # of `inputs.json`: meaning and command

    def __getattr__(self, name: str) -> float:
        """The value of an input."""
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None


def read_results(**others: Path) -> dict[str, Any]:
    """The results of all benches that are inputs; *others*: files instead of those of the repository."""
    return {name: json.loads(path.read_text()) for name, path in (RESULTS | others).items()}


def read_inputs(results: Results, changes: Sequence[str] = (), file: Path = FILE) -> Inputs:
    """The inputs; *changes* such as `delay_s=2` replace single values."""
    entries = json.loads(file.read_text())
    values = {name: _value(entry, results) for name, entry in entries.items()}
    for change in changes:
        name, _, value = change.partition("=")
        if name not in values:
            raise BenchError(f"{file.name} has no input {name!r}")
        values[name] = float(value)
    return Inputs(values, entries)


def _value(entry: Mapping[str, Any], results: Results) -> float:
    if "value" in entry:
        return float(entry["value"])
    try:
        found = reduce(lambda inside, key: inside[key], entry["source"].split("."), results)
    except KeyError as missing:
        raise BenchError(f"a result has no {entry['source']}: {missing} is missing") from missing
    return float(f"{found * entry.get('times', 1):.4g}")  # what the page shows
