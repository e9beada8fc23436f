"""The text format of Prometheus: what a metric is, and how its lines are written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Metric(NamedTuple):
    """A metric that is exported."""

    kind: str  # counter, gauge or histogram
    meaning: str
    labels: tuple[str, ...] = ()


def header(name: str, metric: Metric) -> Iterator[str]:
    """The two lines before the values of a metric."""
    yield f"# HELP {name} {metric.meaning}"
    yield f"# TYPE {name} {metric.kind}"


def value_line(name: str, names: tuple[str, ...], values: tuple[str, ...], value: float) -> str:
    """One value; *names* and *values*: those of its labels."""
    pairs = ",".join(f'{label}="{_escaped(text)}"' for label, text in zip(names, values, strict=True))
    return f"{name}{{{pairs}}} {value:.10g}" if pairs else f"{name} {value:.10g}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
