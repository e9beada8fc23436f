"""Ranking a crawl: which links count for which page, always with the same result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graph.webs import QUICK, CrawledPage, quick, web
from index.damage import change, flip
from periplus.errors import BadUrl, DamagedFile
from periplus.graph.run import rank
from store.records import error_line

HUB, A, B, C = "https://hub.org/", "https://a.org/", "https://b.org/", "https://c.org/"


def test_a_page_that_many_link_to_ranks_above_one_that_few_link_to(tmp_path: Path) -> None:
    ranks = web(tmp_path, CrawledPage(A, [HUB, C]), CrawledPage(B, [HUB]), CrawledPage(HUB), CrawledPage(C)).rank()
    assert ranks.of(HUB) > ranks.of(C) > ranks.of(A)


def test_the_ranks_of_all_pages_and_of_all_hosts_sum_to_one(tmp_path: Path) -> None:
    table = web(tmp_path, CrawledPage(A, [HUB, C]), CrawledPage(B, [HUB]), CrawledPage(C, [A])).rank().table
    assert table.ranks.sum(dtype=float) == pytest.approx(1, abs=1e-6)
    assert table.hosts["rank"].to_numpy().sum(dtype=float) == pytest.approx(1, abs=1e-6)


def test_a_page_that_nothing_is_known_of_ranks_like_one_that_nothing_links_to(tmp_path: Path) -> None:
    ranks = web(tmp_path, CrawledPage(A, [HUB])).rank()
    assert ranks.of("https://never.met/") == pytest.approx(ranks.of(A))


def test_trusted_hosts_lift_themselves_and_what_they_link_to(tmp_path: Path) -> None:
    crawled = web(tmp_path, CrawledPage(A, [HUB]), CrawledPage(B, [C]), CrawledPage(HUB), CrawledPage(C))
    plain = crawled.rank()
    assert plain.of(HUB) == pytest.approx(plain.of(C))
    trusting = crawled.rank(quick(trusted_hosts=["a.org", "not.crawled"]))
    assert trusting.of(A) > trusting.of(B)
    assert trusting.of(HUB) > trusting.of(C)
    assert trusting.host("hub.org") > trusting.host("c.org")
    assert trusting.summary.trusted == 1


def test_a_trusted_host_may_be_written_as_people_write_it(tmp_path: Path) -> None:
    crawled = web(tmp_path, CrawledPage("https://xn--bcher-kva.example/"), CrawledPage(A))
    assert crawled.rank(quick(trusted_hosts=["Bücher.EXAMPLE", "A.org"])).summary.trusted == 2
    assert "not a host/" in error_line(BadUrl, lambda: crawled.rank(quick(trusted_hosts=["not a host/"])), exit_code=2)


def test_a_collection_without_pages_can_be_ranked(tmp_path: Path) -> None:
    ranks = web(tmp_path).rank()
    assert (ranks.summary.nodes, ranks.summary.edges) == (0, 0)
    assert ranks.of(A) == 1
    assert ranks.host("a.org") == 1
    assert ranks.names(A) == {}


def test_a_page_without_links_has_all_the_rank_there_is(tmp_path: Path) -> None:
    assert web(tmp_path, CrawledPage(A)).rank().of(A) == pytest.approx(1)


def test_the_same_crawl_gives_the_same_bytes(tmp_path: Path) -> None:
    pages = [
        CrawledPage(f"https://h{n % 7}.org/{n}", [(f"https://h{n * k % 11}.org/{k}", f"t{k}") for k in range(9)])
        for n in range(99)
    ]
    first = web(tmp_path / "first", *pages).rank().table.folder
    other = web(tmp_path / "other", *pages[50:])
    other.add(*pages[:50])
    second = other.rank().table.folder
    for path in sorted(first.glob("*.*")):
        if path.name != "meta.json":  # which names the segments
            assert path.read_bytes() == (second / path.name).read_bytes(), path.name


def test_a_warm_start_comes_to_the_same_ranks_in_fewer_iterations(tmp_path: Path) -> None:
    pages = [CrawledPage(f"https://h.org/{n}", [f"https://h.org/{n * k % 97}" for k in range(1, 9)]) for n in range(97)]
    crawled = web(tmp_path, *pages)
    cold = crawled.rank()
    crawled.add(CrawledPage("https://h.org/new", ["https://h.org/5"]))
    fresh = crawled.rank()
    warm = crawled.rank(warm=True)
    assert warm.summary.iterations < fresh.summary.iterations
    assert np.abs(warm.table.ranks - fresh.table.ranks).sum() < 1e-5
    assert cold.summary.generation + 2 == warm.summary.generation


def test_the_first_warm_start_is_a_cold_one(tmp_path: Path) -> None:
    assert web(tmp_path, CrawledPage(A, [B])).rank(warm=True).summary.generation == 1


def test_a_warm_start_from_damaged_ranks_is_a_cold_one(tmp_path: Path) -> None:
    crawled = web(tmp_path, CrawledPage(A, [B]), CrawledPage(B, [A, C]))
    cold, said = crawled.rank(), list[str]()
    flip(cold.table.folder / "ranks.npy", 0.1)
    again = rank(crawled.collection, QUICK, warm=True, progress=said.append)
    assert (again.generation, again.iterations) == (2, cold.summary.iterations)
    assert any("ignoring the last ranks: " in line and "ranks.npy" in line for line in said)


def test_progress_shows_the_steps_and_the_error(tmp_path: Path) -> None:
    said: list[str] = []
    rank(web(tmp_path, CrawledPage(A, [B])).collection, QUICK, progress=said.append)
    assert said[:2] == ["checking segments", "merging duplicate URLs"]
    assert any(line.startswith("PageRank 1/200, error ") for line in said)


@pytest.mark.parametrize(("kind", "column"), [("pages", "url"), ("links", "target")])
def test_nothing_is_ranked_from_a_segment_that_has_changed_but_can_be_read(
    tmp_path: Path, kind: str, column: str
) -> None:
    crawled = web(tmp_path, CrawledPage(A, [B]))
    (path,) = crawled.collection.segments.glob(f"{kind}-*.parquet")
    change(path, column, lambda url: url.replace("https://", "https://x"))
    line = error_line(DamagedFile, lambda: rank(crawled.collection, QUICK))
    assert line.startswith(f"{path} is damaged: ")
    assert line.endswith("Run `periplus repair`.")
    assert {entry.name for entry in crawled.collection.ranks.iterdir()} == {"rank.lock"}


def test_a_warm_start_does_not_use_changed_ranks(tmp_path: Path) -> None:
    crawled = web(tmp_path, CrawledPage(A, [B]), CrawledPage(B, [A, C]))
    cold, said = crawled.rank(), list[str]()
    flip(cold.table.folder / "ranks.npy", 1.0)
    again = rank(crawled.collection, QUICK, warm=True, progress=said.append)
    assert again.iterations == cold.summary.iterations
    assert any("ignoring the last ranks: " in line and "ranks.npy" in line for line in said)


@pytest.mark.parametrize("kind", ["pages", "links"])
def test_a_damaged_segment_is_reported_and_the_last_ranks_stay(tmp_path: Path, kind: str) -> None:
    crawled = web(tmp_path, CrawledPage(A, [B]))
    before = crawled.rank().table.folder
    (path,) = crawled.collection.segments.glob(f"{kind}-*.parquet")
    path.write_bytes(path.read_bytes()[:-20])
    line = error_line(DamagedFile, lambda: rank(crawled.collection, QUICK))
    assert "Run `periplus repair`." in line
    assert path.name in line
    assert {entry.name for entry in crawled.collection.ranks.iterdir()} == {"CURRENT", "rank.lock", before.name}
