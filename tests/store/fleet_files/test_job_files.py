"""Jobs on a node of a fleet read the files of all nodes, and other nodes see what they write."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from graph.webs import CrawledPage, web
from periplus.archives.exporter import Selection, export_archive
from periplus.config import Indexing, LinkAnalysis, Settings
from periplus.errors import CollectionLocked, DamagedFile, NoIndex, ObjectChanged, ObjectMissing, StorageUnavailable
from periplus.graph.run import rank
from periplus.index.build import build_index
from periplus.inspector.generation_list import list_generations, list_published
from periplus.inspector.verify import verify
from periplus.reparse import reparse
from periplus.search.engine import SearchEngine
from periplus.store.archive.archive_lookup import read_archived
from periplus.store.catalog.batch import ArchiveFile
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection, create_collection
from periplus.store.fleet_files.job_files import bring_archives, bring_segments
from periplus.store.fleet_files.published_generations import Current, PublishedGenerations
from periplus.store.fleet_files.shared_generations import bring_to_read, roll_back, sharing_index
from periplus.store.generations import INDEX_KIND, Generations, number_of
from periplus.store.objects.open_store import open_store
from periplus.store.ranks import open_ranks
from periplus.store.segments.compaction import compact
from search.library import Doc, index, settings, shelve, urls
from store.fleet_files.fleet_files import build

DOCS = [Doc("http://a.test/", "Old harbour", "harbour"), Doc("http://b.test/", "New harbour", "harbour of stone")]


@pytest.fixture
def crawled(tmp_path: Path) -> Collection:
    """The node that has crawled; its files are in the object store."""
    (tmp_path / "objects").mkdir()
    made = shelve(tmp_path / "crawled", DOCS[:1])
    shelve(made.home, DOCS[1:])
    store_files(made, f"file://{tmp_path}/objects")
    return made


def store_files(made: Collection, storage: str) -> None:
    store = open_store(storage)
    for folder in (made.archive, made.segments):
        for path in folder.iterdir():
            store.put_file(f"{folder.name}/{path.name}", path)


def other_node(tmp_path: Path, name: str = "other") -> Collection:
    """A node with the same catalog, and without files."""
    node = create_collection(tmp_path / name)
    shutil.copy(tmp_path / "crawled" / "crawl.db", node.catalog)
    return replace(node, storage=f"file://{tmp_path}/objects")


def titles(node: Collection) -> list[str]:
    with closing(SearchEngine.open(node, settings())) as engine:
        return sorted(urls(engine.search("harbour")))


@pytest.mark.usefixtures("crawled")
def test_another_node_builds_the_index_and_publishes_it(tmp_path: Path) -> None:
    builder, reader = other_node(tmp_path), other_node(tmp_path, "reader")
    index(builder)
    assert titles(builder) == ["http://a.test/", "http://b.test/"]
    with sharing_index(reader, 3):
        pass
    assert titles(reader) == titles(builder)


@pytest.mark.usefixtures("crawled")
def test_a_build_continues_the_generation_that_another_node_has_built(tmp_path: Path) -> None:
    index(other_node(tmp_path, "first"))
    second = other_node(tmp_path, "second")
    assert index(second).build == "none"
    assert titles(second) == ["http://a.test/", "http://b.test/"]


def test_ranks_of_one_node_are_used_by_another(tmp_path: Path) -> None:
    made = web(tmp_path / "crawled", CrawledPage("https://a.org/", ["https://b.org/"])).collection
    (tmp_path / "objects").mkdir()
    store_files(made, f"file://{tmp_path}/objects")
    rank(other_node(tmp_path, "first"), LinkAnalysis())
    second = other_node(tmp_path, "second")
    index(second)
    ranks = open_ranks(second.ranks)
    assert ranks is not None
    assert rank(second, LinkAnalysis()).generation == 2


def test_who_publishes_second_goes_back_to_the_last_generation(tmp_path: Path, crawled: Collection) -> None:
    del crawled
    node = other_node(tmp_path)
    index(node)
    other = other_node(tmp_path, "faster")
    with sharing_index(other, 3):
        pass

    def build_slowly() -> None:
        with sharing_index(node, 3):
            build(node.index, {"a": b"slower"})
            with sharing_index(other, 3):
                build(other.index, {"a": b"faster"})

    with pytest.raises(ObjectChanged):
        build_slowly()
    live = Generations(node.index, INDEX_KIND).live()
    assert live is not None
    assert live.name == "gen-000001"
    with sharing_index(node, 3):
        pass
    assert (node.index / "gen-000002" / "a").read_bytes() == b"faster"


@pytest.mark.usefixtures("crawled")
def test_pages_are_parsed_again_on_another_node(tmp_path: Path) -> None:
    node = other_node(tmp_path)
    done = reparse(node, Settings(), everything=False)
    assert (done.pages, done.unread) == (2, 0)
    assert not list(node.archive.iterdir())  # they were borrowed
    third = create_collection(tmp_path / "third")
    shutil.copy(node.catalog, third.catalog)
    index(replace(third, storage=node.storage))
    assert titles(third) == ["http://a.test/", "http://b.test/"]


@pytest.mark.usefixtures("crawled")
def test_segments_are_merged_and_the_old_objects_are_deleted_an_hour_later(tmp_path: Path) -> None:
    node = other_node(tmp_path)
    assert compact(node, fewest=2).merged == 2
    store = open_store(node.storage)
    merged = [one.name for one in store.list("segments") if "000001-000002" in one.name]
    assert len(merged) == 2
    assert len(list(store.list("segments"))) == 6
    for path in (tmp_path / "objects" / "segments").iterdir():
        os.utime(path, (time.time() - 2 * 3600,) * 2)
    compact(node, fewest=2)
    assert [one.name for one in store.list("segments")] == merged
    with closing(open_catalog(node)) as catalog:
        shutil.rmtree(node.segments)
        node.segments.mkdir()
        bring_segments(node, catalog.segments())


@pytest.mark.usefixtures("crawled")
def test_another_node_exports_and_verifies(tmp_path: Path) -> None:
    node = other_node(tmp_path)
    export_archive(node, settings(), Selection(), tmp_path / "out.warc.gz")
    assert (tmp_path / "out.warc.gz").stat().st_size > 500
    assert verify(node).problems == []
    assert not list(node.archive.iterdir())


@pytest.mark.usefixtures("crawled")
def test_a_page_is_read_from_the_object_store(tmp_path: Path) -> None:
    node = other_node(tmp_path)
    with closing(open_catalog(node)) as catalog:
        (fetch,) = catalog.fetches_of("http://a.test/")
    assert fetch.position is not None
    assert read_archived(node, fetch.position).url == "http://a.test/"
    open_store(node.storage).delete([f"archive/{fetch.position.name}"])
    with pytest.raises(ObjectMissing):
        read_archived(node, fetch.position)


def test_a_damaged_object_is_not_brought(tmp_path: Path, crawled: Collection) -> None:
    node = other_node(tmp_path)
    with closing(open_catalog(node)) as catalog:
        segments, archives = catalog.segments(), catalog.archives()
    broken = tmp_path / "objects" / "segments" / segments[0].name
    broken.write_bytes(bytes(broken.stat().st_size))
    with pytest.raises(DamagedFile, match=rf"{segments[0].name} is damaged: its content"):
        bring_segments(node, segments)
    with pytest.raises(DamagedFile, match="bytes instead of"):
        bring_archives(node, [archives[0]._replace(committed=7)])
    assert not (node.segments / segments[0].name).exists()
    assert not list(node.archive.iterdir())
    bring_segments(crawled, segments)  # without an object store, nothing happens
    bring_archives(crawled, [ArchiveFile(1, "missing", 0, 0)])


def live_number(node: Collection) -> int:
    live = Generations(node.index, INDEX_KIND).live()
    assert live is not None
    return number_of(live)


@pytest.mark.usefixtures("crawled")
def test_after_a_rollback_every_node_searches_the_earlier_index(tmp_path: Path) -> None:
    head, reader = other_node(tmp_path), other_node(tmp_path, "reader")
    with closing(open_catalog(head)) as catalog:
        first = catalog.segments("pages")[0].name
    build_index(head, Indexing(memory_mb=128), only={first})
    index(head)
    with sharing_index(reader, 3):
        pass
    assert titles(reader) == ["http://a.test/", "http://b.test/"]
    assert roll_back(head, "index") == 1
    with sharing_index(reader, 3):  # also what a build does first
        pass
    assert titles(head) == titles(reader) == ["http://a.test/"]
    assert roll_back(reader, "index", 2) == 2
    with sharing_index(head, 3):
        pass
    assert titles(head) == ["http://a.test/", "http://b.test/"]
    with pytest.raises(NoIndex, match="has no generation 7"):
        roll_back(head, "index", 7)


def test_a_build_whose_lock_was_lost_is_not_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "objects").mkdir()
    node = replace(create_collection(tmp_path / "node"), storage=f"file://{tmp_path}/objects")
    with sharing_index(node, 3):
        build(node.index, {"a": b"before"})

    @contextmanager
    def losing(*_: object) -> Iterator[Callable[[], None]]:
        def require_held() -> None:
            raise CollectionLocked("the lock was lost", "the server has ended its connection")

        yield require_held

    with monkeypatch.context() as patch:
        patch.setattr(Collection, "building", losing)
        with pytest.raises(CollectionLocked), sharing_index(node, 3):
            build(node.index, {"a": b"with forgotten pages"})
    assert live_number(node) == 1
    with sharing_index(node, 3):
        pass
    assert live_number(node) == 1


def test_a_rollback_that_comes_second_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "objects").mkdir()
    node = replace(create_collection(tmp_path / "node"), storage=f"file://{tmp_path}/objects")
    for content in (b"one", b"two"):
        with sharing_index(node, 3):
            build(node.index, {"a": content})
    find = PublishedGenerations.find

    def find_late(self: PublishedGenerations, number: int | None, live: Current | None) -> Current:
        """Another node publishes after this one has looked."""
        found = find(self, number, live)
        other = replace(create_collection(tmp_path / "other"), storage=node.storage)
        with sharing_index(other, 3):
            build(other.index, {"a": b"three"})
        return found

    monkeypatch.setattr(PublishedGenerations, "find", find_late)
    with pytest.raises(ObjectChanged, match="another process has published one meanwhile"):
        roll_back(node, "index")
    assert live_number(node) == 2
    with sharing_index(node, 3):
        pass
    assert live_number(node) == 3


def test_a_build_on_a_node_without_the_abandoned_generation_takes_its_number(tmp_path: Path) -> None:
    (tmp_path / "objects").mkdir()
    head = replace(create_collection(tmp_path / "head"), storage=f"file://{tmp_path}/objects")
    for content in (b"one", b"two"):
        with sharing_index(head, 3):
            build(head.index, {"a": content})
    roll_back(head, "index")
    other = replace(create_collection(tmp_path / "other"), storage=head.storage)
    with sharing_index(other, 3):
        build(other.index, {"a": b"other"})
    with sharing_index(head, 3):
        pass
    assert (head.index / "gen-000002" / "a").read_bytes() == b"other"
    assert roll_back(head, "index", 1) == 1
    assert roll_back(head, "index", 2) == 2
    assert (head.index / "gen-000002" / "a").read_bytes() == b"other"


@pytest.mark.usefixtures("crawled")
def test_a_command_reads_the_published_index_and_says_when_it_cannot(tmp_path: Path) -> None:
    index(other_node(tmp_path, "builder"))
    node, empty = other_node(tmp_path, "node"), other_node(tmp_path, "empty")
    said: list[str] = []
    bring_to_read(node, "index", said.append)
    assert said == [f"Downloading generation 1 of the index from {node.storage}"]
    assert titles(node) == ["http://a.test/", "http://b.test/"]
    bring_to_read(node, "index", said.append)
    assert len(said) == 1
    (tmp_path / "objects").rename(tmp_path / "unmounted")
    bring_to_read(node, "index", said.append)
    assert said[1].startswith(f"Using the generation of this node: {node.storage} cannot be used")
    assert titles(node) == ["http://a.test/", "http://b.test/"]
    with pytest.raises(StorageUnavailable):
        bring_to_read(empty, "index", said.append)


@pytest.mark.usefixtures("crawled")
def test_a_node_without_an_index_lists_those_of_the_fleet(tmp_path: Path) -> None:
    builder = other_node(tmp_path, "builder")
    index(builder)
    (listed,), (local,) = list_published(other_node(tmp_path)), list_generations(builder)
    assert (listed.generation, listed.documents, listed.live, listed.problem) == (1, 2, True, "")
    assert 0 < listed.bytes <= local.bytes  # the one in the folder has lock files, too
