"""A reader who types gets completions, in the forms of the site and of browsers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed

import pytest

from periplus.search.suggest.completion import Suggestion
from web.engines import FakeEngine
from web.serving import Site, searching
from web.test_hostile import NAUGHTY, PAYLOADS

TABLES = [Suggestion("Hash tables", "title", 2.0), Suggestion("hashing", "word", 1.0)]


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(completions=TABLES)


@pytest.fixture
def site(engine: FakeEngine) -> Iterator[Site]:
    with searching(engine) as served:
        yield served


def test_the_api_names_the_kind_of_every_suggestion(site: Site) -> None:
    answer = site.get("/api/suggest?q=hash")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json == {
        "query": "hash",
        "suggestions": [{"text": "Hash tables", "kind": "title"}, {"text": "hashing", "kind": "word"}],
    }


def test_a_browser_gets_the_form_of_opensearch(site: Site) -> None:
    answer = site.get("/suggest?q=hash")
    assert answer.headers["content-type"] == "application/x-suggestions+json"
    assert answer.json == ["hash", ["Hash tables", "hashing"]]


@pytest.mark.parametrize("path", ["/suggest", "/api/suggest"])
def test_suggestions_may_be_cached_for_a_minute(site: Site, path: str) -> None:
    assert site.get(f"{path}?q=hash").headers["cache-control"] == "public, max-age=60"


@pytest.mark.parametrize("query", ["", "?q=", "?q=+%20"])
def test_nothing_typed_has_no_suggestions(site: Site, engine: FakeEngine, query: str) -> None:
    assert site.get(f"/api/suggest{query}").json["suggestions"] == []
    assert site.get(f"/suggest{query}").json[1] == []
    assert engine.asked == []


def test_a_space_at_the_end_counts_because_it_ends_the_word(site: Site, engine: FakeEngine) -> None:
    site.get("/suggest?q=+hash+")
    assert engine.asked[-1] == {"typed": "hash ", "most": 8}


def test_a_very_long_text_has_no_suggestions(site: Site, engine: FakeEngine) -> None:
    assert site.get("/suggest", q=2_100 * "x").json[1] == []
    assert engine.asked == []


def test_suggestions_have_no_control_characters_and_do_not_repeat(site: Site, engine: FakeEngine) -> None:
    texts = ["a\u202eb", "ab", "a \x00\n b", "\x07", "tab\tle"]
    engine.completions = [Suggestion(text, "title", 1.0) for text in texts]
    assert site.get("/suggest?q=x").json[1] == ["ab", "a b", "tab le"]


def test_hostile_text_stays_text(site: Site, engine: FakeEngine) -> None:
    for text in PAYLOADS[:20]:
        engine.completions = [Suggestion(text, "title", 1.0)]
        answer = site.get("/suggest", q=text)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.json[0] == text
    for text in NAUGHTY:
        assert site.get("/api/suggest", q=text).status == 200


def test_when_many_wait_suggestions_are_refused_and_searches_are_not(engine: FakeEngine) -> None:
    held = threading.Event()
    engine.before_completion = held.wait
    with searching(engine) as site, ThreadPoolExecutor(20) as readers:
        asked = [readers.submit(site.get, "/suggest?q=x") for _ in range(20)]
        refused = next(as_completed(asked, timeout=10)).result()
        found = site.get("/search?q=x")
        held.set()
    assert refused.status == 503
    assert refused.json["error"].startswith("Too many searches")
    assert found.status == 200
