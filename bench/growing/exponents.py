"""How fast does a cost grow with the pages?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

BAR = 1.1  # the largest exponent of a stage
SMALLEST = 10_000  # pages: below it, the start of Python is most of the cost


def exponent(sizes: list[int], costs: list[float]) -> float:
    """The x of cost ~ pages^x by least squares, over the sizes from 10^4 on if there are two of them."""
    chosen = [pair for pair in zip(sizes, costs, strict=True) if pair[0] >= SMALLEST]
    pages, spent = np.log(chosen if len(chosen) > 1 else list(zip(sizes, costs, strict=True))).T
    return round(float(np.polyfit(pages, spent, 1)[0]), 3) if len(pages) > 1 else 0.0


def above_bar(exponents: Mapping[str, float]) -> list[str]:
    """The stages whose cost grows faster than the bar allows."""
    return [stage for stage, x in exponents.items() if x > BAR]
