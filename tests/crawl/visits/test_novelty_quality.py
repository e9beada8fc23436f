"""Is the quality of pages and hosts scored, and are links of good pages fetched first?"""

from __future__ import annotations

from pathlib import Path

import pytest

from crawl.crawling import catalog_of, run_crawl, settings_for, sound, typed
from periplus.crawl.run import Request
from periplus.crawl.visits.novelty import HostQualities, crawl_quality
from periplus.model import CrawlQuality, Link
from periplus.model import Page as Parsed
from periplus.pipeline import build, open_engine
from testweb import Page, Site, TestWeb, prose

SEED = "http://a.test/"
ARTICLE = Parsed("A title", text="word " * 1_000, language="en")
LINK = Link("http://a.test/x", "x", nofollow=False)


def score(page: Parsed, size: int = 10_000, *, is_new: bool = True) -> float:
    return crawl_quality(page, size, is_new=is_new).score


def test_an_article_has_the_best_quality_and_an_empty_page_the_worst() -> None:
    assert score(ARTICLE) == pytest.approx(1.0)
    assert score(Parsed(), size=0, is_new=False) == 0.0


@pytest.mark.parametrize(
    ("clue", "worse"),
    [
        ("text", crawl_quality(ARTICLE, 1_000_000, is_new=True)),
        ("length", crawl_quality(Parsed("A title", text="word " * 50, language="en"), 500, is_new=True)),
        (
            "links",
            crawl_quality(
                Parsed("A title", text="word " * 1_000, language="en", links=(LINK,) * 150), 9_000, is_new=True
            ),
        ),
        ("title", crawl_quality(Parsed("", text="word " * 1_000, language="en"), 9_000, is_new=True)),
        ("language", crawl_quality(Parsed("A title", text="word " * 1_000), 9_000, is_new=True)),
        ("news", crawl_quality(ARTICLE, 9_000, is_new=False)),
    ],
)
def test_each_score_counts_by_itself(clue: str, worse: CrawlQuality) -> None:
    best = crawl_quality(ARTICLE, 9_000, is_new=True)
    assert {name for name, value in worse._asdict().items() if value != getattr(best, name)} == {clue}
    assert worse.score < best.score


def test_the_quality_of_a_host_is_the_mean_of_its_pages_including_earlier_runs() -> None:
    qualities = HostQualities(
        lambda host: (98, CrawlQuality(1, 1, 1, 1, 1, 1)) if host == "old.test" else (0, CrawlQuality())
    )
    assert qualities.count("old.test", 0.0) == pytest.approx(99 / 101)
    assert qualities.count("new.test", 1.0) == pytest.approx(2 / 3), "one page is no proof"
    assert qualities.count("new.test", 1.0) == pytest.approx(3 / 4)


def test_links_on_good_pages_come_first(tmp_path: Path) -> None:
    pages = {
        "/": Page("Home", prose.text("home"), links=["/poor", "/good"], lang="en"),
        "/poor": Page("", "Nothing.", links=["/from-poor"]),
        "/good": Page("Good", prose.text("good"), links=["/from-good"], lang="en"),
        "/from-poor": Page("A", prose.text("a")),
        "/from-good": Page("B", prose.text("b")),
    }
    with TestWeb([Site("a.test", pages)]) as web:
        run_crawl(web, tmp_path, SEED, fetch__concurrency=1)
        assert web.log.paths("a.test")[-4:] == ["/poor", "/good", "/from-good", "/from-poor"]
    sound(tmp_path)


def test_inspect_shows_each_score_of_hosts_and_pages(tmp_path: Path) -> None:
    pages = {"/": Page("Home", prose.text("home"), links=["/poor"], lang="en"), "/poor": Page("", "")}
    with TestWeb([Site("a.test", pages)]) as web:
        run_crawl(web, tmp_path, SEED)
        run_crawl(web, tmp_path, f"{SEED}poor")
    with catalog_of(tmp_path) as catalog:
        number, quality = catalog.quality_of("a.test")
        assert (number, quality.title, quality.news) == (2, 0.5, 0.5)
        assert catalog.quality_of("b.test") == (0, CrawlQuality())
    text = " ".join(typed("inspect", "host", "a.test", "--home", tmp_path).out.split())
    assert f"quality {quality.score:.2f}: text " in text
    assert "title 0.50, language 0.50, nothing new on 50% of 2 pages" in text
    found = typed("inspect", "url", SEED, "--home", tmp_path, "--json").json["quality"]
    assert found["score"] == pytest.approx(sum(part for name, part in found.items() if name != "score"), abs=0.005)
    assert found["score"] > 0.8


def test_inspect_shows_everything_else_of_a_page_that_is_damaged(tmp_path: Path) -> None:
    with TestWeb([Site("a.test", {"/": Page("Home", prose.text("home"))})]) as web:
        run_crawl(web, tmp_path, SEED)
    (archive,) = (tmp_path / "archive").iterdir()
    content = bytearray(archive.read_bytes())
    content[-400:-40] = bytes(360)
    archive.write_bytes(content)
    shown = typed("inspect", "url", SEED, "--home", tmp_path)
    assert shown.code == 0
    assert "200: fetched, ok" in shown.out
    assert "quality" not in shown.out


def test_of_two_equal_matches_the_page_of_higher_quality_comes_first_and_explains_why(tmp_path: Path) -> None:
    shouting = "<p>Lighthouse!</p>" * 300
    pages = {
        "/": Page("Home", "", links=["/1", "/2"]),
        "/1": Page("Lighthouse one", "", html=f"{shouting}{'<div></div>' * 9_000}", lang="en"),
        "/2": Page("Lighthouse two", " ".join(["Lighthouse!"] * 300) + prose.text("sea"), lang="en"),
    }
    with TestWeb([Site("a.test", pages)]) as web:
        request = Request(tmp_path, settings_for(web, ranking__text=0.0, ranking__quality=1.0), [SEED])
        build(request)
    engine = open_engine(request)
    try:
        best, other = engine.search("lighthouse", explain=True).hits
    finally:
        engine.close()
    assert best.url == f"{SEED}2"
    assert best.explain["quality"] > other.explain["quality"]
    assert best.score - other.score == pytest.approx(sum(best.explain.values()) - sum(other.explain.values()))
