"""Every feature is what its name says; no feature needs the text of a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from periplus.search.engine import SearchEngine
from periplus.search.scoring.score import FEATURES
from search.library import Doc, give_ranks, index, library, opened, shelve

FILLER = "Some words that say nothing about anything at all. "
SITE = [
    Doc(f"http://docs.gimp.org/en/page-{number}.html", f"Topic {number} - GIMP Manual", f"{FILLER}text {number}")
    for number in range(8)
]
PAGES = [
    Doc("http://docs.gimp.org/", "GIMP Manual", "The manual of GIMP. Layer and mask are explained."),
    Doc(
        "http://docs.gimp.org/en/layer-mask.html", "Layer mask - GIMP Manual", "Add a layer mask. A mask hides a layer."
    ),
    Doc("http://docs.gimp.org/en/far.html", "Far - GIMP Manual", f"A layer. {FILLER * 9} A mask."),
    Doc("http://other.test/x", "Other", f"{FILLER} mask", headings=("Layer",)),
    Doc("http://other.test/_modules/mask.html", "Source code for mask", "layer mask = 1\nreturn layer"),
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchEngine]:
    collection = shelve(tmp_path_factory.mktemp("features"), [*PAGES, *SITE])
    give_ranks(collection, {"http://other.test/x": 20.0})
    index(collection)
    with opened(collection) as found:
        yield found


def features(engine: SearchEngine, query: str, url: str) -> dict[str, float]:
    for one in engine.features(query, 1000):
        if engine.index.pages.head(one.number).url == url:
            return dict(zip(FEATURES, one.features.tolist(), strict=True))
    raise AssertionError(f"{url} is no candidate")


FRONT, MASK, FAR, OTHER, SOURCE = (page.url for page in PAGES)


@pytest.mark.parametrize(
    ("query", "url", "name", "value"),
    [
        ("layer mask", MASK, "coverage", 1.0),
        ("layer mask", MASK, "window", 1.0),
        ("layer mask", MASK, "pairs", 1.0),
        ("layer hides", FAR, "pairs", 0.0),
        ("layer mask", MASK, "title", 1.0),
        ("layer mask", MASK, "title_exact", 1.0),
        ("layer mask", MASK, "url_tail", 1.0),
        ("layer mask", FAR, "coverage", 1.0),
        ("layer mask", FAR, "title", 0.0),
        ("layer mask xyzzy", MASK, "coverage", 1.0),  # no page has the third word
        ("gimp", FRONT, "site", 1.0),
        ("gimp", FRONT, "front", 1.0),
        ("gimp", MASK, "front", 1 / 3),
        ("gimp", MASK, "title", 1.0),  # the query has no other word
        ("gimp layer mask", MASK, "title", 1.0),
        ("gimp layer mask", OTHER, "site", 0.0),
        ("layer", OTHER, "headings", 1.0),
        ("layer", OTHER, "coverage", 0.0),
        ("layer", SOURCE, "generated", 1.0),
        ("layer", MASK, "generated", 0.0),
        ("layer", MASK, "rank", 0.0),
        ("mask", OTHER, "rank", 2.9957),
        ("mask", MASK, "language", 1.0),
    ],
)
def test_a_feature_is_what_its_name_says(engine: SearchEngine, query: str, url: str, name: str, value: float) -> None:
    assert features(engine, query, url)[name] == pytest.approx(value, abs=1e-3)


@pytest.mark.parametrize("name", ["window", "text"])
def test_words_close_together_count_more_than_words_far_apart(engine: SearchEngine, name: str) -> None:
    assert features(engine, "layer mask", MASK)[name] > features(engine, "layer mask", FAR)[name] > 0


def test_a_rare_word_is_a_larger_share_of_the_query(engine: SearchEngine) -> None:
    found = features(engine, "layer words", OTHER)  # "words" is on nearly every page
    assert 0 < found["coverage"] < 0.4


def test_words_of_the_same_company_have_the_same_meaning(tmp_path: Path) -> None:
    made = ["engine motor wheel petrol gear", "cat dog horse cow sheep"]
    docs = [Doc(f"http://a.test/{n}", f"Page {n}", f"{made[n % 2]} " * 20) for n in range(60)]
    docs += [
        Doc("http://a.test/motor", "Motor petrol", "motor petrol gear here"),
        Doc("http://a.test/dog", "Dog", "dog"),
    ]
    with library(tmp_path, docs) as engine:
        assert engine.index.vectors is not None
        near = features(engine, "wheel motor dog", "http://a.test/motor")
        far = features(engine, "wheel motor dog", "http://a.test/dog")
        assert near["meaning_title"] > far["meaning_title"]


def test_without_vectors_nothing_has_a_meaning(tmp_path: Path) -> None:
    collection = shelve(tmp_path, PAGES)
    index(collection, vectors=False)
    with opened(collection) as engine:
        found = features(engine, "layer mask", MASK)
        assert [found[name] for name in FEATURES if name.startswith("meaning")] == [0.0, 0.0, 0.0]


def test_equal_pages_score_equal_whatever_share_their_language_has(tmp_path: Path) -> None:
    """One German page among a hundred English ones gets the text score of its English twin."""
    docs = [Doc(f"http://en.test/{n}", f"Xyzzy {n}", f"xyzzy plugh {FILLER}", language="en") for n in range(99)]
    docs += [Doc("http://de.test/99", "Xyzzy 99", f"xyzzy plugh {FILLER}", language="de")]
    with library(tmp_path, docs) as engine:
        german = features(engine, "xyzzy plugh", "http://de.test/99")
        english = features(engine, "xyzzy plugh", "http://en.test/98")
        assert german["text"] == pytest.approx(english["text"])
        assert german["coverage"] == english["coverage"] == 1.0
