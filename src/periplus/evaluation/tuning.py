"""Learns the weights of the ranking on one half of the judged queries, and measures them on the other half."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from periplus.config import Settings
from periplus.errors import UsageError
from periplus.evaluation.evaluate import OURS, Evaluation, JudgedIndex, evaluate
from periplus.evaluation.judgements import DEV, TRAIN, JudgedQuery, Judgements
from periplus.evaluation.learner import Example, learn
from periplus.search.scoring.score import FEATURES

KEPT = ("rank", "freshness")  # few judged sets can teach these
L2 = 0.01
FEWEST_QUERIES = 10  # in each half
_CANDIDATES = 200  # of a query that weights are learned from
_DIGITS = 4
_DECISIVE = ("mrr", "ndcg@10")
_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class Tuning:
    """Learned weights, and the figures of some queries with the weights before and after."""

    weights: Mapping[str, float]
    before: Evaluation
    after: Evaluation
    learned: tuple[Evaluation, Evaluation] | None = field(default=None)  # before and after, of the training queries

    @property
    def wins(self) -> bool:
        """Whether neither MRR nor nDCG fell, and one of them rose."""
        gains = [self.after.means[name] - self.before.means[name] for name in _DECISIVE]
        return min(gains) >= -_EQUAL and max(gains) > _EQUAL


class Tuner:
    """Learns weights for one index."""

    def __init__(self, index: JudgedIndex, settings: Settings, keep: Sequence[str] = KEPT, l2: float = L2) -> None:
        self._index, self._settings, self._keep, self._l2 = index, settings, keep, l2
        self._examples: dict[str, Example] = {}

    def tune(self, judgements: Judgements) -> Tuning:
        """Learns on the half `train` and measures the half `dev`."""
        train, held_out = judgements.split(TRAIN), judgements.split(DEV)
        _require_enough(train, held_out)
        weights = self.learn(train.queries)
        learned = self._measured(train, {}), self._measured(train, weights)
        return Tuning(weights, self._measured(held_out, {}), self._measured(held_out, weights), learned)

    def cross_validate(self, judgements: Judgements, folds: int) -> Tuning:
        """Measures each fold with the weights learned on the others; the weights returned are learned on all."""
        ordered = sorted(judgements.queries, key=lambda query: hashlib.sha256(query.id.encode()).digest())
        if len(ordered) < 2 * folds:
            raise UsageError(f"{len(ordered)} queries are too few for {folds} folds", hint="Each fold needs two.")
        after: dict[str, dict[str, float]] = {}
        for fold in range(folds):
            weights = self.learn([query for place, query in enumerate(ordered) if place % folds != fold])
            after |= self._measured(judgements.only(ordered[fold::folds]), weights).per_query
        before = self._measured(judgements, {})
        in_order = {name: after[name] for name in before.per_query}
        return Tuning(self.learn(ordered), before, Evaluation(OURS, in_order, before.groups))

    def learn(self, queries: Sequence[JudgedQuery]) -> dict[str, float]:
        """The weights that fit these queries best, to four digits after the point."""
        self._read([query for query in queries if query.id not in self._examples])
        current = {name: float(getattr(self._settings.ranking, name)) for name in FEATURES}
        found = learn([self._examples[query.id] for query in queries], current, self._keep, self._l2)
        return {name: round(weight, _DIGITS) for name, weight in found.items()}

    def _read(self, queries: Sequence[JudgedQuery]) -> None:
        with self._index.engine(self._settings) as engine:
            for query in queries:
                found = engine.features(query.text, _CANDIDATES)
                keys = [self._index.key_of(one.number, engine) for one in found]
                grades = np.array([query.grades.get(key, 0) for key in keys], np.int64)
                rows = np.array([one.features for one in found]).reshape(len(found), len(FEATURES))
                self._examples[query.id] = Example(rows, grades)

    def _measured(self, judgements: Judgements, weights: Mapping[str, float]) -> Evaluation:
        ranking = self._settings.ranking.model_copy(update=dict(weights))
        settings = self._settings.model_copy(update={"ranking": ranking})
        return evaluate(self._index, judgements, [OURS], settings)[OURS]


def _require_enough(train: Judgements, held_out: Judgements) -> None:
    fewest = min(len(train.queries), len(held_out.queries))
    if fewest < FEWEST_QUERIES:
        raise UsageError(
            f"{fewest} judged queries in one half are too few to learn from",
            f"each half needs {FEWEST_QUERIES}",
            "Judge more queries.",
        )
