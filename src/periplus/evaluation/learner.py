"""Learns the weights of features from graded candidates.

The model is listwise: the softmax of the scores of one query should equal the distribution of the gains 2^grade - 1
over its candidates. The loss is their cross entropy, plus a penalty on the squares of the weights of standardised
features. Newton's method finds the minimum. A weight that would get the wrong sign is set to 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from periplus.search.open_index import Numbers
from periplus.search.scoring.score import FEATURES

_LOWERING = frozenset({"generated"})  # features that may only lower a score; all others may only raise it
_LEAST_DEVIATION = 0.05  # a feature that varies less gets a smaller weight, not a huge one
_STEPS, _SMALLEST_STEP, _PRECISION = 100, 1e-4, 1e-10


class Example(NamedTuple):
    """The candidates of one query."""

    features: Numbers  # one row per candidate, in the order of `FEATURES`
    grades: NDArray[np.int64]


def learn(
    examples: Sequence[Example], current: Mapping[str, float], keep: Sequence[str], l2: float
) -> dict[str, float]:
    """The best weights; those of *keep* stay as they are, as do weights of features that are the same everywhere."""
    useful = [one for one in examples if one.grades.any() and len(one.grades) > 1]
    if not useful:
        return dict(current)
    matrix = np.concatenate([one.features for one in useful])
    deviations = matrix.std(axis=0)
    weights = np.array([current[name] for name in FEATURES])
    is_free = ~np.isin(FEATURES, keep) & (deviations > 1e-9)
    scales = np.maximum(deviations[is_free], _LEAST_DEVIATION)
    loss = _Loss(
        matrix=matrix[:, is_free] / scales,
        offsets=matrix[:, ~is_free] @ weights[~is_free],
        targets=np.concatenate([_shares(one.grades) for one in useful]),
        starts=np.cumsum([0, *(len(one.grades) for one in useful[:-1])]),
        l2=l2,
    )
    weights[is_free] = _with_signs(loss, np.where(np.isin(FEATURES, list(_LOWERING)), -1.0, 1.0)[is_free]) / scales
    return {**current, **dict(zip(FEATURES, weights.tolist(), strict=True))}


def _shares(grades: NDArray[np.int64]) -> Numbers:
    gains = 2.0**grades - 1.0
    shares: Numbers = gains / gains.sum()
    return shares


class _Loss:
    """The cross entropy as a function of the weights."""

    def __init__(
        self, matrix: Numbers, offsets: Numbers, targets: Numbers, starts: NDArray[np.intp], l2: float
    ) -> None:
        """*starts*: the first row of each query; *offsets*: the part of each score that is not learned."""
        self._matrix, self._offsets, self._targets, self._starts, self._l2 = matrix, offsets, targets, starts, l2
        self._sizes = np.diff(np.append(starts, len(matrix)))
        self.size = matrix.shape[1]

    def only(self, columns: NDArray[np.intp]) -> _Loss:
        """The same loss with some of the features."""
        return _Loss(self._matrix[:, columns], self._offsets, self._targets, self._starts, self._l2)

    def value(self, weights: Numbers) -> float:
        """The loss."""
        scores = self._matrix @ weights + self._offsets
        largest = np.maximum.reduceat(scores, self._starts)
        sums = np.add.reduceat(np.exp(scores - np.repeat(largest, self._sizes)), self._starts)
        entropy = (np.log(sums) + largest).sum() - self._targets @ scores
        return float(entropy / len(self._starts) + self._l2 / 2 * weights @ weights)

    def newton_step(self, weights: Numbers) -> Numbers:
        """The inverse of the Hessian times the gradient."""
        scores = self._matrix @ weights + self._offsets
        powers = np.exp(scores - np.repeat(np.maximum.reduceat(scores, self._starts), self._sizes))
        shares = powers / np.repeat(np.add.reduceat(powers, self._starts), self._sizes)
        weighted = self._matrix * shares[:, None]
        means = np.add.reduceat(weighted, self._starts, axis=0)
        count = len(self._starts)
        gradient = (means.sum(axis=0) - self._targets @ self._matrix) / count + self._l2 * weights
        hessian = (weighted.T @ self._matrix - means.T @ means) / count + self._l2 * np.eye(self.size)
        return np.linalg.solve(hessian, gradient)


def _minimum(loss: _Loss) -> Numbers:
    """The weights with the smallest loss; a step that would raise the loss is halved."""
    weights = np.zeros(loss.size)
    value = loss.value(weights)
    for _ in range(_STEPS):
        step, share = loss.newton_step(weights), 1.0
        while (new := loss.value(weights - share * step)) > value and share > _SMALLEST_STEP:
            share /= 2
        if value - new < _PRECISION:
            break
        weights, value = weights - share * step, new
    return weights


def _with_signs(loss: _Loss, signs: Numbers) -> Numbers:
    """The best weights of the right sign: leaves out the feature with the most wrong weight until none is wrong."""
    columns = np.arange(loss.size)
    while len(columns):
        weights = _minimum(loss.only(columns)) * signs[columns]
        if weights.min() >= 0.0:
            break
        columns = np.delete(columns, weights.argmin())
    found = np.zeros(loss.size)
    if len(columns):
        found[columns] = weights * signs[columns]
    return found
