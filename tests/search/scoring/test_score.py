"""The score is a weighted sum of the features, and better results of a host hold its other results back a little."""

from __future__ import annotations

import runpy
from types import SimpleNamespace

import numpy as np
import pytest

from periplus.config import Ranking
from periplus.search.scoring import score
from periplus.search.scoring.score import (
    FEATURES,
    contributions,
    crowding,
    feature_matrix,
    ordered,
    scores_of,
    weight_vector,
)

WEIGHTS = Ranking.model_validate({name: 1.0 + place for place, name in enumerate(FEATURES)})


def test_a_contribution_is_the_feature_times_its_weight() -> None:
    row = np.linspace(0.5, 2.0, len(FEATURES))
    found = contributions(row, WEIGHTS)
    assert list(found) == list(FEATURES)
    for place, name in enumerate(FEATURES):
        assert found[name] == row[place] * getattr(WEIGHTS, name)
        doubled = contributions(row, WEIGHTS.model_copy(update={name: 2 * getattr(WEIGHTS, name)}))
        assert doubled == found | {name: 2 * found[name]}


def test_the_score_is_the_sum_of_the_contributions() -> None:
    rows = np.random.default_rng(1).random((5, len(FEATURES)))
    for row, total in zip(rows, rows @ weight_vector(WEIGHTS), strict=True):
        assert sum(contributions(row, WEIGHTS).values()) == pytest.approx(total)


def test_columns_are_in_the_order_of_the_features() -> None:
    columns = {name: np.full(3, float(place)) for place, name in enumerate(FEATURES)}
    assert feature_matrix(dict(reversed(columns.items()))).tolist() == [list(map(float, range(len(FEATURES))))] * 3


def test_a_feature_without_a_weight_fails_at_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("periplus.config.Ranking", SimpleNamespace(model_fields={"text": 1.0}))
    with pytest.raises(TypeError, match="coverage"):
        runpy.run_path(str(score.__file__))


def test_every_feature_is_described() -> None:
    assert score.__doc__
    described = score.__doc__.replace("meaning_*", "meaning_title meaning_headings meaning_opening")
    assert [name for name in (*FEATURES, "crowding") if name not in described] == []


@pytest.mark.parametrize(
    ("hosts", "lost"),
    [
        ([], []),
        ([1, 2, 3], [0, 0, 0]),
        ([1, 1, 2, 1, 1, 2, 2], [0, 0, 0, 1, 2, 0, 1]),
        ([1] * 7, [0, 0, 1, 2, 3, 3, 3]),  # bounded
    ],
)
def test_a_host_loses_a_little_for_every_better_result_beyond_two(hosts: list[int], lost: list[int]) -> None:
    assert crowding(hosts, Ranking(crowding=0.5, per_host=2)) == [-0.5 * times for times in lost]


def test_scores_are_added_in_the_order_of_the_features() -> None:
    """A browser adds them in this order too, and must get the same bits."""
    rows = np.random.default_rng(2).normal(size=(300, len(FEATURES)))
    weights = weight_vector(WEIGHTS)
    expected = []
    for row in rows:
        total = 0.0
        for value, weight in zip(row.tolist(), weights.tolist(), strict=True):
            total += value * weight
        expected.append(total)
    assert scores_of(rows, WEIGHTS).tolist() == expected


def test_of_pages_with_equal_scores_the_lower_number_comes_first() -> None:
    numbers = np.array([7, 3, 9, 1, 5] * 20) + np.repeat(np.arange(20) * 10, 5)
    order, losses = ordered(np.zeros(100), numbers, [0] * 100, Ranking(crowding=0.5, per_host=2), crowded=True)
    assert numbers[order].tolist() == sorted(numbers)
    assert losses[:5].tolist() == [0, 0, -0.5, -1.0, -1.5]
    _, free = ordered(np.zeros(100), numbers, [0] * 100, Ranking(), crowded=False)
    assert not free.any()
