"""Weights are measured on queries that they were not learned from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from unittest import mock

import pytest

from evaluation.harbours import PLACES, pages, write_queries
from periplus.config import Settings
from periplus.evaluation.evaluate import Evaluation, JudgedIndex
from periplus.evaluation.judgements import JudgedQuery, Judgements, read_judgements
from periplus.evaluation.metrics import METRICS
from periplus.evaluation.tuning import Tuner, Tuning
from search.library import index, shelve


def evaluation(mrr: float, ndcg: float) -> Evaluation:
    return Evaluation("default", {"1": dict.fromkeys(METRICS, 0.0) | {"mrr": mrr, "ndcg@10": ndcg}}, {})


@pytest.mark.parametrize(
    ("mrr", "ndcg", "wins"),
    [(0.6, 0.5, True), (0.5, 0.6, True), (0.5, 0.5, False), (0.7, 0.4, False), (0.4, 0.7, False)],
)
def test_weights_win_when_one_figure_rises_and_none_falls(mrr: float, ndcg: float, *, wins: bool) -> None:
    assert Tuning({}, evaluation(0.5, 0.5), evaluation(mrr, ndcg)).wins is wins


def test_no_query_is_measured_with_weights_from_its_own_fold(tmp_path: Path) -> None:
    collection = shelve(tmp_path / "home", pages())
    index(collection)
    judged_index = JudgedIndex(collection)
    judged = read_judgements(write_queries(tmp_path), None, judged_index.key)
    tuner = Tuner(judged_index, Settings())
    taught: list[set[str]] = []
    measured: list[set[str]] = []
    learn, measure = tuner.learn, tuner._measured

    def learning(queries: Sequence[JudgedQuery]) -> dict[str, float]:
        taught.append({query.id for query in queries})
        return learn(queries)

    def measuring(judgements: Judgements, weights: Mapping[str, float]) -> Evaluation:
        measured.append({query.id for query in judgements.queries})
        return measure(judgements, weights)

    with mock.patch.multiple(tuner, learn=learning, _measured=measuring):
        found = tuner.cross_validate(judged, 4)
    for teachers, held_out in zip(taught[:4], measured[:4], strict=True):
        assert not teachers & held_out
        assert len(teachers | held_out) == len(PLACES)
    assert set(found.after.per_query) == {query.id for query in judged.queries}
