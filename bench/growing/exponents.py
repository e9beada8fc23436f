"""How fast does a cost grow with the pages?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

BAR = 1.1  # the largest exponent of a stage
SMALLEST = 10_000  # pages: below it, the start of Python is most of the cost


def exponent(sizes: list[int], costs: list[float]) -> float:
    """The x of cost ~ pages^x by least squares, over the sizes from 10^4 on if there are two of them."""
    pairs = list(zip(sizes, costs, strict=True))
    pages, spent = np.log([pair for pair in pairs if pair[0] >= SMALLEST] if is_enough(sizes) else pairs).T
    return round(float(np.polyfit(pages, spent, 1)[0]), 3) if len(pages) > 1 else 0.0


def is_enough(sizes: Sequence[int]) -> bool:
    """Whether the sizes from 10^4 pages on show how a cost grows."""
    return sum(size >= SMALLEST for size in sizes) > 1


def above_bar(sizes: Sequence[int], exponents: Mapping[str, float]) -> list[str]:
    """The stages whose cost grows faster than the bar allows; none unless the sizes are enough."""
    return [stage for stage, x in exponents.items() if x > BAR] if is_enough(sizes) else []
