"""Images over shards have the scores and the order that they have in one index."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from periplus.model import Image
from periplus.search.engine import SearchEngine
from search.library import Doc, give_ranks, index, settings, shelve
from search.shards.generated import SHARDS, Both, vocabulary

pytestmark = pytest.mark.slow
WORDS = vocabulary(60)


def documents() -> list[Doc]:
    """Pages of one language with an image each; all texts are equally long, so that mean lengths are the same."""
    chance, weights = random.Random(7), [1.0 / (rank + 2) for rank in range(len(WORDS))]

    def some(size: int) -> str:
        return " ".join(chance.choices(WORDS, weights, k=size))

    images = ((Image(f"http://img.test/{number}.png", some(4)),) for number in range(160))
    return [
        Doc(f"http://host{number % 9}.test/{number}", some(3), some(12), language="en", images=image)
        for number, image in enumerate(images)
    ]


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    opened = [_engine(tmp_path_factory.mktemp("pictures"), shards) for shards in (1, SHARDS)]
    yield Both(*opened)
    for engine in opened:
        engine.close()


def _engine(folder: Path, shards: int) -> SearchEngine:
    docs, chance = documents(), random.Random(3)
    collection = shelve(folder / "home", docs, reparsed=True)
    give_ranks(collection, {doc.url: chance.paretovariate(1.2) for doc in docs[::2]}, {})  # the others are equal
    index(collection, shards=shards)
    return SearchEngine.open(collection, settings())


def test_images_over_four_shards_are_in_the_order_of_one_index(pictures: Both) -> None:
    chance, found = random.Random(1), 0
    for _ in range(60):
        query = " ".join(chance.choices(WORDS, k=chance.randint(1, 3)))
        one, shards = (engine.media(query, "image", size=200) for engine in pictures)
        assert [hit.url for hit in shards.hits] == [hit.url for hit in one.hits], query
        assert [hit.score for hit in shards.hits] == pytest.approx([hit.score for hit in one.hits], rel=1e-5)
        found += len(one.hits)
    assert found > 1_000
