"""Prepares the results of the playground: rank, score, how far a result moved, and which weights moved it."""

from __future__ import annotations

from typing import Any, NamedTuple

from periplus.config import Ranking
from periplus.model import FeatureTable
from periplus.search.scoring.rerank import Placed, rerank, weights_of
from periplus.search.scoring.score import FEATURES
from periplus.web.display import breadcrumb, visible, web_link
from periplus.web.playground.weights import WEIGHTS

_CAUSES = 2  # weights that are named for a result
_SMALLEST_CAUSE = 0.005  # shown as 0.01


class Row(NamedTuple):
    """One result, for the template."""

    number: int
    rank: int
    url: str
    link: str
    title: str
    host: str
    score: str
    moved: int  # places, upwards
    why: str


def as_json(table: FeatureTable, weights: Ranking, generation: int) -> dict[str, Any]:
    """Everything that a browser needs to order the results itself; numbers have their full precision."""
    usual = weights_of(table)
    return {
        "generation": generation,
        "names": FEATURES,
        "weights": {name: getattr(weights, name) for name in WEIGHTS},
        "usual": {name: getattr(usual, name) for name in WEIGHTS},
        "is_crowded": table.is_crowded,
        "results": [_result(one) for one in rerank(table, weights)],
    }


def _result(one: Placed) -> dict[str, Any]:
    row = one.row
    return {
        "url": row.url,
        "title": row.title or row.url,
        "host": row.host,
        "number": row.number,
        "block": row.block,
        "score": one.score,
        "crowding": one.crowding,
        "features": [row.features.get(name, 0.0) for name in FEATURES],
    }


def rows(table: FeatureTable, weights: Ranking) -> list[Row]:
    """The results in the order of these weights, compared with the order of the site."""
    usual = weights_of(table)
    before = {one.row.number: (rank, one) for rank, one in enumerate(rerank(table, usual), 1)}
    found = []
    for rank, one in enumerate(rerank(table, weights), 1):
        old_rank, old = before[one.row.number]
        found.append(_row(one, rank, old_rank - rank, _causes(one, old, weights, usual)))
    return found


def _row(one: Placed, rank: int, moved: int, why: str) -> Row:
    url, title = one.row.url, visible(one.row.title).strip()
    host = breadcrumb(url)[0] or visible(one.row.host)
    return Row(one.row.number, rank, url, web_link(url), title or visible(url), host, f"{one.score:.4f}", moved, why)


def _causes(one: Placed, old: Placed, weights: Ranking, usual: Ranking) -> str:
    """The parts of the score that changed most, such as `title +0.41`."""
    steps = {name: getattr(weights, name) - getattr(usual, name) for name in FEATURES}
    changes = {name: step * one.row.features.get(name, 0.0) for name, step in steps.items()}
    changes["crowding"] = one.crowding - old.crowding
    largest = sorted(changes, key=lambda name: -abs(changes[name]))[:_CAUSES]
    return ", ".join(f"{name} {signed(changes[name])}" for name in largest if abs(changes[name]) >= _SMALLEST_CAUSE)


def signed(number: float) -> str:
    """The number with its sign and two digits after the point."""
    return f"{number:+.2f}".replace("-", "\N{MINUS SIGN}")
