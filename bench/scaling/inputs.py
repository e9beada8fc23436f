"""Reads the unit costs of a simulation: measured figures, each with the command that measured it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import BenchError

FILE = Path(__file__).with_name("inputs.json")


@dataclass(frozen=True)
class Inputs:
    """Unit costs by name."""

    values: dict[str, float]

    def __getattr__(self, name: str) -> float:
        """The value of an input."""
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None


def read_inputs(file: Path, changes: Sequence[str] = ()) -> Inputs:
    """The inputs of a file; *changes* such as `delay_s=2` replace single values."""
    values = {name: float(entry["value"]) for name, entry in json.loads(file.read_text()).items()}
    for change in changes:
        name, _, value = change.partition("=")
        if name not in values:
            raise BenchError(f"{file.name} has no input {name!r}")
        values[name] = float(value)
    return Inputs(values)
