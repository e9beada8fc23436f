"""Says what one page would need to be among the first three results: another weight, or other content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from periplus.config import Ranking
from periplus.model import Explanation, FeatureTable
from periplus.search.scoring.rerank import Placed, needed_weights
from periplus.search.scoring.score import FEATURES
from periplus.web.display import visible
from periplus.web.playground.table import signed
from periplus.web.playground.weights import LABELS, encode
from periplus.web.results.explanations import sentence

TOP = 3
_WEIGHTS_SHOWN = 3
_LACKS_SHOWN = 5
_SMALLEST_LACK = 0.01  # points


class Ordering(NamedTuple):
    """The results of a search, and the weights that order them."""

    table: FeatureTable
    weights: Ranking
    usual: Ranking  # the weights of the site
    base: str  # the address of the search in the playground, with the weights of the site


class NeededWeight(NamedTuple):
    """One weight that would lift the page."""

    name: str
    label: str
    before: str
    after: str
    change: str
    link: str


class Lack(NamedTuple):
    """One feature that the page at the third place has more of."""

    here: str  # what it is on the chosen page
    there: str  # and on the third one
    points: str


class Needs(NamedTuple):
    """What a page needs, for the template."""

    title: str
    rank: int
    weights: tuple[NeededWeight, ...]
    lacks: tuple[Lack, ...]
    third: str  # the title of the page at the third place


def needs(
    ordering: Ordering,
    placed: Sequence[Placed],
    rank: int,
    explained: tuple[Explanation | None, Explanation | None],
) -> Needs:
    """What the page at *rank* of *placed* needs; *explained*: that page and the third one."""
    table, weights = ordering.table, ordering.weights
    row, (here, there) = placed[rank - 1].row, explained
    if rank <= TOP:
        return Needs(_title(placed, rank), rank, (), (), "")
    found = needed_weights(table, weights, row.number)
    nearest = sorted(found, key=lambda name: abs(found[name] - getattr(weights, name)))[:_WEIGHTS_SHOWN]
    shown = tuple(_needed(name, found[name], ordering) for name in nearest)
    lacks = _lacks(here, there, weights) if here and there else ()
    return Needs(_title(placed, rank), rank, shown, lacks, _title(placed, TOP))


def _title(placed: Sequence[Placed], rank: int) -> str:
    row = placed[rank - 1].row
    return visible(row.title).strip() or visible(row.url)


def _needed(name: str, value: float, ordering: Ordering) -> NeededWeight:
    before = getattr(ordering.weights, name)
    changed = ordering.weights.model_copy(update={name: value})
    link = f"{ordering.base}&w={encode(changed, ordering.usual)}"
    return NeededWeight(name, LABELS[name], _shown(before), _shown(value), signed(value - before), link)


def _shown(weight: float) -> str:
    return f"{weight:g}".replace("-", "\N{MINUS SIGN}")


def _lacks(here: Explanation, there: Explanation, weights: Ranking) -> tuple[Lack, ...]:
    """The features that the third page gets more points for, most points first."""
    points = {name: getattr(weights, name) * (there.features[name] - here.features[name]) for name in FEATURES}
    most = sorted((name for name in FEATURES if points[name] >= _SMALLEST_LACK), key=lambda name: -points[name])
    return tuple(Lack(_says(here, name), _says(there, name), signed(points[name])) for name in most[:_LACKS_SHOWN])


def _says(found: Explanation, name: str) -> str:
    """What a feature says; a page that is no source listing has no sentence for that."""
    is_no_listing = name == "generated" and not found.features[name]
    return "No source listing, index or release notes" if is_no_listing else sentence(found, name)
