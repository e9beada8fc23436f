"""Explains lost queries: where the best right page is, and which features put another page first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from periplus.config import Ranking, Settings
from periplus.evaluation.evaluate import JudgedIndex
from periplus.evaluation.judgements import JudgedQuery, Judgements
from periplus.evaluation.metrics import DEPTH
from periplus.search.engine import SearchEngine
from periplus.search.ranking import Scored
from periplus.search.scoring.score import contributions

_LISTED = 5  # features


@dataclass(frozen=True, slots=True)
class Miss:
    """A query whose first result is not right."""

    id: str
    query: str
    first: str | None  # the first result; None: no results
    right: str  # the best right document
    place: int | None  # of the right document; None: it is not among the candidates
    indexed: bool  # whether the right document is in the index
    lost: dict[str, float] = field(default_factory=dict)  # what features cost it against the first result


def misses(index: JudgedIndex, judgements: Judgements, settings: Settings) -> Iterator[Miss]:
    """The lost queries."""
    with index.engine(settings) as engine:
        for query in judgements.queries:
            found = engine.features(query.text, DEPTH)
            grades = [query.grades.get(index.key_of(one.number, engine), 0) for one in found]
            place = next((at for at, grade in enumerate(grades) if grade >= judgements.scale.least_right), None)
            if place != 0:
                yield _miss(query, found, place, settings.ranking, index, engine)


def _miss(
    query: JudgedQuery,
    found: list[Scored],
    place: int | None,
    weights: Ranking,
    index: JudgedIndex,
    engine: SearchEngine,
) -> Miss:
    first = index.name(found[0].number, engine) if found else None
    if place is None:
        right = query.documents[max(query.grades, key=lambda key: query.grades[key])]
        return Miss(query.id, query.text, first, right, None, index.is_indexed(right, engine))
    lost = _lost(found[place], found[0], weights)
    return Miss(query.id, query.text, first, index.name(found[place].number, engine), place + 1, True, lost)


def _lost(one: Scored, other: Scored, weights: Ranking) -> dict[str, float]:
    """The contributions to the score that are smaller than those of another page, the largest loss first."""
    own, better = (contributions(page.features, weights) | {"crowding": page.crowding} for page in (one, other))
    losses = sorted((own[name] - better[name], name) for name in own)
    return {name: loss for loss, name in losses[:_LISTED] if loss < 0}
