"""Formats the parts of a score for "Why this result?"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from periplus.web.display import visible

_DECIMALS = 4
_UNIT = 10**_DECIMALS


class ScoreReason(NamedTuple):
    """One row of the table."""

    name: str
    amount: str
    percent: int  # of the largest amount, for the bar; 0 for a negative amount


class ScoreReasons(NamedTuple):
    """The table and its sum."""

    lines: tuple[ScoreReason, ...]
    score: str


def reasons(score: float, explain: Mapping[str, float]) -> ScoreReasons:
    """The parts of a score, largest first, rounded so that the column adds up to the displayed score."""
    named = sorted(explain.items(), key=lambda entry: -abs(entry[1]))
    if not all(map(math.isfinite, (score, *explain.values()))):
        return ScoreReasons(tuple(ScoreReason(visible(name), f"{amount}", 0) for name, amount in named), f"{score}")
    total = round(score * _UNIT)
    amounts = _corrected([round(amount * _UNIT) for _, amount in named], total)
    most = max([*amounts, 1])
    lines = (
        ScoreReason(visible(name), _decimal(amount), max(round(100 * amount / most), 0))
        for (name, _), amount in zip(named, amounts, strict=True)
    )
    return ScoreReasons(tuple(lines), _decimal(total))


def _corrected(amounts: list[int], total: int) -> list[int]:
    """Adds the rounding error to the largest amounts; a larger difference is a bug and stays visible."""
    missing = total - sum(amounts)
    if abs(missing) > len(amounts):
        return amounts
    step = 1 if missing > 0 else -1
    return [amount + step if place < abs(missing) else amount for place, amount in enumerate(amounts)]


def _decimal(units: int) -> str:
    return f"{units / _UNIT:.{_DECIMALS}f}"
