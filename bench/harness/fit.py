"""Fits a fixed cost and a cost per unit to measured costs."""

from __future__ import annotations

import numpy as np


def line(units: list[int], costs: list[float]) -> tuple[float, float]:
    """The fixed cost and the cost per unit, neither below zero."""
    slope, _ = np.polyfit(units, costs, 1) if len(units) > 1 else (costs[0] / units[0], 0.0)
    slope = max(float(slope), 0.0)
    return max(float(np.mean(costs) - slope * np.mean(units)), 0.0), slope
