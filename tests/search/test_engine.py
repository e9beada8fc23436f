"""Results are ordered by score, and every key of a result is right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as trying
from hypothesis import strategies as st

from periplus.errors import NoIndex, UsageError
from periplus.model import Results
from periplus.search import engine as engine_module
from periplus.search import hits, interpret
from periplus.search.engine import SearchEngine
from periplus.search.interpret import Mode
from periplus.search.open_index import OpenIndex
from periplus.search.scoring.candidates import CandidateFinder
from periplus.search.scoring.score import FEATURES
from periplus.search.shards import index_shard
from periplus.store.collection import create_collection
from periplus.text.analyzer import language_of, terms
from search.library import Doc, give_ranks, index, library, marked, opened, settings, shelve, urls

FILLER = "Some words that say nothing about anything at all. "
STEPS = ["parse", "spelling", "terms", "candidates", "features", "counts", "snippets"]
WORDS = ["harbour", "harbours", "lighthouse", "reef", "deep", "the", "of", "café", "north-east", "sail"]


def coast() -> list[Doc]:
    """Pages of a few hosts, each with its own share of the words."""
    docs = []
    for number in range(120):
        words = [word for place, word in enumerate(WORDS) if number % (place + 2) == 0]
        docs.append(
            Doc(
                f"http://h{number % 9}.test/{words[0] if words else 'x'}/{number}",
                " ".join(words[:3]).title(),
                FILLER * (number % 5) + " ".join(words) * (number % 3 + 1) + f" page {number}",
                description=" ".join(words[-2:]),
                headings=tuple(words[1:3]),
                language="fr" if number % 4 == 3 else "en",
            )
        )
    return docs


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchEngine]:
    collection = shelve(tmp_path_factory.mktemp("coast"), coast())
    give_ranks(collection, {doc.url: 1.0 + 7 * (number % 6) for number, doc in enumerate(coast())})
    index(collection)
    with opened(collection) as found:
        yield found


# -- which page comes first -----------------------------------------------------------------------------------------


def test_a_match_in_the_title_beats_one_in_the_text(tmp_path: Path) -> None:
    docs = [
        Doc("http://a.test/", "Something else", f"A lighthouse here, a lighthouse there. {FILLER}"),
        Doc("http://b.test/", "The lighthouse", f"It stands on a rock. {FILLER}"),
        *(Doc(f"http://c{number}.test/", "Another page", FILLER) for number in range(9)),
    ]
    with library(tmp_path, docs) as engine:
        assert urls(engine.search("lighthouse")) == ["http://b.test/", "http://a.test/"]


def test_a_rare_word_counts_more_than_a_common_one(tmp_path: Path) -> None:
    docs = [Doc(f"http://a{n}.test/", "", f"harbour {FILLER}") for n in range(20)]
    with library(tmp_path, [*docs, Doc("http://b.test/", "", f"reef {FILLER}")]) as engine:
        assert urls(engine.search("harbour reef", mode="or"))[0] == "http://b.test/"


def test_the_words_side_by_side_beat_the_words_apart(tmp_path: Path) -> None:
    docs = [
        Doc("http://a.test/", "", f"water, and {FILLER} deep {FILLER}"),
        Doc("http://b.test/", "", f"the deep water and {FILLER} {FILLER}"),
    ]
    with library(tmp_path, docs) as engine:
        assert urls(engine.search("deep water"))[0] == "http://b.test/"


def test_rank_decides_between_pages_that_are_alike(tmp_path: Path) -> None:
    collection = shelve(tmp_path, [Doc(f"http://{name}.test/", "Harbour", f"{FILLER}{name}") for name in "abc"])
    give_ranks(collection, {"http://b.test/": 50.0, "http://c.test/": 5.0})
    index(collection)
    with opened(collection) as engine:
        assert urls(engine.search("harbour")) == ["http://b.test/", "http://c.test/", "http://a.test/"]


def test_rank_is_mild_and_does_not_beat_a_page_about_the_query(tmp_path: Path) -> None:
    docs = [
        Doc("http://famous.test/", "Everything", f"{FILLER * 4} harbour {FILLER * 4}"),
        Doc("http://harbour.test/", "Harbour guide", f"Every harbour of the coast. {FILLER}", headings=("Harbours",)),
        *(Doc(f"http://c{number}.test/", "Other", FILLER) for number in range(9)),
    ]
    collection = shelve(tmp_path, docs)
    give_ranks(collection, {"http://famous.test/": 10_000.0})
    index(collection)
    with opened(collection) as engine:
        assert urls(engine.search("harbour")) == ["http://harbour.test/", "http://famous.test/"]


def test_rank_also_helps_to_be_selected_among_many(tmp_path: Path) -> None:
    docs = [Doc(f"http://h{n}.test/{n}", "Harbour", f"harbour number {n}") for n in range(300)]
    collection = shelve(tmp_path, docs)
    give_ranks(collection, {"http://h299.test/299": 1_000.0})
    index(collection)
    with opened(collection, ranking__candidates=100) as engine:
        assert urls(engine.search("harbour"))[0] == "http://h299.test/299"


def test_a_weight_of_the_settings_changes_the_order(tmp_path: Path) -> None:
    docs = [
        Doc("http://a.test/reef", "Something", f"reef {FILLER}"),
        Doc("http://b.test/", "Reef", f"reef {FILLER}"),
        Doc("http://c.test/", "Other", FILLER),
    ]
    with library(tmp_path, docs) as engine:
        assert urls(engine.search("reef"))[0] == "http://b.test/"
    with opened(create_collection(tmp_path), ranking__url=5.0) as engine:
        assert urls(engine.search("reef"))[0] == "http://a.test/reef"


# -- what is said about a result ------------------------------------------------------------------------------------

queries = st.lists(
    st.sampled_from([*WORDS, "-reef", "OR", '"deep the"', "(sail", ")", "page", "7", "site:h1.test"]), max_size=6
)


@trying(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(queries.map(" ".join), st.sampled_from(Mode), st.integers(1, 3), st.sampled_from([1, 5, 15, 100]))
def test_the_parts_of_every_score_add_up_to_it(
    engine: SearchEngine, query: str, mode: Mode, page: int, size: int
) -> None:
    results = engine.search(query, mode=mode, page=page, size=size, explain=True)
    for hit in results.hits:
        assert list(hit.explain) == [*FEATURES, "crowding"]
        assert sum(hit.explain.values()) == hit.score
        for word in marked(hit):
            assert terms(language_of(hit.language), word)
    assert len(results.hits) == max(min(size, results.total - (page - 1) * size), 0)


def test_scores_fall_where_no_host_is_in_the_way(engine: SearchEngine) -> None:
    hits = engine.search("harbour site:test", size=100, mode="and").hits
    scores = [hit.score for hit in hits]
    assert len(scores) > 20
    assert scores == sorted(scores, reverse=True)


def test_without_explain_the_parts_are_empty(engine: SearchEngine) -> None:
    assert all(hit.explain == {} for hit in engine.search("harbour").hits)


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("deep reef", {}),
        ("lighthuose reef", {}),
        ("lighthuose reef", {"verbatim": True}),
        ("deep reef", {"mode": Mode.AND}),
        ("site:h1.test", {}),
    ],
)
def test_weights_and_features_give_the_score_of_every_result(
    engine: SearchEngine, query: str, options: dict[str, Any]
) -> None:
    results = engine.search(query, size=100, **options)
    table = engine.feature_table(query, 70, **options)
    assert [(row.url, row.score) for row in table.rows] == [(hit.url, hit.score) for hit in results.hits[:70]]
    for row in table.rows:
        assert list(row.features) == list(table.weights) == list(FEATURES)
        total = sum(table.weights[name] * value for name, value in row.features.items()) + row.crowding
        assert row.score == pytest.approx(total, abs=1e-9)


def test_a_query_without_words_has_no_features(engine: SearchEngine) -> None:
    table = engine.feature_table("", 70)
    assert (table.rows, list(table.weights)) == ((), list(FEATURES))


def test_there_are_features_of_results_beyond_the_first_block(many: SearchEngine) -> None:
    table = many.feature_table("harbour \udcff", 200)
    assert [row.url for row in table.rows] == urls(many.search("harbour \udcff", size=200))
    assert len(table.rows) == 200


def test_a_result_tells_where_it_comes_from(tmp_path: Path) -> None:
    doc = Doc("http://www.a.test/page", "", "A reef.", language="en-GB", at=1_600_000_000.5, mime="text/plain")
    with library(tmp_path, [doc]) as engine:
        (hit,) = engine.search("reef").hits
        assert (hit.url, hit.host, hit.title) == (doc.url, "www.a.test", doc.url)  # no title: its address stands in
        assert (hit.fetched_at, hit.mime, hit.language) == (doc.at, "text/plain", "en-GB")
        assert (hit.snippet, marked(hit), hit.all_words) == ("A reef.", ["reef"], True)
        assert (engine.generation, engine.documents) == (1, 1)


def test_the_snippet_is_the_passage_that_answers(tmp_path: Path) -> None:
    text = f"{FILLER * 30} The lamps of the old lighthouse were lit. {FILLER * 30}"
    with library(tmp_path, [Doc("http://a.test/", "Title", text, description="Nothing of that")]) as engine:
        (hit,) = engine.search("lighthouse lamp -reef", mode="and").hits
        assert "The lamps of the old lighthouse were lit." in hit.snippet
        assert marked(hit) == ["lamps", "lighthouse"]
        (elsewhere,) = engine.search("title").hits
        assert elsewhere.snippet == "Nothing of that"


def test_the_parsed_query_is_part_of_the_answer(engine: SearchEngine) -> None:
    results = engine.search("  harbour   AND (reef OR deep) ")
    assert results.query == "  harbour   AND (reef OR deep) "
    assert results.understood == "harbour (reef OR deep)"
    assert (results.page, results.size, results.total_is_exact) == (1, 15, True)
    assert list(results.steps) == STEPS
    assert 0 < sum(results.steps.values()) <= results.seconds


class Clock:
    """Stands still, except while one of the slow functions runs."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now

    def slowed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, which takes a second."""

        def slow(*values: Any, **options: Any) -> Any:
            self.now += 1.0
            return function(*values, **options)

        return slow


SLOWED = {
    engine_module: ["_hints"],
    interpret: ["parse_query", "query_language", "wanted_words", "corrected"],
    index_shard: ["QueryTerms"],
    hits: ["make_snippets"],
}


@pytest.mark.parametrize("verbatim", [False, True])
def test_all_the_time_of_a_search_is_in_its_steps(
    engine: SearchEngine, monkeypatch: pytest.MonkeyPatch, verbatim: bool
) -> None:
    clock = Clock()
    for module in (engine_module, interpret):
        monkeypatch.setattr(module, "time", clock)
    for module, names in SLOWED.items():
        for name in names:
            monkeypatch.setattr(module, name, clock.slowed(getattr(module, name)))
    for name in ("matching", "select"):
        monkeypatch.setattr(CandidateFinder, name, clock.slowed(getattr(CandidateFinder, name)))
    for name in ("count", "among", "matches"):
        monkeypatch.setattr(OpenIndex, name, clock.slowed(getattr(OpenIndex, name)))
    results = engine.search("deep lighthuose", verbatim=verbatim)
    assert bool(results.corrected) is not verbatim
    assert list(results.steps) == STEPS
    assert results.seconds == clock.now == sum(results.steps.values())
    unmeasured = {"features", "spelling"} if verbatim else {"features"}
    assert {name for name, seconds in results.steps.items() if not seconds} == unmeasured


# -- how many words -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchEngine]:
    """Three pages hold both words, twelve only one of them, all of one host but four."""
    docs = [Doc(f"http://both.test/{n}", f"Both {n}", "reef and lighthouse") for n in range(3)]
    docs += [Doc(f"http://both.test/reef{n}", f"One {n}", "reef reef") for n in range(8)]
    docs += [Doc(f"http://other{n}.test/", f"Other {n}", "lighthouse") for n in range(4)]
    with library(tmp_path_factory.mktemp("few"), docs) as found:
        yield found


def test_pages_with_some_of_the_words_follow_when_few_hold_all(few: SearchEngine) -> None:
    results = few.search("reef lighthouse")
    assert [hit.all_words for hit in results.hits] == [True] * 3 + [False] * 12
    assert all(hit.url.startswith("http://both.test/") for hit in results.hits[:3])
    assert results.total == 15
    assert (results.with_all_words, results.hints) == (3, ())


def test_on_the_next_page_too(few: SearchEngine) -> None:
    pages = [few.search("reef lighthouse", page=page, size=2) for page in range(1, 9)]
    flags = [hit.all_words for page in pages for hit in page.hits]
    assert flags == [True] * 3 + [False] * 12
    assert {page.total for page in pages} == {15}
    assert {page.hints for page in pages} == {pages[0].hints}


def test_all_words_can_be_insisted_on(few: SearchEngine) -> None:
    results = few.search("reef lighthouse", mode="and")
    assert (results.total, results.hints) == (3, ())
    assert all(hit.all_words for hit in results.hits)


def test_mode_or_finds_any_word_and_marks_pages_with_all(few: SearchEngine) -> None:
    results = few.search("reef lighthouse", mode="or")
    assert results.total == 15
    assert {hit.url for hit in results.hits if hit.all_words} == {f"http://both.test/{n}" for n in range(3)}
    assert all(hit.all_words for hit in few.search("reef OR lighthouse", mode="or").hits)


def test_a_phrase_is_one_of_the_words(few: SearchEngine) -> None:
    assert few.search('"Both 1" lamp').with_all_words == 0
    assert few.search('"Both 1" reef lighthouse').with_all_words == 1


def test_pages_with_all_words_and_with_some_are_counted(engine: SearchEngine) -> None:
    results = engine.search("harbour lighthouse")
    assert results.hints == ()
    assert 10 <= results.with_all_words < results.total
    assert results.with_all_words == engine.search("harbour lighthouse", mode="and").total
    assert results.total == engine.search("harbour OR lighthouse").total


@pytest.mark.parametrize("query", ["!!!", '"…" -reef'])
def test_punctuation_alone_has_a_hint(few: SearchEngine, query: str) -> None:
    results = few.search(query)
    assert results.total == 0
    assert results.hints[-1] == "The query has only punctuation. Add a word."


@pytest.mark.parametrize("query", ["", "()", '-"reef" -(lamp light)', "   "])
def test_a_query_without_a_positive_word_has_a_hint(few: SearchEngine, query: str) -> None:
    results = few.search(query)
    assert (results.total, results.hits) == (0, ())
    assert results.hints


def test_a_site_alone_is_a_query(few: SearchEngine) -> None:
    assert few.search("site:both.test", size=50).total == 11
    assert few.search("site:nowhere.test").hints == ()


# -- pages of results -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchEngine]:
    """More pages than are candidates at once, most of them of one host, with bonuses that reorder them."""
    docs = []
    for number in range(330):
        host = "big.test" if number % 3 else f"h{number % 11}.test"
        title = f"Harbour {number}" if number % 7 == 0 else f"Page {number}"
        docs.append(Doc(f"http://{host}/{number}", title, f"harbour {'and more ' * (number % 13)}{number}"))
    with library(tmp_path_factory.mktemp("many"), docs, ranking__candidates=40) as found:
        yield found


def collected(engine: SearchEngine, query: str, size: int, mode: str) -> list[Results]:
    pages = [engine.search(query, page=1, size=size, mode=mode)]
    while pages[-1].hits:
        pages.append(engine.search(query, page=len(pages) + 1, size=size, mode=mode))
    return pages


@pytest.mark.parametrize("size", [7, 15, 64, 100])
@pytest.mark.parametrize("query", ["harbour", "harbour more", "harbour 21", "harbour -more", "harbour site:test"])
def test_pages_are_slices_of_one_list(many: SearchEngine, query: str, size: int) -> None:
    pages = collected(many, query, size, "auto")
    found = [url for page in pages for url in urls(page)]
    assert len({page.total for page in pages}) == 1
    assert len(found) == len(set(found)) == pages[0].total
    assert all(len(page.hits) == size for page in pages[:-2])


def test_a_page_does_not_depend_on_earlier_requests(many: SearchEngine) -> None:
    again = [urls(many.search("harbour", page=page)) for page in (9, 1, 22, 3, 9)]
    assert again[0] == again[4]
    assert again == [urls(many.search("harbour", page=page)) for page in (9, 1, 22, 3, 9)]


def test_a_host_is_held_back_for_results_that_are_nearly_as_good(tmp_path: Path) -> None:
    docs = [Doc(f"http://big.test/{n}", f"Page {n}", "The harbour of the town") for n in range(6)]
    docs += [Doc("http://near.test/7", "Page 7", "The harbour of a town")]
    docs += [Doc("http://far.test/8", "Page 8", "The harbour of a city")]
    with library(tmp_path, docs) as engine:
        hits = engine.search("harbour town", explain=True).hits
        assert "near.test" in [hit.host for hit in hits[:3]]
        assert hits[-1].host == "far.test"  # not nearly as good
        lost = [hit.explain["crowding"] for hit in hits if hit.host == "big.test"]
        assert lost == pytest.approx([0.0, 0.0, -0.1, -0.2, -0.3, -0.3])
        assert {hit.explain["crowding"] for hit in engine.search("town site:big.test", explain=True).hits} == {0.0}


def test_past_the_end_there_is_nothing(many: SearchEngine) -> None:
    results = many.search("harbour", page=100, size=100)
    assert (results.hits, results.total) == ((), 330)


@pytest.mark.parametrize(("page", "size"), [(0, 15), (1, 0), (-1, 15), (1, -1)])
def test_pages_are_counted_from_one(many: SearchEngine, page: int, size: int) -> None:
    with pytest.raises(UsageError):
        many.search("harbour", page=page, size=size)


# -- what is in the index -------------------------------------------------------------------------------------------


def test_only_the_newest_version_is_found(tmp_path: Path) -> None:
    shelve(tmp_path, [Doc("http://a.test/", "Old", "reef", at=1.0)])
    with library(tmp_path, [Doc("http://a.test/", "New", "harbour", at=2.0)]) as engine:
        assert engine.search("reef").total == 0
        assert [hit.title for hit in engine.search("harbour").hits] == ["New"]


def test_a_document_with_several_addresses_is_one_result(tmp_path: Path) -> None:
    docs = [Doc(f"http://{host}.test/", "Reef", "reef", body=b"same") for host in ("aaa", "b", "cc")]
    with library(tmp_path, docs) as engine:
        (hit,) = engine.search("reef").hits
        assert hit.url == "http://b.test/"
        assert hit.same_content == ("http://aaa.test/", "http://cc.test/")


def test_the_archived_copy_of_a_page_can_be_shown(tmp_path: Path) -> None:
    docs = [Doc("http://a.test/", "A", "reef", body=b"<p>reef", at=1.5), Doc("http://b.test/", "B", body=b"b")]
    with library(tmp_path, docs) as engine:
        copy = engine.cached("http://a.test/")
        assert copy is not None
        assert (copy.url, copy.body, copy.mime, copy.charset, copy.fetched_at) == (
            "http://a.test/",
            b"<p>reef",
            "text/html",
            "utf-8",
            1.5,
        )
        assert engine.cached("http://c.test/") is None
        assert engine.cached("") is None


def test_without_an_index_the_error_gives_advice(tmp_path: Path) -> None:
    collection = shelve(tmp_path, [Doc("http://a.test/", "A")])
    with pytest.raises(NoIndex, match="`periplus index` builds one"):
        SearchEngine.open(collection, settings())


def test_the_best_pages_of_a_site_come_first_when_the_query_has_no_word(tmp_path: Path) -> None:
    docs = [Doc(f"http://a.test/{number}", f"Page {number}", f"text {number}") for number in range(150)]
    collection = shelve(tmp_path, [*docs, Doc("http://b.test/", "Other", "text")])
    give_ranks(collection, {doc.url: 1.0 + number for number, doc in enumerate(docs)} | {"http://b.test/": 999.0})
    index(collection)
    with opened(collection, ranking__candidates=100) as engine:
        for query in ("site:a.test", "site:a.test filetype:html", "lang:en -site:b.test"):
            results = engine.search(query, size=5)
            assert results.total == 150
            assert urls(results) == [f"http://a.test/{number}" for number in (149, 148, 147, 146, 145)], query


def test_the_best_results_come_with_their_whole_texts(engine: SearchEngine) -> None:
    found = engine.best_texts("harbour", 3)
    assert [one.url for one in found] == urls(engine.search("harbour", size=3, verbatim=True))
    assert all("harbour" in f"{one.title} {one.text}".lower() for one in found)
    assert engine.best_texts("", 3) == engine.best_texts("nosuchword", 3) == []
