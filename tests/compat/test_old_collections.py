"""A collection that an earlier release made opens, continues, ranks and is indexed.

Each archive beside this file is a small collection, named by the schema of its catalog, and the format of its index if
other than the first one with that schema: five URLs of `http://a.test/`, crawled, ranked and indexed. A release that
changes a format adds one of its own.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from crawl.crawling import catalog_of, reach, sound, typed
from index.damage import flip
from periplus.store.collection import open_collection
from search.library import opened
from testweb import Page, Site, TestWeb

FOLDER = Path(__file__).parent
COLLECTIONS = sorted(FOLDER.glob("*.tar.xz"))
OLD_INDEX = ["catalog-6", "catalog-7", "catalog-8", "catalog-8-index-4"]  # their index has a format before 5


def unpacked(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as content:
        content.extractall(folder, filter="data")
    return folder


@pytest.fixture(params=COLLECTIONS, ids=lambda path: path.name.partition(".")[0])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return unpacked(request.param, tmp_path / "home")


def found(home: Path, query: str) -> list[str]:
    outcome = typed("search", query, "--home", home, "--json")
    assert outcome.code == 0, outcome.err
    return [hit["url"] for hit in outcome.json["results"]]


@pytest.mark.parametrize("name", ["catalog-8-index-5", "catalog-11-index-6"])  # the latter has two shards
def test_a_collection_of_this_format_is_searched_as_it_is_and_updated(tmp_path: Path, name: str) -> None:
    home = unpacked(FOLDER / f"{name}.tar.xz", tmp_path / "home")
    assert found(home, "harbour Rome")[0] == "http://a.test/ostia"
    assert typed("index", "--home", home, "--json").json["build"] in {"none", "full"}  # full: by another release
    assert found(home, "harbour Rome")[0] == "http://a.test/ostia"


def images_in(home: Path) -> list[str]:
    with opened(open_collection(home)) as engine:
        return [hit.url for hit in engine.media("lighthouse", "image").hits]


def test_images_are_found_in_an_index_of_this_format(tmp_path: Path) -> None:
    home = unpacked(FOLDER / "catalog-8-index-5.tar.xz", tmp_path / "home")
    assert images_in(home) == ["http://a.test/img/lighthouse.png"]


@pytest.mark.parametrize("name", OLD_INDEX)
def test_an_index_of_an_earlier_release_has_to_be_built_again(tmp_path: Path, name: str) -> None:
    home = unpacked(FOLDER / f"{name}.tar.xz", tmp_path / "home")
    outcome = typed("search", "harbour Rome", "--home", home)
    assert outcome.code == 1
    assert outcome.complaint.endswith("was built by an earlier release. `periplus index` builds a new one.")
    assert typed("index", "--home", home).code == 0
    assert found(home, "harbour Rome")[0] == "http://a.test/ostia"


@pytest.mark.parametrize("kind", ["pages", "links"])
def test_damage_of_an_old_segment_is_noticed(home: Path, kind: str) -> None:
    (path,) = (home / "segments").glob(f"{kind}-w00-000001-r*.parquet")
    flip(path)
    outcome = typed("rank", "--home", home)
    assert outcome.code == 1
    assert f"{path.name} is damaged: its content does not match its checksum" in outcome.err


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
