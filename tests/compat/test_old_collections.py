"""A collection that an earlier release made opens, is searched, continues, ranks and is indexed.

Each archive beside this file is a small collection, named by the schema of its catalog: five URLs of `http://a.test/`,
crawled, ranked and indexed. A release that changes a format adds one of its own.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from crawl.crawling import catalog_of, reach, sound, typed
from testweb import Page, Site, TestWeb

COLLECTIONS = sorted(Path(__file__).parent.glob("*.tar.xz"))


@pytest.fixture(params=COLLECTIONS, ids=lambda path: path.name.partition(".")[0])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    with tarfile.open(request.param) as archive:
        archive.extractall(folder, filter="data")
    return folder


def found(home: Path, query: str) -> list[str]:
    outcome = typed("search", query, "--home", home, "--json")
    assert outcome.code == 0, outcome.err
    return [hit["url"] for hit in outcome.json["results"]]


def test_an_old_collection_is_searched_as_it_is(home: Path) -> None:
    assert found(home, "harbour Rome")[0] == "http://a.test/ostia"


def test_an_old_collection_is_sound(home: Path) -> None:
    sound(home)
    assert typed("status", "--home", home).code == 0
    assert "reason" in typed("inspect", "url", "http://a.test/ostia", "--home", home).out


@pytest.mark.slow
def test_an_old_collection_continues_ranks_and_is_indexed(home: Path) -> None:
    with catalog_of(home) as catalog:
        before = catalog.counters()["fetched"]
    new = Page("Puteoli", "A harbour north of Naples.", lang="en")
    home_page = Page("Harbours", "All harbours.", ["/ostia", "/puteoli"], lang="en")
    with TestWeb([Site("a.test", {"/": home_page, "/puteoli": new})]) as web:
        assert typed("crawl", "http://a.test/", "--home", home, *reach(web)).code == 0
    with catalog_of(home) as catalog:
        assert catalog.counters()["fetched"] == before + 2
    for command in ("rank", "index"):
        assert typed(command, "--home", home).code == 0
    assert found(home, "Naples") == ["http://a.test/puteoli"]
    sound(home)
