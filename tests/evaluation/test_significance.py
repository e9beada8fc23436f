"""A difference is called significant only when chance does not explain it."""

from __future__ import annotations

import pytest

from periplus.evaluation.significance import compare


def test_equal_rankings_do_not_differ() -> None:
    found = compare([0.5, 1.0], [0.5, 1.0])
    assert (found.difference, found.p, found.better, found.worse) == (0.0, 1.0, 0, 0)


def test_a_clear_difference_is_significant() -> None:
    found = compare([0.1] * 20, [0.9] * 20)
    assert found.difference == pytest.approx(0.8)
    assert found.p < 0.001
    assert str(found) == "+0.8000, p < 0.0001, 20 better, 0 worse"


def test_a_difference_as_often_up_as_down_is_not() -> None:
    found = compare([0.0, 1.0] * 10, [1.0, 0.0] * 10)
    assert found.p > 0.5
    assert (found.better, found.worse) == (10, 10)


def test_few_queries_prove_nothing() -> None:
    assert compare([0.0] * 3, [1.0] * 3).p == pytest.approx(0.25, abs=0.02)


def test_the_test_is_the_same_in_every_run() -> None:
    assert compare([0.1, 0.4, 0.3], [0.2, 0.3, 0.9]) == compare([0.1, 0.4, 0.3], [0.2, 0.3, 0.9])
