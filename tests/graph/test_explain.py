"""The explanation of a rank: which links contribute how much, its place, and the top lists."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.webs import CrawledPage, Ranks, RedirectedUrl, web
from periplus.graph.explain import explain, highest, top_hosts, top_pages
from periplus.inspector.url_report import rank_of
from periplus.store.collection import create_collection
from periplus.url import url_id

HUB, A, B, C = "https://hub.org/", "https://a.org/", "https://b.org/", "https://c.org/"


@pytest.fixture
def ranks(tmp_path: Path) -> Ranks:
    pages = [
        CrawledPage(A, [(HUB, "the hub"), B, C]),
        CrawledPage(B, [HUB]),
        CrawledPage(HUB),
        CrawledPage(C, [HUB, A]),
    ]
    return web(tmp_path, *pages, RedirectedUrl("http://hub.org/", HUB)).rank()


def test_the_rank_is_the_sum_of_in_links_and_random_jumps(ranks: Ranks) -> None:
    found = explain(ranks.table, url_id(HUB))
    assert found is not None
    assert sum(link.mass for link in found.strongest) == pytest.approx(found.from_links)
    assert found.from_links + ranks.table.figures.floor == pytest.approx(found.rank, abs=1e-5)


def test_the_strongest_in_link_comes_first(ranks: Ranks) -> None:
    found = explain(ranks.table, url_id(HUB), most=2)
    assert found is not None
    assert found.in_links == 3
    first, second = found.strongest
    assert (first.url, first.links) == (B, 1)
    assert first.mass == pytest.approx(0.85 * first.rank)
    assert first.mass > second.mass


def test_the_highest_page_is_in_the_first_place(ranks: Ranks) -> None:
    found = explain(ranks.table, url_id(HUB))
    assert found is not None
    assert (found.place, found.percentile, found.crawled) == (1, 75, True)
    assert found.anchors.texts == ("the hub",)
    assert found.host_rank == pytest.approx(ranks.host("hub.org"))


def test_a_merged_url_is_explained_by_the_page_it_was_merged_into(ranks: Ranks) -> None:
    found = explain(ranks.table, url_id("http://hub.org/"))
    assert found is not None
    assert found.url == HUB


def test_an_unknown_page_has_no_explanation(ranks: Ranks) -> None:
    assert explain(ranks.table, url_id("https://never.met/")) is None


def test_the_top_lists_name_the_highest_first(ranks: Ranks) -> None:
    pages, hosts = top_pages(ranks.table, 2), top_hosts(ranks.table, 99)
    assert pages[0].url == HUB
    assert (pages[0].in_links, pages[0].crawled) == (3, True)
    assert pages[0].rank > pages[1].rank
    assert [host.rank for host in hosts] == sorted((host.rank for host in hosts), reverse=True)
    assert {host.host: (host.pages, host.known) for host in hosts}["hub.org"] == (1, 1)


def test_the_inspector_shows_generation_and_reasons(tmp_path: Path) -> None:
    crawled = web(tmp_path / "web", CrawledPage(A, [(HUB, "the hub")]))
    assert rank_of(crawled.collection, HUB) is None
    crawled.rank()
    found = rank_of(crawled.collection, HUB)
    assert found is not None
    assert (found["generation"], found["url"], found["crawled"]) == (1, HUB, False)
    assert found["strongest"][0]["url"] == A
    assert found["anchors"]["texts"] == ("the hub",)
    assert rank_of(crawled.collection, "https://never.met/") is None
    assert rank_of(create_collection(tmp_path / "new"), HUB) is None


@given(st.lists(st.integers(0, 5), max_size=20), st.integers(1, 25))
def test_the_highest_values_come_in_order_the_first_of_equals_first(values: list[int], most: int) -> None:
    expected = sorted(range(len(values)), key=lambda place: (-values[place], place))[:most]
    assert highest(np.array(values, float), most).tolist() == expected
