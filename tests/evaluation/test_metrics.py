"""The figures agree with their definitions."""

from __future__ import annotations

import math

import pytest

from periplus.evaluation.metrics import METRICS, Scale, figures, mean_figures

BINARY = Scale(1)
GRADED = Scale(2, exponential=True)


def test_the_best_order_scores_one() -> None:
    found = figures([3, 2, 1, 0], [1, 2, 3], GRADED)
    assert (found["ndcg@10"], found["map"], found["mrr"], found["s@1"], found["s@10"]) == (1, 1, 1, 1, 1)
    assert found["p@10"] == pytest.approx(0.2)
    assert found["r@100"] == 1


def test_a_right_page_in_third_place() -> None:
    found = figures([0, 1, 2, 3], [3, 2, 1], GRADED)
    gains = 1 / math.log2(3) + 3 / math.log2(4) + 7 / math.log2(5)
    assert found["ndcg@10"] == pytest.approx(gains / (7 + 3 / math.log2(3) + 1 / math.log2(4)))
    assert found["mrr"] == pytest.approx(1 / 3)
    assert found["map"] == pytest.approx((1 / 3 + 2 / 4) / 2)
    assert (found["s@1"], found["s@10"]) == (0, 1)


def test_gains_of_trec_are_the_grades() -> None:
    found = figures([1, 2], [2, 1], BINARY)
    assert found["ndcg@10"] == pytest.approx((1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3)))


def test_only_ten_results_count_for_mrr_but_more_for_recall() -> None:
    found = figures([0] * 10 + [1], [1], BINARY)
    assert (found["mrr"], found["s@10"], found["p@10"], found["ndcg@10"]) == (0, 0, 0, 0)
    assert found["r@100"] == 1
    assert found["map"] == pytest.approx(1 / 11)
    assert figures([0] * 100 + [1], [1], BINARY)["r@100"] == 0


def test_right_pages_that_were_not_found_lower_recall_and_map() -> None:
    found = figures([1], [1, 1], BINARY)
    assert (found["r@100"], found["map"], found["mrr"]) == (0.5, 0.5, 1)


def test_no_results_score_zero() -> None:
    assert set(figures([], [1], BINARY).values()) == {0.0}


def test_means_are_over_queries() -> None:
    means = mean_figures([figures([1], [1], BINARY), figures([], [1], BINARY)])
    assert tuple(means) == METRICS
    assert means["mrr"] == 0.5
