"""Results without some parts of the index say so, and are never stored."""

from __future__ import annotations

import pytest

from periplus.config import Serving
from web.engines import FakeEngine
from web.serving import searching

NOTICE = "Some pages could not be searched: 1 of 4 parts of the index did not answer."
PAGES = ["/search?q=harbour", "/search?q=harbour&tab=images", "/search?q=nothing&tab=images"]
ANSWERS = [*PAGES, "/api/search?q=harbour", "/api/images?q=harbour", "/search.rss?q=harbour", "/search.csv?q=harbour"]


@pytest.mark.parametrize("path", PAGES)
def test_the_reader_is_told_that_a_part_of_the_index_is_missing(path: str) -> None:
    with searching(FakeEngine(missing_shards=(2,))) as site:
        assert [one.text for one in site.get(path).page.find_all(role="status")].count(NOTICE) == 1
    with searching(FakeEngine()) as site:
        assert NOTICE not in site.get(path).text


def test_programs_are_told_which_parts_are_missing() -> None:
    with searching(FakeEngine(missing_shards=(2, 3))) as site:
        for path in ("/api/search", "/api/videos"):
            found = site.get(path, q="harbour").json
            assert (found["partial"], found["missing_shards"]) == (True, [2, 3])
    with searching(FakeEngine()) as site:
        found = site.get("/api/search", q="harbour").json
        assert (found["partial"], found["missing_shards"]) == (False, [])


def test_without_results_a_partial_answer_does_not_say_that_all_pages_were_searched() -> None:
    engine = FakeEngine(missing_shards=(2,))
    engine.hits = []
    with searching(engine) as site:
        text = site.get("/search?q=harbour").page.select("main")[0].text
        assert "1 of 4 parts of the index did not answer" in text
        assert "searched in" not in text
        engine.missing_shards = ()
        assert "searched in" in site.get("/search?q=rope").text


def test_partial_results_are_computed_anew_for_every_request() -> None:
    engine = FakeEngine(missing_shards=(2,), fingerprint="version")
    with searching(engine) as site:
        for path in ANSWERS:
            answer = site.get(path)
            assert answer.headers["cache-control"] == "private, no-store", path
            assert "etag" not in answer.headers, path
        count = len(engine.asked)
        site.get("/api/search?q=harbour")
        assert len(engine.asked) == count + 1
        engine.missing_shards = ()
        assert site.get("/api/search?q=harbour").json["partial"] is False
        assert "etag" in site.get("/api/search?q=harbour").headers


PARTS = {  # of an answer, by the call that computes it
    "facets": "/search?q=harbour",
    "count_news": "/search?q=harbour",
    "count_media": "/search?q=harbour",
    "related": "/search?q=harbour",
    "count": "/search?q=harbour&tab=images",
    "feature_table": "/api/search?q=harbour&features=1",
    "facts": "/",
}


@pytest.mark.parametrize(("part", "path"), PARTS.items())
def test_an_answer_with_one_incomplete_part_is_never_stored(part: str, path: str) -> None:
    engine = FakeEngine(silent={part: (2,)}, fingerprint="version")
    with searching(engine, Serving(boxes=[])) as site:  # a page that waits for a box is not stored
        answer = site.get(path)
        assert "no-store" in answer.headers["cache-control"]
        assert "etag" not in answer.headers
        engine.silent = {}
        complete = site.get(path)
        assert "no-store" not in complete.headers["cache-control"]
        assert site.get(path, {"if-none-match": complete.headers["etag"]}).status == 304


@pytest.mark.parametrize("part", ["facets", "count_news", "count_media", "related"])
def test_the_reader_is_told_that_filters_and_counts_are_incomplete(part: str) -> None:
    with searching(FakeEngine(silent={part: (2,)})) as site:
        assert [one.text for one in site.get("/search?q=harbour").page.find_all(role="status")].count(NOTICE) == 1


def test_programs_are_told_that_the_features_are_incomplete() -> None:
    with searching(FakeEngine(silent={"feature_table": (1,)})) as site:
        found = site.get("/api/search", q="harbour", features=1).json
        assert (found["partial"], found["missing_shards"]) == (True, [1])


def test_partial_searches_are_counted() -> None:
    with searching(FakeEngine(missing_shards=(2,))) as site:
        site.get("/api/search", q="harbour")
        assert "periplus_partial_searches_total 1" in site.get("/metrics").text
