"""The report about a URL includes its rank and the links behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawl.crawling import run_crawl, typed
from periplus.inspector.url_report import rank_of
from periplus.store.collection import open_collection
from testweb import Page, Site, TestWeb

HUB = "http://a.test/hub"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("ranked")
    pages = {f"/{name}": Page(title=name, text=f"About {name}.", links=[("/hub", "The hub")]) for name in "bcd"}
    pages |= {"/": Page(title="Home", text="Welcome.", links=["/b", "/c", "/d"]), "/hub": Page(title="Hub", text="Me.")}
    with TestWeb([Site("a.test", pages)]) as web:
        run_crawl(web, home, "http://a.test/")
    return home


def test_before_the_first_ranking_there_is_nothing_to_tell(home: Path) -> None:
    if not (home / "ranks").exists():
        assert rank_of(open_collection(home), HUB) is None


@pytest.mark.slow
def test_a_page_shows_its_links_and_anchor_texts(home: Path) -> None:
    assert typed("rank", "--home", home).code == 0
    found = rank_of(open_collection(home), HUB)
    assert found is not None
    assert (found["place"], found["in_links"]) == (1, 3)
    assert {link["url"] for link in found["strongest"]} == {f"http://a.test/{name}" for name in "bcd"}
    assert found["anchors"]["texts"] == ("The hub",)
    told = typed("inspect", "url", HUB, "--home", home)
    assert "number 1" in told.out
    assert "http://a.test/b adds" in told.out
    assert typed("inspect", "url", HUB, "--home", home, "--json").json["rank"]["place"] == 1


@pytest.mark.slow
def test_a_url_that_nothing_leads_to_has_no_rank(home: Path) -> None:
    assert typed("rank", "--home", home).code == 0
    assert rank_of(open_collection(home), "http://a.test/unheard-of") is None
