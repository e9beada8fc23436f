"""Computes the usual figures of a list of results: nDCG, MAP, MRR, success, precision and recall."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

METRICS = ("ndcg@10", "map", "mrr", "s@1", "s@10", "p@10", "r@100")
DEPTH = 200  # results of a query that are looked at
_FIRST = 10
Figures = dict[str, float]


class Scale(NamedTuple):
    """What grades mean."""

    least_right: int = 1  # the grade from which a document is right
    exponential: bool = False  # the gain of a grade in nDCG: 2^grade - 1, or the grade itself as in trec_eval

    def gain(self, grade: int) -> float:
        """The gain of a document in nDCG."""
        return 2.0**grade - 1.0 if self.exponential else float(grade)


def figures(found: Sequence[int], judged: Iterable[int], scale: Scale) -> Figures:
    """The figures of one query: *found* are the grades of its results, *judged* those of all judged documents."""
    ideal = sorted(judged, reverse=True)
    right = sum(grade >= scale.least_right for grade in ideal)
    places = [place for place, grade in enumerate(found[:DEPTH], 1) if grade >= scale.least_right]
    first = places[0] if places and places[0] <= _FIRST else 0
    precisions = [count / place for count, place in enumerate(places, 1)]
    return {
        "ndcg@10": _discounted(found, scale) / max(_discounted(ideal, scale), 1e-9),
        "map": sum(precisions) / max(right, 1),
        "mrr": 1 / first if first else 0.0,
        "s@1": float(first == 1),
        "s@10": float(first > 0),
        "p@10": sum(place <= _FIRST for place in places) / _FIRST,
        "r@100": sum(place <= 100 for place in places) / max(right, 1),
    }


def mean_figures(queries: Iterable[Mapping[str, float]]) -> Figures:
    """The mean of every figure over queries."""
    rows = list(queries)
    return {name: fmean(row[name] for row in rows) if rows else 0.0 for name in METRICS}


def _discounted(grades: Sequence[int], scale: Scale) -> float:
    """The gains of the first ten, divided by the logarithm of their place."""
    return sum(scale.gain(grade) / math.log2(place + 1) for place, grade in enumerate(grades[:_FIRST], 1))
