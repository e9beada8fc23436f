"""The pages of a host vote for other hosts, not for their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph.webs import CrawledPage, quick, web

pytestmark = pytest.mark.usefixtures("each_kernel")


def test_votes_inside_one_registrable_domain_count_less_for_the_rank_of_hosts(tmp_path: Path) -> None:
    pages = [
        CrawledPage("https://one.family.org/", ["https://two.family.org/", "https://stranger.net/"]),
        CrawledPage("https://two.family.org/"),
        CrawledPage("https://stranger.net/"),
    ]
    crawled = web(tmp_path, *pages)
    ranks = crawled.rank()
    assert ranks.host("stranger.net") > ranks.host("two.family.org") > ranks.host("one.family.org")
    equal = crawled.rank(quick(inside_domain=1.0))
    assert equal.host("stranger.net") == pytest.approx(equal.host("two.family.org"))


def test_many_links_of_one_page_are_one_vote_for_a_host(tmp_path: Path) -> None:
    loud = CrawledPage("https://a.org/1", [f"https://loud.net/{number}" for number in range(10)])
    quiet = CrawledPage("https://a.org/2", ["https://quiet.net/"])
    ranks = web(tmp_path, loud, quiet).rank()
    assert ranks.host("loud.net") == pytest.approx(ranks.host("quiet.net"))


def test_more_pages_are_more_votes(tmp_path: Path) -> None:
    twice = [CrawledPage(f"https://a.org/{number}", ["https://often.net/"]) for number in range(2)]
    ranks = web(tmp_path, *twice, CrawledPage("https://a.org/2", ["https://once.net/"])).rank()
    assert ranks.host("often.net") > ranks.host("once.net")


def test_links_inside_a_host_are_no_votes(tmp_path: Path) -> None:
    busy = [CrawledPage(f"https://busy.org/{n}", [f"https://busy.org/{n + 1}"]) for n in range(9)]
    ranks = web(tmp_path, *busy, CrawledPage("https://calm.org/")).rank()
    assert ranks.host("busy.org") == pytest.approx(ranks.host("calm.org"))


def test_a_host_shows_how_many_of_its_pages_were_crawled(tmp_path: Path) -> None:
    table = web(tmp_path, CrawledPage("https://www.a.co.uk/", ["https://www.a.co.uk/x", "https://b.org/"])).rank().table
    rows = {row["host"]: (row["domain"], row["pages"], row["nodes"]) for row in table.hosts.to_pylist()}
    assert rows == {"www.a.co.uk": ("a.co.uk", 1, 2), "b.org": ("b.org", 0, 1)}
