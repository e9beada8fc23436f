"""`periplus rank` and `periplus top` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawl.crawling import periplus, typed
from graph.webs import CrawledPage, web

HUB, A, B = "https://hub.org/", "https://a.org/", "https://b.org/"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ranked") / "collection"
    web(folder, CrawledPage(A, [HUB, B]), CrawledPage(B, [HUB]), CrawledPage(HUB))
    return folder


@pytest.mark.slow
def test_rank_tells_a_program_what_it_made(home: Path) -> None:
    made = periplus("rank", "--home", home, "--json").json
    assert {"nodes": 3, "edges": 3, "hosts": 3, "pages": 3}.items() <= made.items()
    assert 0 < made["iterations"] < 200
    assert made["delta"] <= 1e-6
    assert made["seconds"] > 0
    again = periplus("rank", "--home", home, "--json", "--warm").json
    assert again["generation"] == made["generation"] + 1
    assert again["iterations"] < made["iterations"]


@pytest.mark.slow
def test_rank_tells_a_person_the_steps_on_stderr_and_the_figures_on_stdout(home: Path) -> None:
    outcome = periplus("rank", "--home", home)
    assert outcome.code == 0
    assert "3 (3 crawled, 0 only known from links) on 3 hosts" in outcome.out
    assert "PageRank 1/200, error " in outcome.err


def test_rank_shows_how_many_trusted_hosts_are_known(tmp_path: Path) -> None:
    web(tmp_path, CrawledPage(A, [HUB]))
    (tmp_path / "periplus.toml").write_text('[graph]\ntrusted_hosts = ["a.org", "a.ogr"]\n')
    assert "1 of 2 hosts known" in typed("rank", "--home", tmp_path).out


def test_top_shows_the_highest_first(home: Path) -> None:
    typed("rank", "--home", home)
    pages = typed("top", "pages", "--home", home, "--json", "--size", "2").json["pages"]
    assert [page["url"] for page in pages] == [HUB, B]
    assert HUB in typed("top", "pages", "--home", home).out
    hosts = typed("top", "hosts", "--home", home, "--json").json["hosts"]
    assert hosts[0]["host"] == "hub.org"
    assert "hub.org" in typed("top", "hosts", "--home", home).out


def test_top_before_the_first_ranking_says_what_to_do(tmp_path: Path) -> None:
    web(tmp_path, CrawledPage(A))
    outcome = typed("top", "pages", "--home", tmp_path)
    assert outcome.code == 1
    assert "Run `periplus rank` first" in outcome.complaint


def test_rank_without_a_collection_says_what_to_do(tmp_path: Path) -> None:
    outcome = typed("rank", "--home", tmp_path / "none")
    assert outcome.code == 1
    assert "holds no collection" in outcome.complaint
