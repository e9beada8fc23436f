"""An explanation has the numbers behind the score of one result."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from periplus.search.engine import SearchEngine
from search.library import Doc, give_ranks, index, opened, shelve

LIGHT = "https://a.test/light"
QUERY = "how to light the old harbour"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchEngine]:
    docs = [
        Doc(LIGHT, "Harbour light", "The light of the old harbour. The harbour is old.", headings=("Old light",)),
        Doc("https://a.test/2", "Quay", "An old harbour has a quay."),
        Doc("https://a.test/3", "Mole", "Nothing but a light."),
        *(Doc(f"https://b.test/{n}", f"Page {n}", f"The harbour of page {n}.") for n in range(20)),
    ]
    collection = shelve(tmp_path_factory.mktemp("explanation") / "c", docs)
    give_ranks(collection, {doc.url: 2.0 for doc in docs} | {LIGHT: 9.0})
    index(collection)
    with opened(collection) as searching:
        yield searching


def test_the_explanation_adds_up_to_the_score_of_the_result(engine: SearchEngine) -> None:
    for hit in engine.search(QUERY, size=30, explain=True).hits:
        found = engine.explanation(QUERY, hit.url)
        assert found is not None
        assert (found.url, found.title, found.score, found.parts) == (hit.url, hit.title, hit.score, hit.explain)
        assert sum(found.parts.values()) == found.score
        for name, value in found.features.items():
            assert found.parts[name] == value * found.weights[name]


def test_the_words_are_counted_in_each_field(engine: SearchEngine) -> None:
    found = engine.explanation(QUERY, LIGHT)
    assert found is not None
    assert found.words == 3, "light, old, harbour"
    assert found.words_in == {"title": 2, "headings": 2, "anchors": 0, "url": 1, "body": 3, "page": 3}


def test_the_rank_is_compared_with_that_of_all_pages(engine: SearchEngine) -> None:
    found = engine.explanation(QUERY, LIGHT)
    assert found is not None
    assert found.lower_ranks == pytest.approx(22 / 23)


def test_what_is_no_result_has_no_explanation(engine: SearchEngine) -> None:
    assert engine.explanation(QUERY, "https://nowhere.test/") is None
    assert engine.explanation("quay", LIGHT) is None
    assert engine.explanation("", LIGHT) is None


# --- missing words ---


def test_a_partial_match_names_the_words_it_lacks(engine: SearchEngine) -> None:
    lacks = {hit.url: (hit.all_words, hit.missing) for hit in engine.search(QUERY, size=30).hits}
    assert lacks[LIGHT] == (True, ())
    assert lacks["https://a.test/2"] == (False, ("light",))
    assert lacks["https://a.test/3"] == (False, ("old", "harbour"))


def test_at_most_eight_words_are_looked_up(engine: SearchEngine) -> None:
    many = [f"w{number}" for number in range(20)]
    missing = {hit.missing for hit in engine.search(f"{' '.join(many)} harbour", verbatim=True).hits}
    assert missing == {tuple(many[:8])}


def test_stop_words_are_left_out_and_said(engine: SearchEngine) -> None:
    assert engine.search(QUERY).left_out == ("how", "to", "the")
    assert engine.search("harbour").left_out == ()


# --- pages like a page ---


def test_the_words_of_a_page_find_pages_like_it(engine: SearchEngine) -> None:
    assert "light" in engine.page_words(LIGHT)
    assert engine.page_words("https://nowhere.test/") == []


# --- dates ---


def test_a_result_has_the_date_that_its_page_states(tmp_path: Path) -> None:
    fetched, day = 1_700_000_000.0, 86_400.0
    stated = {
        "published": (fetched - 9 * day, fetched - day, fetched - 9 * day),
        "modified": (None, fetched - 2 * day, fetched - 2 * day),
        "generated": (None, fetched - 60, None),
        "future": (fetched + 2 * day, None, None),
        "undated": (None, None, None),
    }
    docs = [
        Doc(f"https://a.test/{name}", "Harbour", f"Harbour {name}.", at=fetched, published=published, modified=modified)
        for name, (published, modified, _) in stated.items()
    ]
    collection = shelve(tmp_path / "c", docs, reparsed=True)
    index(collection)
    with opened(collection) as engine:
        found = {hit.url.rpartition("/")[2]: hit.date for hit in engine.search("harbour").hits}
    assert found == {name: date for name, (_, _, date) in stated.items()}
