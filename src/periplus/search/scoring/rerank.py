"""Orders the results of one query by other weights, and finds the weight that would lift one of them.

The candidates stay those of the query: only their order changes. The site computes the same order in the browser
(`site/static/playground.js`); a test compares both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from periplus.config import Ranking
from periplus.model import FeatureRow, FeatureTable
from periplus.search.open_index import Integers, Numbers
from periplus.search.scoring.score import FEATURES, MOST_CROWDED, ordered, scores_of

LARGEST_WEIGHT = 100.0  # that a reader may try; negative weights down to its opposite
_DIGITS = 4  # after the point, of a weight that is found
_MOST_TRIED = 200  # values of one weight that are tried
_TOP = 3  # results that a page is lifted to


class Placed(NamedTuple):
    """A result at its place in the new order."""

    row: FeatureRow
    score: float  # with crowding
    crowding: float


def weights_of(table: FeatureTable) -> Ranking:
    """The weights that the table was computed with."""
    return Ranking.model_validate({**table.weights, "crowding": table.crowding, "per_host": table.per_host})


def rerank(table: FeatureTable, weights: Ranking) -> list[Placed]:
    """The results in the order of other weights; a block of candidates stays before the next, as in a search."""
    blocks = sorted({row.block for row in table.rows})
    parts = ([row for row in table.rows if row.block == block] for block in blocks)
    return [one for rows in parts for one in _Block(rows, crowded=table.is_crowded).placed(weights)]


def needed_weights(table: FeatureTable, weights: Ranking, number: int) -> dict[str, float]:
    """By feature: the value of its weight, nearest to the present one, that lifts a page to the first three.

    *number* is that of its document. A feature is missing when no value does, with all other weights as they are.
    """
    chosen = next(row for row in table.rows if row.number == number)
    places = _TOP - sum(row.block < chosen.block for row in table.rows)
    rows = [row for row in table.rows if row.block == chosen.block]
    lifter = _Lifter(_Block(rows, crowded=table.is_crowded), weights, rows.index(chosen), places)
    found = ((name, lifter.needed(column)) for column, name in enumerate(FEATURES))
    return {name: value for name, value in found if value is not None}


class _Block:
    """The results of one block of candidates as arrays."""

    def __init__(self, rows: Sequence[FeatureRow], *, crowded: bool) -> None:
        self.rows, self.is_crowded = rows, crowded
        self.matrix: Numbers = np.array([[row.features.get(name, 0.0) for name in FEATURES] for row in rows])
        self.numbers: Integers = np.array([row.number for row in rows], np.int64)
        self.hosts = [row.host for row in rows]

    def placed(self, weights: Ranking) -> list[Placed]:
        """The results in their order."""
        scores = scores_of(self.matrix, weights)
        order, losses = self.order(scores, weights)
        totals = (scores[order] + losses).tolist()
        rows = [self.rows[place] for place in order]
        return list(map(Placed, rows, totals, losses.tolist()))

    def order(self, scores: Numbers, weights: Ranking) -> tuple[Integers, Numbers]:
        """The places of the results, best first, and what each of them loses."""
        return ordered(scores, self.numbers, self.hosts, weights, crowded=self.is_crowded)


class _Lifter:
    """Finds the weights that lift one page of a block to its first places.

    A weight w + d changes the difference of two scores by d times the difference of their features. So the page passes
    another at one d. What the two lose to crowding can differ by at most three times `crowding`, which gives seven
    such values for every other page. The page changes its place only there.
    """

    def __init__(self, block: _Block, weights: Ranking, page: int, places: int) -> None:
        self._block, self._weights, self._page, self._places = block, weights, page, places
        self._scores = scores_of(block.matrix, weights)
        crowding = weights.crowding if block.is_crowded else 0.0
        self._most_lost = MOST_CROWDED * crowding
        self._differences = crowding * np.arange(-MOST_CROWDED, MOST_CROWDED + 1) if crowding else np.zeros(1)

    def needed(self, column: int) -> float | None:
        """The value of one weight that is nearest to the present one; None when no value lifts the page."""
        values, weight = self._block.matrix[:, column], float(getattr(self._weights, FEATURES[column]))
        for tried, changed in enumerate(self._candidates(values, weight)):
            if tried == _MOST_TRIED:
                break
            if self._is_lifted(self._scores + (changed - weight) * values):
                return changed
        return None

    def _candidates(self, values: Numbers, weight: float) -> Iterator[float]:
        """Weights just beyond the point where the page passes another, nearest first."""
        slopes = values[self._page] - values
        differs = slopes != 0.0
        behind = (self._scores - self._scores[self._page])[differs, None] + self._differences[None, :]
        passing = weight + (behind / slopes[differs, None]).ravel()
        unit = 10.0**-_DIGITS
        above = np.floor(passing[passing >= weight] / unit) + 1.0
        below = np.ceil(passing[passing <= weight] / unit) - 1.0
        changed = np.unique(np.round(np.concatenate((above, below)) * unit, _DIGITS))
        changed = changed[np.argsort(np.abs(changed - weight), kind="stable")]
        changed = changed[np.abs(changed) <= LARGEST_WEIGHT]
        yield from changed[self._may_lift(changed - weight, values)].tolist()

    def _may_lift(self, steps: Numbers, values: Numbers) -> NDArray[np.bool_]:
        """Whether few enough pages are better by more than crowding can take from them."""
        scores = self._scores[None, :] + steps[:, None] * values[None, :]
        ahead = scores - self._most_lost > scores[:, self._page, None]
        return np.asarray(ahead.sum(axis=1) < self._places)

    def _is_lifted(self, scores: Numbers) -> bool:
        order, _ = self._block.order(scores, self._weights)
        return self._page in order[: self._places]
