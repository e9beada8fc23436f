"""The JSON API keeps its keys, so existing clients keep working."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from periplus.cli.commands.search import results_json
from web.engines import HARBOUR, FakeEngine
from web.serving import Site, searching


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(hits=40 * [HARBOUR], hints=("A hint.",), understood="harbour")


@pytest.fixture
def site(engine: FakeEngine) -> Iterator[Site]:
    with searching(engine) as served:
        yield served


def test_the_answer_has_the_promised_keys(site: Site) -> None:
    answer = site.get("/api/search", q='"harbour')
    assert answer.headers["content-type"] == "application/json"
    found = answer.json
    assert set(found) >= {"query", "understood", "total", "total_is_exact", "seconds", "results"}
    assert {key: found[key] for key in ("query", "understood", "total", "total_is_exact", "page", "size", "hints")} == {
        "query": '"harbour',
        "understood": "harbour",
        "total": 40,
        "total_is_exact": True,
        "page": 1,
        "size": 15,
        "hints": ["A hint."],
    }
    assert found["seconds"] == pytest.approx(0.0123)
    assert len(found["results"]) == 15


def test_a_result_has_the_promised_keys(site: Site) -> None:
    result = site.get("/api/search", q="harbour").json["results"][0]
    promised = {"url", "title", "snippet", "score", "host", "fetched_at", "explain"}
    assert {key: result[key] for key in promised} == {key: getattr(HARBOUR, key) for key in promised} | {"explain": {}}
    (begin, end), *_ = result["highlights"]
    assert result["snippet"][begin:end] == "harbour"


def test_the_site_and_the_terminal_say_the_same(site: Site, engine: FakeEngine) -> None:
    in_terminal = results_json(engine.search("harbour", explain=True))
    assert site.get("/api/search", q="harbour", explain=1).json == json.loads(json.dumps(in_terminal))


def test_a_result_explains_itself_when_asked(site: Site) -> None:
    result = site.get("/api/search", q="harbour", explain=1).json["results"][0]
    assert result["explain"] == HARBOUR.explain
    assert sum(result["explain"].values()) == pytest.approx(result["score"])


def test_a_corrected_query_and_its_counts_are_in_the_answer(site: Site, engine: FakeEngine) -> None:
    engine.corrected, engine.suggestion, engine.excluded, engine.with_all_words = "harbour", "harbours", ("car",), 12
    keys = ("corrected", "suggestion", "excluded", "with_all_words")
    found = site.get("/api/search", q="harbuor").json
    assert [found[key] for key in keys] == ["harbour", "harbours", ["car"], 12]
    exact = site.get("/api/search", q="harbuor", exact=1).json
    assert [exact[key] for key in keys] == ["", "", ["car"], 12]


def test_all_parameters_reach_the_engine(site: Site, engine: FakeEngine) -> None:
    site.get("/api/search", q="new harbour", page=3, size=7, explain="yes", mode="or", exact="on")
    assert engine.asked == [
        {"query": "new harbour", "page": 3, "size": 7, "explain": True, "mode": "or", "verbatim": True}
    ]


@pytest.mark.parametrize(("said", "page", "size"), [(0, 1, 1), (-3, 1, 1), (999, 100, 100)])
def test_numbers_outside_their_range_are_clamped(site: Site, said: int, page: int, size: int) -> None:
    found = site.get("/api/search", q="x", page=said, size=said).json
    assert (found["page"], found["size"]) == (page, size)


@pytest.mark.parametrize(
    "query",
    ["", "?q=", "?q=%20%09", "?q=x&page=two", "?q=x&size=all", "?q=x&explain=perhaps", "?q=x&mode=xor", "?q=x&exact=2"],
)
def test_a_mistake_is_answered_with_a_sentence(site: Site, engine: FakeEngine, query: str) -> None:
    answer = site.get(f"/api/search{query}")
    assert answer.status == 400
    assert answer.json["error"].endswith(".")
    assert answer.json["error"][0].isupper()
    assert not engine.asked


def test_the_last_of_repeated_values_counts(site: Site, engine: FakeEngine) -> None:
    site.get("/api/search?q=a&q=b&page=2&page=3")
    assert (engine.asked[0]["query"], engine.asked[0]["page"]) == ("b", 3)


def test_every_script_comes_through(site: Site, engine: FakeEngine) -> None:
    query = "ميناء 港 Häfen ⛵ \U0001f30a"
    engine.hits = [replace(HARBOUR, title=query, snippet=query)]
    found = site.get("/api/search", q=query).json
    assert found["query"] == found["results"][0]["title"] == query


def test_numbers_that_json_cannot_hold_become_null(site: Site, engine: FakeEngine) -> None:
    engine.hits = [replace(HARBOUR, score=float("nan"))]
    assert site.get("/api/search", q="x").json["results"][0]["score"] is None


def test_the_time_of_each_step_is_where_a_browser_shows_it(site: Site) -> None:
    expected = "total;dur=12.300, parse;dur=0.200, candidates;dur=8.100, odd_name_;dur=1.000"
    for path in ("/api/search", "/search"):
        assert site.get(path, q="x").headers["server-timing"] == expected


def test_features_and_weights_come_when_they_are_requested(site: Site, engine: FakeEngine) -> None:
    plain = site.get("/api/search", q="harbour").json
    assert {"weights", "features"}.isdisjoint(plain)
    found = site.get("/api/search", q="harbour", features=1, mode="and", exact=1).json
    assert list(found) == [*plain, "weights", "features"]
    assert found["weights"] == {"text": 2.0}
    row = {"url": HARBOUR.url, "score": 1.0, "features": {"text": 1.0}, "crowding": -1.0, "preference": 0.0}
    assert found["features"][1] == row
    assert engine.asked[-1] == {"query": "harbour", "most": 200, "mode": "and", "verbatim": True}
    assert site.get("/api/search", q="harbour", features="many").status == 400
