"""URLs of one page share one rank, and no site can take over the links of another."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from graph.webs import CrawledPage, RedirectedUrl, web

OLD, NEW, A, B, C = "http://site.org/old", "https://site.org/new", "https://a.org/", "https://b.org/", "https://c.org/"


def test_links_to_a_redirected_url_count_for_its_target(tmp_path: Path) -> None:
    ranks = web(
        tmp_path, CrawledPage(A, [OLD]), CrawledPage(B, [NEW]), CrawledPage(NEW), RedirectedUrl(OLD, NEW)
    ).rank()
    assert ranks.stands_at(OLD) == NEW
    assert ranks.of(OLD) == ranks.of(NEW)
    assert ranks.voters(NEW) == {A, B}


def test_links_count_for_the_end_of_a_chain_of_redirects(tmp_path: Path) -> None:
    steps = [f"https://site.org/{number}" for number in range(20)]
    moves = [RedirectedUrl(first, second) for first, second in pairwise(steps)]
    ranks = web(tmp_path, CrawledPage(A, [steps[0]]), *moves).rank()
    assert {ranks.stands_at(step) for step in steps} == {steps[-1]}
    assert ranks.voters(steps[-1]) == {A}


def test_urls_in_a_redirect_loop_are_not_merged(tmp_path: Path) -> None:
    circle = [RedirectedUrl(OLD, NEW), RedirectedUrl(NEW, OLD), RedirectedUrl(C, OLD)]
    ranks = web(tmp_path, CrawledPage(A, [OLD, NEW, C]), *circle).rank()
    assert [ranks.stands_at(url) for url in (OLD, NEW, C)] == [OLD, NEW, C]


def test_a_url_that_is_a_page_again_is_not_merged(tmp_path: Path) -> None:
    ranks = web(
        tmp_path, CrawledPage(A, [OLD]), RedirectedUrl(OLD, NEW, at=1000), CrawledPage(OLD, [B], at=2000)
    ).rank()
    assert ranks.stands_at(OLD) == OLD
    assert ranks.voters(B) == {OLD}


def test_links_of_a_page_that_now_redirects_do_not_count(tmp_path: Path) -> None:
    ranks = web(
        tmp_path, CrawledPage(OLD, [B], at=1000), RedirectedUrl(OLD, NEW, at=2000), CrawledPage(NEW, [C], at=2000)
    ).rank()
    assert not ranks.known(B)
    assert ranks.voters(C) == {NEW}


def test_a_page_is_merged_into_its_canonical_url_of_the_same_domain(tmp_path: Path) -> None:
    printed = "https://www.site.org/new?print=1"
    ranks = web(
        tmp_path, CrawledPage(A, [printed]), CrawledPage(printed, [B], canonical=NEW), CrawledPage(NEW, [C])
    ).rank()
    assert ranks.stands_at(printed) == NEW
    assert ranks.voters(NEW) == {A}
    assert ranks.voters(C) == {NEW}
    assert not ranks.known(B), "one page votes for each: the one at the preferred address"


def test_a_page_represents_its_canonical_url_when_that_was_not_fetched(tmp_path: Path) -> None:
    ranks = web(tmp_path, CrawledPage(OLD, [B], canonical=NEW), CrawledPage(f"{OLD}2", [C], canonical=NEW)).rank()
    assert ranks.voters(B) == {NEW}
    assert not ranks.known(C)


def test_a_canonical_url_of_another_domain_is_ignored(tmp_path: Path) -> None:
    ranks = web(tmp_path, CrawledPage(A, [B], canonical=NEW), CrawledPage(C, [NEW])).rank()
    assert ranks.stands_at(A) == A
    assert ranks.voters(B) == {A}


def test_a_canonical_url_that_redirects_back_is_ignored(tmp_path: Path) -> None:
    ranks = web(
        tmp_path, CrawledPage(A, [OLD, NEW]), CrawledPage(NEW, [B], canonical=OLD), RedirectedUrl(OLD, NEW)
    ).rank()
    assert ranks.stands_at(OLD) == ranks.stands_at(NEW) == NEW
    assert ranks.voters(NEW) == {A}


def test_a_redirect_to_a_page_with_another_canonical_url_ends_there(tmp_path: Path) -> None:
    third = "https://site.org/third"
    ranks = web(tmp_path, CrawledPage(A, [OLD]), RedirectedUrl(OLD, NEW), CrawledPage(NEW, canonical=third)).rank()
    assert ranks.stands_at(OLD) == ranks.stands_at(NEW) == third


def test_the_same_bytes_on_one_host_are_one_page(tmp_path: Path) -> None:
    root, index = "https://site.org/", "https://site.org/index.html"
    pages = [
        CrawledPage(index, [B], body="home"),
        CrawledPage(root, [B], body="home"),
        CrawledPage(A, [index]),
        CrawledPage(B, [root]),
    ]
    ranks = web(tmp_path, *pages).rank()
    assert ranks.stands_at(index) == root
    assert ranks.voters(root) == {A, B}
    assert ranks.voters(B) == {root}


def test_a_redirect_to_a_duplicate_leads_to_the_merged_page(tmp_path: Path) -> None:
    root, index = "https://site.org/", "https://site.org/index.html"
    copies = [CrawledPage(index, body="home"), CrawledPage(root, body="home")]
    ranks = web(tmp_path, *copies, RedirectedUrl(OLD, index), CrawledPage(A, [OLD])).rank()
    assert ranks.stands_at(OLD) == root
    assert ranks.voters(root) == {A}


def test_links_of_a_document_on_two_hosts_count_once(tmp_path: Path) -> None:
    here, there = "https://one.org/doc", "https://two.org/doc"
    original = CrawledPage(here, [C, "https://one.org/next"], body="same")
    ranks = web(tmp_path, original, CrawledPage(there, [C, "https://two.org/next"], body="same")).rank()
    assert ranks.voters(C) == {here}
    assert ranks.voters("https://two.org/next") == {there}
