"""The reference formulas are what their names say, computed here by hand from the words of each page."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from periplus.evaluation.collection_figures import CollectionFigures
from periplus.evaluation.profiles import PROFILES, Matched, ranked
from periplus.search.engine import SearchEngine
from periplus.search.query.terms import QueryTerms
from search.library import Doc, give_ranks, index, opened, shelve

DOCS = [
    Doc("http://a.test/", "Coral reef", "A reef of coral. Coral grows slowly, and the reef with it."),
    Doc("http://b.test/", "Deep water", "Water is deep near the reef."),
    Doc("http://c.test/", "Coral", "Coral is sold on the market of the town, among rings, chains and other coral."),
    Doc("http://d.test/", "Harbour", "Ships wait in the harbour for deep water, and no reef is near."),
    Doc("http://e.test/", "Islands", "An island without trees."),
]
WORDS = ("coral", "reef")
RANKS = {"http://a.test/": 1.0, "http://b.test/": 2.0, "http://c.test/": 40.0, "http://d.test/": 3.0}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchEngine]:
    collection = shelve(tmp_path_factory.mktemp("profiles"), DOCS)
    give_ranks(collection, RANKS)
    index(collection)
    with opened(collection) as found:
        yield found


def matched(engine: SearchEngine, query: str) -> Matched:
    pages = engine.candidates(query)
    assert pages is not None
    return Matched(
        engine.index, CollectionFigures(engine.index), QueryTerms(query.split(), engine.index.forward, ["en"]), pages
    )


def urls(engine: SearchEngine, query: str, profile: str) -> list[str]:
    return [engine.index.pages.head(number).host[0] for number in ranked(matched(engine, query), profile)]


def words_of(doc: Doc) -> list[str]:
    return [word.strip(".,").lower() for word in f"{doc.title} {doc.text}".split()]


def idf(word: str) -> float:
    documents = sum(word in words_of(doc) for doc in DOCS)
    return math.log(1 + (len(DOCS) - documents + 0.5) / (documents + 0.5))


def bm25(doc: Doc, query: tuple[str, ...]) -> float:
    mean = sum(len(words_of(one)) for one in DOCS) / len(DOCS)
    norm = 1.2 * (0.25 + 0.75 * len(words_of(doc)) / mean)
    counts = [words_of(doc).count(word) for word in query]
    return sum(idf(word) * count * 2.2 / (count + norm) for word, count in zip(query, counts, strict=True))


def scores(engine: SearchEngine, query: str, profile: str) -> dict[str, float]:
    pages = matched(engine, query)
    key = PROFILES[profile](pages)[0]
    return {engine.index.pages.head(int(number)).url: key[at] for at, number in enumerate(pages.numbers)}


def test_bm25_is_that_of_title_and_text_as_one_text(engine: SearchEngine) -> None:
    found = scores(engine, "coral reef", "bm25")
    assert set(found) == {doc.url for doc in DOCS[:4]}
    for doc in DOCS[:4]:
        assert found[doc.url] == pytest.approx(bm25(doc, WORDS), rel=1e-6)


def test_a_word_that_the_query_repeats_counts_twice(engine: SearchEngine) -> None:
    found = scores(engine, "coral reef coral", "bm25")
    assert found["http://c.test/"] == pytest.approx(2 * bm25(DOCS[2], ("coral",)), rel=1e-6)


def test_the_cosine_is_that_of_logarithmic_counts(engine: SearchEngine) -> None:
    words = words_of(DOCS[1])
    known = {word: idf(word) * (1 + math.log(words.count(word))) for word in words if word not in {"is", "the"}}
    query = {word: idf(word) for word in WORDS}
    product = sum(known.get(word, 0.0) * weight for word, weight in query.items())
    expected = product / math.hypot(*known.values()) / math.hypot(*query.values())
    assert scores(engine, "coral reef", "tfidf-cosine")["http://b.test/"] == pytest.approx(expected, rel=1e-5)


def test_pages_with_all_words_in_the_title_come_first_then_pages_with_some(engine: SearchEngine) -> None:
    assert urls(engine, "coral reef", "tfidf-pagerank") == ["a", "c", "d", "b"]


def test_pagerank_in_standard_deviations_outweighs_the_words(engine: SearchEngine) -> None:
    assert urls(engine, "coral reef", "cosine-pagerank-z")[0] == "c"
    deviations = CollectionFigures(engine.index).rank_deviations
    assert (deviations.mean(), deviations.std()) == (pytest.approx(0, abs=1e-9), pytest.approx(1))


def test_bonuses_reward_title_phrase_and_opening(engine: SearchEngine) -> None:
    found = scores(engine, "coral reef", "cosine-log-pagerank")
    cosine = scores(engine, "coral reef", "tfidf-cosine")
    assert max(found, key=lambda url: found[url]) == "http://a.test/"
    bonus = 0.3 + 0.2 + 0.1 + 0.1  # title, phrase, common subsequence, opening; there are no headings
    assert found["http://a.test/"] == pytest.approx(cosine["http://a.test/"] + bonus)
    half = 0.2 * math.log(40) / 5 + 0.3 / 2 + 0.1 / 2 + 0.1 / 2
    assert found["http://c.test/"] == pytest.approx(cosine["http://c.test/"] + half)


def test_words_in_another_order_are_no_phrase_and_a_shorter_subsequence(engine: SearchEngine) -> None:
    right, reverse = (scores(engine, text, "cosine-log-pagerank") for text in ("coral reef", "reef coral"))
    assert right["http://a.test/"] - reverse["http://a.test/"] == pytest.approx(0.2 + 0.1 / 2)


def test_every_profile_orders_all_candidates(engine: SearchEngine) -> None:
    expected = sorted(matched(engine, "coral reef").numbers.tolist())
    for profile in PROFILES:
        assert sorted(ranked(matched(engine, "coral reef"), profile)) == expected
        assert np.isfinite(list(scores(engine, "coral reef", profile).values())).all()
