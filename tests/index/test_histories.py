"""After any history of crawls, an index of updates equals an index that was built at once."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from index.content import content_of, matches_of
from index.histories import WORDS, History
from index.live import live_index, problems_of
from periplus.index.planning import lineage
from periplus.index.storage import parts
from periplus.store.collection import Collection
from periplus.text.analyzer import terms
from search.library import index, opened, urls

_QUERIES = ("harbour", "lighthouse reef", "merging", '"deep water"', "haus", "word3 OR word4", "title:tide", "C++")
_SEARCHED = sorted({term for word in WORDS for language in ("en", "de", "other") for term in terms(language, word)})


def top(collection: Collection) -> list[list[str]]:
    """The first ten results of some queries."""
    with opened(collection) as engine:
        return [urls(engine.search(query, size=10)) for query in _QUERIES]


def check(home: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> float:
    """Compare updates with a full build; returns the share of the first ten results that both have."""
    chance = random.Random(seed)
    monkeypatch.setattr(lineage, "MOST_REMOVED", math.inf)
    monkeypatch.setattr(lineage, "MOST_NEW", math.inf)
    monkeypatch.setattr(parts, "_SMALL", chance.choice([1, 4, 1_000]))
    history = History(home, chance)
    collection = history.begin(chance.randint(1, 30))
    index(collection, vectors=False)
    for _ in range(3):
        assert index(history.step(), vectors=False).build in {"update", "none"}
    updated = live_index(collection)
    content, matches, ranked = content_of(updated), matches_of(updated, _SEARCHED), top(collection)
    assert problems_of(updated) == []
    assert index(collection, vectors=False, full=True).build == "full"
    rebuilt = live_index(collection)
    assert content == content_of(rebuilt), f"seed {seed}"
    assert matches == matches_of(rebuilt, _SEARCHED), f"seed {seed}"
    return overlap(ranked, top(collection))


def overlap(one: list[list[str]], other: list[list[str]]) -> float:
    shares = [len(set(a) & set(b)) / len(b) for a, b in zip(one, other, strict=True) if b]
    return sum(shares) / len(shares)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 20, 4))
def test_updates_give_the_same_index_as_a_full_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    shares = [check(tmp_path / str(seed), seed, monkeypatch) for seed in range(first, first + 4)]
    assert sum(shares) / len(shares) >= 0.95


@pytest.mark.long
def test_two_hundred_histories_give_the_same_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shares = [check(tmp_path / str(seed), seed, monkeypatch) for seed in range(1_000, 1_200)]
    assert sum(shares) / len(shares) >= 0.95
