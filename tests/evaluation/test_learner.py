"""Weights are learned from grades."""

from __future__ import annotations

import numpy as np
import pytest

from periplus.evaluation.learner import Example, learn
from periplus.search.scoring.score import FEATURES

CURRENT = dict.fromkeys(FEATURES, 0.5)
QUERIES, CANDIDATES = 60, 20
CHANGED = ("title", "text", "language")  # "language" is the same everywhere


def examples(seed: int = 1, **effects: float) -> list[Example]:
    """Queries whose best page is the one with the largest sum of *effects* times features."""
    generator = np.random.default_rng(seed)
    truth = np.array([effects.get(name, 0.0) for name in FEATURES])
    found = []
    for _ in range(QUERIES):
        features = generator.normal(size=(CANDIDATES, len(FEATURES)))
        features[:, FEATURES.index("language")] = 1.0
        noise = generator.gumbel(size=CANDIDATES)
        grades = np.zeros(CANDIDATES, np.int64)
        grades[np.argmax(features @ truth + noise)] = 3
        found.append(Example(features, grades))
    return found


def test_features_of_right_pages_gain_weight() -> None:
    weights = learn(examples(title=2.0, text=1.0), CURRENT, (), 0.01)
    assert weights["title"] == pytest.approx(2.0, abs=0.7)
    assert weights["text"] == pytest.approx(1.0, abs=0.5)
    assert weights["title"] > weights["text"] > max(weights[name] for name in FEATURES if name not in CHANGED)


def test_no_weight_gets_the_wrong_sign() -> None:
    weights = learn(examples(title=2.0, url=-2.0, generated=2.0), CURRENT, (), 0.01)
    assert (weights["url"], weights["generated"]) == (0.0, 0.0)
    assert weights["title"] > 0.5
    lowering = learn(examples(title=2.0, generated=-2.0), CURRENT, (), 0.01)
    assert lowering["generated"] < -0.5


def test_a_weight_is_kept_on_request_or_when_the_feature_never_varies() -> None:
    weights = learn(examples(title=2.0), CURRENT, ("rank",), 0.01)
    assert (weights["rank"], weights["language"]) == (0.5, 0.5)


def test_a_kept_weight_is_taken_into_account() -> None:
    """A feature that another one repeats gets no weight when that other one is kept and strong enough."""
    found = examples(title=2.0)
    for one in found:
        one.features[:, FEATURES.index("url")] = one.features[:, FEATURES.index("title")]
    weights = learn(found, CURRENT | {"title": 2.0}, ("title",), 0.01)
    assert weights["url"] < 0.5


def test_regularisation_makes_weights_smaller() -> None:
    found = examples(title=2.0)
    assert learn(found, CURRENT, (), 10.0)["title"] < 0.3 < learn(found, CURRENT, (), 0.01)["title"]


def test_a_feature_that_hardly_varies_gets_no_huge_weight() -> None:
    found = examples(title=2.0, front=2.0)
    for one in found:
        one.features[:, FEATURES.index("front")] *= 1e-4
    assert learn(found, CURRENT, (), 0.01)["front"] < 10.0


def test_the_same_examples_give_the_same_weights() -> None:
    assert learn(examples(title=1.0), CURRENT, (), 0.01) == learn(examples(title=1.0), CURRENT, (), 0.01)


def test_queries_without_a_right_candidate_teach_nothing() -> None:
    nothing = [Example(one.features, np.zeros_like(one.grades)) for one in examples()]
    assert learn(nothing, CURRENT, (), 0.01) == CURRENT
    assert learn([], CURRENT, (), 0.01) == CURRENT
    found = examples(title=2.0)
    empty = Example(np.zeros((0, len(FEATURES))), np.zeros(0, np.int64))
    assert learn([*found, *nothing, empty], CURRENT, (), 0.01) == learn(found, CURRENT, (), 0.01)


def test_huge_features_do_not_overflow() -> None:
    found = [Example(one.features * 1e6, one.grades) for one in examples(title=2.0)]
    weights = learn(found, CURRENT, (), 0.01)
    assert all(np.isfinite(weight) for weight in weights.values())
    assert weights["title"] > 0
