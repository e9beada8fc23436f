"""A version is found again after its archive file was replaced."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawl.crawling import catalog_of, run_crawl
from periplus.config import Storage
from periplus.errors import DamagedFile
from periplus.model import Fetch
from periplus.retention import prune
from periplus.store.archive.archive_lookup import read_version
from periplus.store.collection import open_collection
from testweb import Page, Site, TestWeb

SEED = "http://a.test/"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A page with two versions, and one that stays the same."""
    with TestWeb([Site("a.test", {"/": Page("One", links=["/b"]), "/b": Page("Still")})]) as web:
        run_crawl(web, tmp_path / "home", SEED)
        web.site("a.test").pages["/"] = Page("Two", links=["/b"])
        run_crawl(web, tmp_path / "home", SEED)
    return tmp_path / "home"


def versions(home: Path, url: str) -> list[Fetch]:
    with catalog_of(home) as catalog:
        return [fetch for fetch in catalog.fetches_of(url) if fetch.is_version]


def test_a_replaced_file_is_looked_up_again_and_a_pruned_version_is_gone(home: Path) -> None:
    collection = open_collection(home)
    old, new = versions(home, SEED)
    (still,) = versions(home, f"{SEED}b")
    assert prune(collection, Storage(keep_versions=1), is_alone=True).files == 1
    assert old.position
    assert new.position
    assert still.position
    assert read_version(collection, SEED, old.at, old.position) is None
    for fetch, title in ((new, b"Two"), (still, b"Still")):
        assert fetch.position
        response = read_version(collection, fetch.url, fetch.at, fetch.position)
        assert response is not None
        assert title in response.body


def test_damage_stays_an_error(home: Path) -> None:
    (fetch,) = versions(home, f"{SEED}b")
    assert fetch.position
    path = home / "archive" / fetch.position.name
    path.write_bytes(b"\0" * path.stat().st_size)
    with pytest.raises(DamagedFile):
        read_version(open_collection(home), fetch.url, fetch.at, fetch.position)
    path.unlink()
    with pytest.raises(DamagedFile, match="cannot be read"):
        read_version(open_collection(home), fetch.url, fetch.at, fetch.position)
