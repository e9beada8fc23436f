"""From seeds to answers: one call crawls, ranks and indexes, and the engine finds what was crawled."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawl.crawling import settings_for, sound
from periplus.crawl.run import Progress, Request
from periplus.errors import NothingToCrawl
from periplus.pipeline import ProgressCallbacks, build, open_engine
from testweb import Page, Site, TestWeb

SITE = Site(
    "a.test",
    {
        "/": Page("Harbours of the coast", "A list of harbours.", links=[("/lisbon", "the white city")], lang="en"),
        "/lisbon": Page("Lisbon", "Ships wait for the tide.", links=["/"], lang="en"),
    },
)


def test_a_page_that_a_seed_links_to_can_be_searched_for(tmp_path: Path) -> None:
    with TestWeb([SITE]) as web:
        request = Request(tmp_path / "sea", settings_for(web), ["http://a.test/"])
        built = build(request)
    assert (built.crawl.summary["fetched"], built.rank.pages, built.index.documents) == (2, 2, 2)
    engine = open_engine(request)
    try:
        assert [hit.url for hit in engine.search("tide").hits] == ["http://a.test/lisbon"]
        named = {hit.url for hit in engine.search("white city").hits}
        assert "http://a.test/lisbon" in named, "found by the words of a link to it"
    finally:
        engine.close()
    sound(tmp_path / "sea")


def test_every_step_says_how_far_it_is(tmp_path: Path) -> None:
    said: set[str] = set()
    slow = Site("a.test", {"/": Page("One", "a page", links=["/two"]), "/two": Page("Two", "another page", delay=1.0)})

    def crawled(progress: Progress) -> None:
        said.add(f"crawl {progress.summary['fetched'] > 0}")

    with TestWeb([slow]) as web:
        request = Request(tmp_path / "sea", settings_for(web), ["http://a.test/"])
        build(
            request,
            ProgressCallbacks(
                crawled, lambda _: said.add("rank"), lambda done, total: said.add(f"index {done <= total}")
            ),
        )
    assert {"crawl True", "rank"} <= said


def test_a_crawl_that_leads_nowhere_is_not_indexed(tmp_path: Path) -> None:
    with TestWeb() as web, pytest.raises(NothingToCrawl):
        build(Request(tmp_path / "sea", settings_for(web), ["http://nobody.test/"]))
    assert not (tmp_path / "sea" / "index").exists()


def test_a_second_run_adds_to_the_first(tmp_path: Path) -> None:
    with TestWeb([SITE, Site("b.test", {"/": Page("Porto", "Barrels of wine.", lang="en")})]) as web:
        build(Request(tmp_path / "sea", settings_for(web), ["http://a.test/"]))
        request = Request(tmp_path / "sea", settings_for(web), ["http://b.test/"])
        assert build(request).index.documents == 3
    engine = open_engine(request)
    assert [hit.title for hit in engine.search("wine").hits] == ["Porto"]
    engine.close()
