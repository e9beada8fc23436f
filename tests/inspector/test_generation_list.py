"""Every generation of index and ranks is listed, with what it holds and whether it can be opened."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from graph.webs import CrawledPage, web
from index.damage import WAYS
from index.live import live_index
from periplus.inspector.generation_list import ListedGeneration, list_generations
from periplus.store.checksums import verified, with_checksums
from periplus.store.collection import Collection
from periplus.store.generations import INDEX_KIND, Generations
from search.library import Doc, index, shelve


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    found = shelve(tmp_path, [Doc("http://a.test/", "First", "word")])
    index(found)
    shelve(tmp_path, [Doc("http://b.test/", "Second", "word")])
    index(found)
    return found


def summary(listed: ListedGeneration) -> tuple[str, int, int | None, bool, int | None]:
    return listed.kind, listed.generation, listed.documents, listed.live, listed.format


def test_the_newest_generation_comes_first_and_the_live_one_is_marked(collection: Collection) -> None:
    found = list_generations(collection)
    assert [summary(listed) for listed in found] == [("index", 2, 2, True, 5), ("index", 1, 1, False, 5)]
    assert {listed.problem for listed in found} == {""}
    assert all(abs(time.time() - listed.published) < 600 for listed in found)
    size = sum(path.stat().st_size for path in live_index(collection).rglob("*") if path.is_file())
    assert found[0].bytes == size


def test_a_rollback_is_visible(collection: Collection) -> None:
    Generations(collection.index, INDEX_KIND).roll_back()
    assert [(listed.generation, listed.live) for listed in list_generations(collection)] == [(2, False), (1, True)]


def test_ranks_are_listed_with_their_pages(tmp_path: Path) -> None:
    ranked = web(tmp_path, CrawledPage("http://a.org/", ["http://b.org/"]))
    assert list_generations(ranked.collection) == []
    ranked.rank()
    assert [summary(listed) for listed in list_generations(ranked.collection)] == [("ranks", 1, 2, True, 2)]


@pytest.mark.parametrize("way", ["deleted", "emptied", "zeroed"])
def test_a_damaged_description_is_listed_with_the_problem(collection: Collection, way: str) -> None:
    WAYS[way](live_index(collection) / "meta.json")
    damaged, intact = list_generations(collection)
    assert (damaged.documents, damaged.format, damaged.live) == (None, None, True)
    assert "gen-000002/meta.json is damaged" in damaged.problem
    assert intact.problem == ""


def test_a_missing_file_is_named(collection: Collection) -> None:
    (live_index(collection) / "heads.dat").unlink()
    assert "heads.dat is damaged: the file is missing" in list_generations(collection)[0].problem


def test_an_index_of_an_earlier_release_is_listed_with_its_format(collection: Collection) -> None:
    path = live_index(collection) / "meta.json"
    path.write_bytes(with_checksums({**verified(path.read_bytes()), "format": 1}))
    listed = list_generations(collection)[0]
    assert (listed.format, listed.documents) == (1, 2)
    assert "was built by an earlier release" in listed.problem


def test_without_current_no_generation_is_live(collection: Collection) -> None:
    (collection.index / "CURRENT").write_text("?")
    assert [listed.live for listed in list_generations(collection)] == [False, False]
