"""What have the workers of a run, or its rounds, done together?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_THE_SAME_FOR_ALL = frozenset({"run_id"})


def joined(summaries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One summary of several: numbers are added up, except the time, which passed for all of them together."""
    if len(summaries) == 1:
        return dict(summaries[0])
    total: dict[str, Any] = {}
    for summary in summaries:
        for key, value in summary.items():
            total[key] = value if key in _THE_SAME_FOR_ALL else _sum(total.get(key), value)
    total["seconds"] = max((summary["seconds"] for summary in summaries), default=0.0)
    total["pages_per_second"] = round(total["fetched"] / max(total["seconds"], 1e-9), 2)
    return total


def in_turn(summaries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One summary of several that came one after the other: the time adds up, and the last one tells what is left."""
    total = joined(summaries)
    total["parked"] = summaries[-1].get("parked", {})  # the next round asks parked hosts again
    total["seconds"] = round(sum(summary["seconds"] for summary in summaries), 3)
    total["pages_per_second"] = round(total["fetched"] / max(total["seconds"], 1e-9), 2)
    return total


def _sum(total: Any, value: Any) -> Any:
    if isinstance(total, dict) or isinstance(value, dict):
        before, more = total or {}, value or {}
        return {key: _sum(before.get(key), more.get(key)) for key in {**before, **more}}
    if isinstance(total, str) or isinstance(value, str):
        return total or value  # the first text
    number = (total or 0) + (value or 0)
    return round(number, 3) if isinstance(number, float) else number
