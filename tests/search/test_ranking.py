"""A reader's raised sites come earlier, lowered sites later; nothing else about the results changes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from periplus.search.engine import SearchEngine
from periplus.search.reload import ReloadingEngine
from periplus.store.collection import Collection
from search.library import Doc, index, opened, settings, shelve

HOSTS = ("a.test", "docs.b.test", "c.test")
QUERY = "old harbour"


def docs() -> list[Doc]:
    """On every host a page that has all words in its title, and one with all words in its text."""
    return [
        doc
        for place, host in enumerate(HOSTS)
        for doc in (
            Doc(f"https://{host}/best", "Old harbour " + place * "and more ", f"The old harbour of {host}."),
            Doc(
                f"https://{host}/other", f"Quay {place}", f"A quay. {host} has an old harbour too. " + place * "Rope. "
            ),
        )
    ]


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    collection = shelve(tmp_path_factory.mktemp("boosts") / "c", docs())
    index(collection)
    return collection


@pytest.fixture(scope="module")
def engine(collection: Collection) -> Iterator[SearchEngine]:
    with opened(collection) as searching:
        yield searching


def hosts(engine: SearchEngine, **boosts: float) -> list[str]:
    """The hosts of the results in order; *boosts* by host, with _ for a dot."""
    named = tuple((host.replace("_", "."), points) for host, points in boosts.items())
    return [hit.host for hit in engine.search(QUERY, site_boosts=named).hits]


def test_a_raised_site_comes_first_and_a_lowered_site_last(engine: SearchEngine) -> None:
    plain = hosts(engine)
    assert sorted(plain) == sorted(2 * HOSTS)
    assert hosts(engine, c_test=50.0)[:2] == ["c.test", "c.test"]
    assert hosts(engine, a_test=-50.0)[-2:] == ["a.test", "a.test"]
    assert hosts(engine, c_test=0.0) == plain


def test_a_preference_applies_to_subdomains_and_the_longest_name_wins(engine: SearchEngine) -> None:
    assert hosts(engine, b_test=50.0)[:2] == 2 * ["docs.b.test"]
    assert hosts(engine, b_test=50.0, docs_b_test=-50.0)[-2:] == 2 * ["docs.b.test"]
    assert hosts(engine, cs_b_test=50.0) == hosts(engine), "cs.b.test is not the parent of docs.b.test"
    assert hosts(engine, test=0.0, est=50.0) == hosts(engine)


def test_preferences_do_not_add_or_remove_results(engine: SearchEngine) -> None:
    plain = engine.search("quay", size=10)
    found = engine.search("quay", size=10, site_boosts=(("c.test", 9.0), ("a.test", -9.0)))
    assert found.total == plain.total == 3
    assert {hit.url for hit in found.hits} == {hit.url for hit in plain.hits}


def test_the_parts_of_a_score_with_a_preference_add_up(engine: SearchEngine) -> None:
    boosts = (("b.test", 2.0), ("a.test", -2.0))
    found = engine.search(QUERY, explain=True, site_boosts=boosts)
    table = {row.url: row for row in engine.feature_table(QUERY, 10, site_boosts=boosts).rows}
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    for hit in found.hits:
        points = {"docs.b.test": 2.0, "a.test": -2.0}.get(hit.host)
        assert hit.explain.get("preference") == points
        assert sum(hit.explain.values()) == hit.score
        explained = engine.explanation(QUERY, hit.url, site_boosts=boosts)
        assert explained is not None
        assert (explained.parts, explained.score) == (hit.explain, hit.score)
        assert (table[hit.url].boost, table[hit.url].score) == (points or 0.0, hit.score)
    assert all("preference" not in hit.explain for hit in engine.search(QUERY, explain=True).hits)


def test_readers_with_other_preferences_never_get_each_others_answers(collection: Collection) -> None:
    engine = ReloadingEngine(collection, settings())
    try:
        answers = [
            [hit.url for hit in engine.search(QUERY, site_boosts=boosts).hits]
            for boosts in 2 * [(), (("c.test", 50.0),), (("c.test", -50.0),)]
        ]
    finally:
        engine.close()
    assert answers[:3] == answers[3:]
    assert len({tuple(urls) for urls in answers}) == 3
