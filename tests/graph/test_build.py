"""Which links count, and how pages are numbered."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.test_pagerank import textbook
from graph.webs import CrawledPage, quick, web
from periplus.url import host_of

HUB, A, B, C = "https://hub.org/", "https://a.org/", "https://b.org/", "https://c.org/"


def test_a_page_that_was_never_fetched_has_a_rank_too(tmp_path: Path) -> None:
    ranks = web(tmp_path, CrawledPage(A, [HUB])).rank()
    assert ranks.of(HUB) > ranks.of(A)
    assert (ranks.summary.nodes, ranks.summary.pages, ranks.summary.edges) == (2, 1, 1)


def test_only_the_links_of_the_latest_version_of_a_page_count(tmp_path: Path) -> None:
    crawled = web(tmp_path, CrawledPage(A, [B, C], at=1000))
    crawled.add(CrawledPage(A, [C, HUB], at=2000))
    ranks = crawled.rank()
    assert not ranks.known(B)
    assert ranks.voters(C) == ranks.voters(HUB) == {A}


def test_links_to_itself_and_repeated_links_do_not_count(tmp_path: Path) -> None:
    ranks = web(tmp_path, CrawledPage(A, [A, B, (B, "again"), A]), CrawledPage(B)).rank()
    assert ranks.summary.edges == 1
    assert ranks.voters(A) == set()


def test_nofollow_links_count_only_when_configured(tmp_path: Path) -> None:
    crawled = web(tmp_path, CrawledPage(A, [(B, "b", True), (C, "c", False)]))
    assert not crawled.rank().known(B)
    assert crawled.rank(quick(nofollow=True)).voters(B) == {A}


def test_the_links_of_a_page_to_one_other_host_are_limited(tmp_path: Path) -> None:
    away = [f"https://farm.net/{number:02}" for number in range(30)]
    inside = [f"https://a.org/{number:02}" for number in range(30)]
    ranks = web(tmp_path, CrawledPage(A, [*away, *inside, B])).rank(quick(links_per_host=5))
    assert ranks.summary.edges == 5 + 30 + 1
    assert [bool(ranks.voters(url)) for url in away[:6]] == [True] * 5 + [False]


def test_pages_are_numbered_by_host_and_hosts_by_domain(tmp_path: Path) -> None:
    urls = ["http://z.example.org/b", "https://example.net/", "https://a.example.org/", "https://z.example.org/a"]
    ranks = web(tmp_path, CrawledPage("https://example.org/", [*urls, "https://z.example.org/b"])).rank()
    assert [ranks.table.url(node) for node in range(6)] == [
        "https://example.net/",
        "https://example.org/",
        "https://a.example.org/",
        "https://z.example.org/a",
        "http://z.example.org/b",
        "https://z.example.org/b",
    ]


def test_hosts_are_cut_out_of_urls_in_sql_as_in_python(tmp_path: Path) -> None:
    urls = ["http://[2001:db8::1]:8080/x", "http://[2001:db8::1]/", "http://b.org:8080/x", "https://a.b.org/"]
    urls += ["http://1.2.3.4/", "https://c.org/http://[other.org]:80/"]
    table = web(tmp_path, CrawledPage(A, urls)).rank().table
    assert set(table.hosts["host"].to_pylist()) == {"a.org", *map(host_of, urls)}


ADDRESSES = [f"https://h{number % 4}.org/{number}" for number in range(12)]
Link = tuple[str, str, bool]
LINK = st.tuples(st.sampled_from(ADDRESSES), st.just("text"), st.booleans())
PAGE = st.tuples(st.sampled_from(ADDRESSES), st.lists(LINK, max_size=8))


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(PAGE, max_size=12))
def test_any_small_web_is_ranked_as_by_the_textbook(pages: list[tuple[str, list[Link]]]) -> None:
    latest = dict(pages)
    followed = [(url, target) for url, links in latest.items() for target, _, nofollow in links if not nofollow]
    votes = {(url, target) for url, target in followed if url != target}
    nodes = sorted({*latest, *(target for _, target in followed)})
    with tempfile.TemporaryDirectory() as home:
        ranks = web(
            Path(home), *(CrawledPage(url, links, at=1000.0 + n) for n, (url, links) in enumerate(pages))
        ).rank()
        found = np.array([ranks.of(url) for url in nodes])
    assert (ranks.summary.nodes, ranks.summary.edges) == (len(nodes), len(votes))
    if nodes:
        pairs = np.array([(nodes.index(s), nodes.index(t)) for s, t in sorted(votes)], np.uint32).reshape(-1, 2)
        assert np.abs(found - textbook(len(nodes), pairs)).sum() <= 3e-6
