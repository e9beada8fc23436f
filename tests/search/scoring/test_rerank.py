"""Other weights give the order that a search with these weights has, and the needed weight is the nearest one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from periplus.config import Ranking
from periplus.model import FeatureRow, FeatureTable
from periplus.search.scoring.rerank import LARGEST_WEIGHT, needed_weights, rerank, weights_of
from periplus.search.scoring.score import FEATURES
from periplus.store.collection import Collection
from search.library import Doc, index, opened, shelve

OTHER = {"text": 0.2, "title": 5.0, "length": -1.5, "site": 0.0, "crowding": 0.7, "per_host": 1}


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """Pages of one large host and some small ones; several are equal but for their URLs."""
    home: Path = tmp_path_factory.mktemp("many")
    docs = []
    for number in range(120):
        host = "big.test" if number % 3 else f"h{number % 7}.test"
        title = f"Harbour {number}" if number % 5 == 0 else "Page"
        docs.append(Doc(f"http://{host}/{number}", title, f"harbour {'and more ' * (number % 13)}"))
    found = shelve(home, docs)
    index(found)
    return found


@pytest.mark.parametrize("query", ["harbour", "harbour page", "harbour site:big.test", "site:big.test"])
@pytest.mark.parametrize("changes", [{}, OTHER], ids=["configured", "other"])
def test_the_order_is_that_of_a_search_with_these_weights(
    collection: Collection, query: str, changes: dict[str, float]
) -> None:
    flags = {f"ranking__{name}": value for name, value in changes.items()}
    with (
        opened(collection, ranking__candidates=40) as usual,
        opened(collection, ranking__candidates=40, **flags) as other,
    ):
        table, hits = usual.feature_table(query, 10_000), other.search(query, size=200).hits
    placed = rerank(table, weights_of(table).model_copy(update=changes))
    assert [one.row.url for one in placed] == [hit.url for hit in hits]
    assert [one.score for one in placed] == pytest.approx([hit.score for hit in hits], abs=1e-9)
    assert len(hits) > 30


def random_table(seed: int, *, crowded: bool) -> FeatureTable:
    values = np.random.default_rng(seed)
    rows = []
    for number in range(25):
        features = dict(zip(FEATURES, values.random(len(FEATURES)).round(2).tolist(), strict=True))
        rows.append(FeatureRow("", 0.0, features, 0.0, "", f"host{number % 6}", number, 0))
    return FeatureTable(dict.fromkeys(FEATURES, 1.0), tuple(rows), 0.4, 1, is_crowded=crowded)


def place_with(table: FeatureTable, number: int, name: str, value: float) -> int:
    found = rerank(table, weights_of(table).model_copy(update={name: value}))
    return next(place for place, one in enumerate(found, 1) if one.row.number == number)


@pytest.mark.parametrize("crowded", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_the_needed_weight_is_the_nearest_that_lifts_a_page_to_the_first_three(seed: int, *, crowded: bool) -> None:
    table = random_table(seed, crowded=crowded)
    number = rerank(table, weights_of(table))[9].row.number
    needed = needed_weights(table, weights_of(table), number)
    for name in FEATURES[:6]:
        nearer = abs(needed[name] - 1.0) if name in needed else 60.0
        steps = np.arange(0.05, nearer - 2e-4, 0.25)
        lifted = [step for step in (*steps, *-steps) if place_with(table, number, name, 1.0 + step) <= 3]
        assert lifted == []
        if name in needed:
            assert place_with(table, number, name, needed[name]) <= 3
            assert abs(needed[name]) <= LARGEST_WEIGHT
    assert needed


def test_no_weight_lifts_a_page_that_is_worse_in_everything() -> None:
    rows = [
        FeatureRow("", 0.0, dict.fromkeys(FEATURES, 1.0 - place / 10), 0.0, "", f"host{place}", place)
        for place in range(6)
    ]
    rows += [
        FeatureRow("", 0.0, dict.fromkeys(FEATURES, 2.0 - place / 10), 0.0, "", f"late{place}", 6 + place, 1)
        for place in range(5)
    ]
    table = FeatureTable(dict.fromkeys(FEATURES, 1.0), tuple(rows), 0.1, 2)
    # All features change together, so one of them has to become negative and outweigh the other 21.
    assert needed_weights(table, Ranking(), 10) == {}, "a page of the second block stays behind the first block"
    assert all(value < -20.0 for value in needed_weights(table, weights_of(table), 5).values())
