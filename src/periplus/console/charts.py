"""Turns samples of a crawl into the lines of charts.

Counters become rates: their increase per second. After a restart of the crawl a counter begins at 0 again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

WIDTH, HEIGHT = 300, 60  # of the small picture without scripts
_MARGIN = 3  # above and below the line

Sample = tuple[float, dict[str, Any]]  # time and figures


class Line(NamedTuple):
    """One line of a chart."""

    label: str
    figure: str  # of a sample
    is_rate: bool = False


class Chart(NamedTuple):
    """A chart of the overview."""

    name: str
    title: str
    unit: str  # number, size or duration
    lines: tuple[Line, ...]


CHARTS = (
    Chart("pages", "Pages per second", "number", (Line("pages/s", "pages", is_rate=True),)),
    Chart("bytes", "Bytes per second", "size", (Line("bytes/s", "bytes", is_rate=True),)),
    Chart("queue", "Queue", "number", (Line("on disk", "queued_disk"), Line("in memory", "queued_memory"))),
    Chart("errors", "Errors per second", "number", (Line("errors/s", "errors", is_rate=True),)),
    Chart("types", "Pages by type", "number", (Line("HTML", "html"), Line("PDF", "pdf"))),
    Chart("freshness", "Freshness of the index", "duration", (Line("oldest page that waits", "freshness"),)),
)


def chart_data(samples: Sequence[Sample]) -> dict[str, Any]:
    """The times of the samples, and the values of each line of each chart; the first value of a rate is missing."""
    charts = [
        {
            "name": chart.name,
            "title": chart.title,
            "unit": chart.unit,
            "lines": [{"label": line.label, "values": _values(line, samples)} for line in chart.lines],
        }
        for chart in CHARTS
    ]
    return {"at": [at for at, _ in samples], "charts": charts}


def _values(line: Line, samples: Sequence[Sample]) -> list[float | None]:
    found = [figures.get(line.figure) for _, figures in samples]
    if not line.is_rate:
        return found
    times = [at for at, _ in samples]
    rates = [_rate(*pair) for pair in pairwise(zip(times, found, strict=True))]
    return [None, *rates] if found else []


def _rate(before: tuple[float, float | None], after: tuple[float, float | None]) -> float | None:
    seconds = after[0] - before[0]
    if before[1] is None or after[1] is None or seconds <= 0:
        return None
    increase = after[1] - before[1]
    return round((after[1] if increase < 0 else increase) / seconds, 3)


def newest(values: Sequence[float | None]) -> float | None:
    """The last known value of a line."""
    return next((value for value in reversed(values) if value is not None), None)


def points(at: Sequence[float], values: Sequence[float | None], highest: float) -> str:
    """The `points` of an SVG line; missing values are left out."""
    if len(at) < 2 or at[-1] <= at[0]:
        return ""
    room, span, top = HEIGHT - 2 * _MARGIN, at[-1] - at[0], highest or 1.0
    return " ".join(
        f"{WIDTH * (time - at[0]) / span:.1f},{_MARGIN + room * (1 - value / top):.1f}"
        for time, value in zip(at, values, strict=True)
        if value is not None
    )


def highest(lines: Sequence[dict[str, Any]]) -> float:
    """The largest value of all lines of a chart."""
    return max((value for line in lines for value in line["values"] if value is not None), default=0.0)
