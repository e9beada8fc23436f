"""Tests whether two rankings differ by more than chance: a paired randomisation test over queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_ROUNDS = 20_000
_SEED = 1


class Comparison(NamedTuple):
    """The difference of a figure between two rankings of the same queries."""

    difference: float  # of the means; more than 0: the second ranking is better
    p: float  # probability of a difference at least as large if both were equal; two-sided
    better: int  # queries for which the second ranking is better
    worse: int

    def __str__(self) -> str:
        p = f"p = {self.p:.4f}" if self.p >= 1e-4 else "p < 0.0001"
        return f"{self.difference:+.4f}, {p}, {self.better} better, {self.worse} worse"


def compare(first: Sequence[float], second: Sequence[float]) -> Comparison:
    """Flips the sign of the difference of random queries, and counts how often the sum becomes as large as it is."""
    differences = np.subtract(second, first)
    changed = differences[differences != 0]
    signs = np.random.default_rng(_SEED).integers(0, 2, (_ROUNDS, len(changed)), dtype=np.int8) * 2 - 1
    as_large = np.count_nonzero(np.abs(signs @ changed) >= abs(changed.sum()) - 1e-9)
    better = int(np.count_nonzero(changed > 0))
    mean = float(differences.mean()) if len(differences) else 0.0
    return Comparison(mean, (as_large + 1) / (_ROUNDS + 1), better, len(changed) - better)
