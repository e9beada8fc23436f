"""An index that is built in partitions is the index that one process builds."""

from __future__ import annotations

import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import sound
from index.content import content_of, matches_of
from index.live import facts_of, live_index, problems_of
from index.partitions.made_collection import QUERIES, files_of, make_collection, queries, result_lists
from periplus.config import Indexing
from periplus.errors import DamagedFile
from periplus.index.build import IndexSummary, build_index
from periplus.index.partitions import run
from periplus.index.partitions.run import partition_sizes
from periplus.index.planning.lineage import Continuation
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection, open_collection
from periplus.store.fleet_files.job_files import store_segments
from periplus.store.segments.compaction import compact
from periplus.store.task_runner import InProcessRunner, TaskRunner
from search.library import Doc, index, shelve
from two_attempts import TwoAttempts


@pytest.fixture
def small_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Partitions of some dozen documents."""
    monkeypatch.setattr(run, "FEWEST", 1)
    monkeypatch.setattr(run, "MOST", 50)


def in_partitions(
    collection: Collection, *, full: bool = True, runner: TaskRunner | None = None, shards: int = 1
) -> IndexSummary:
    settings = Indexing(memory_mb=128, shards=shards)
    return build_index(collection, settings, limits=Continuation(full=full), runner=runner or InProcessRunner())


@pytest.mark.slow
@pytest.mark.usefixtures("small_partitions")
def test_partitions_give_the_files_and_the_results_of_one_process(tmp_path: Path) -> None:
    collection = make_collection(tmp_path)
    one = index(collection, full=True)
    alone, facts = live_index(collection), facts_of(live_index(collection))
    asked = queries(alone)
    expected = result_lists(collection, asked)
    several = in_partitions(collection)
    joined = live_index(collection)
    assert (several.documents, several.duplicates, several.build) == (one.documents, one.duplicates, "full")
    ours, theirs = files_of(joined), files_of(alone)
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if ours[name] != theirs[name]] == []
    assert content_of(joined) == content_of(alone)
    words = ["harbour", "laterne", "phare", "light", "compass"]
    assert matches_of(joined, words) == matches_of(alone, words)
    assert {**facts_of(joined), "files": 0} == {**facts, "files": 0}
    assert len(asked) == QUERIES
    assert result_lists(collection, asked) == expected
    assert list((tmp_path / "scratch").iterdir()) == []
    assert problems_of(joined) == []
    sound(tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("small_partitions")
def test_partitions_give_the_shards_of_one_process(tmp_path: Path) -> None:
    collection = make_collection(tmp_path)
    settings = Indexing(memory_mb=128, shards=3)
    build_index(collection, settings)
    alone = live_index(collection)
    asked = queries(alone)
    expected = result_lists(collection, asked)
    several = build_index(collection, settings, limits=Continuation(full=True), runner=InProcessRunner())
    joined = live_index(collection)
    assert (several.shards, joined.name != alone.name) == (3, True)
    ours, theirs = files_of(joined), files_of(alone)
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if ours[name] != theirs[name]] == []
    assert result_lists(collection, asked) == expected
    assert problems_of(joined) == []


@pytest.mark.usefixtures("small_partitions")
def test_an_update_in_partitions_gives_the_files_of_an_update_by_one_process(tmp_path: Path) -> None:
    collection = make_collection(tmp_path / "one", pages=120)
    index(collection)
    changed = [Doc(f"http://h{n % 4}.test/{n}", f"Changed {n}", f"harbour changed{n}", at=2e9) for n in range(20)]
    new = [Doc(f"http://new.test/{n}", f"New {n}", f"lantern new{n}") for n in range(30)]
    shelve(collection.home, [*changed, *new])
    other = open_collection(shutil.copytree(collection.home, tmp_path / "other"))
    alone, several = index(collection), in_partitions(other, full=False)
    assert several.build == "update"
    assert (several.added, several.removed) == (alone.added, alone.removed)
    assert several.removed >= 20
    ours, theirs = live_index(other), live_index(collection)
    assert files_of(ours) == files_of(theirs)
    assert content_of(ours) == content_of(theirs)
    assert problems_of(ours) == []


@pytest.mark.usefixtures("small_partitions")
def test_tasks_on_other_machines_read_and_write_the_object_store(tmp_path: Path) -> None:
    collection = make_collection(tmp_path / "home", pages=120)
    index(collection)
    alone = live_index(collection)
    (tmp_path / "store").mkdir()
    fleet = replace(collection, storage=f"file://{tmp_path}/store")
    with closing(open_catalog(collection)) as catalog:
        store_segments(fleet, catalog.segments())
    assert in_partitions(fleet).documents == facts_of(alone)["documents"]
    assert files_of(live_index(fleet)) == files_of(alone)
    assert not any(path.is_file() for path in (tmp_path / "store" / "scratch").rglob("*"))


@pytest.mark.usefixtures("small_partitions")
@pytest.mark.parametrize("is_stored", [False, True])
def test_tasks_read_the_segments_that_were_planned_although_others_have_replaced_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_stored: bool
) -> None:
    """The lock of the build keeps the files; the objects stay for an hour after they were replaced."""
    collection = make_collection(tmp_path / "home", pages=120)
    index(collection)
    alone = live_index(collection)
    if is_stored:
        (tmp_path / "store").mkdir()
        collection = replace(collection, storage=f"file://{tmp_path}/store")
        with closing(open_catalog(collection)) as catalog:
            store_segments(collection, catalog.segments())
    merged = []

    def compacting(documents: int, parallelism: int) -> list[int]:
        merged.append(compact(collection, fewest=2).merged)
        return partition_sizes(documents, parallelism)

    monkeypatch.setattr(run, "partition_sizes", compacting)
    in_partitions(collection)
    assert merged == [3]
    assert live_index(collection) != alone
    assert files_of(live_index(collection)) == files_of(alone)
    assert problems_of(live_index(collection)) == []


@pytest.mark.usefixtures("small_partitions")
def test_two_attempts_of_one_partition_at_the_same_time_give_the_files_of_one(tmp_path: Path) -> None:
    collection = make_collection(tmp_path, pages=60)
    index(collection)
    alone, runner = live_index(collection), TwoAttempts()
    in_partitions(collection, runner=runner)
    joined = live_index(collection)
    assert joined != alone
    assert files_of(joined) == files_of(alone)
    assert content_of(joined) == content_of(alone)
    assert problems_of(joined) == []
    for first, second in runner.results:
        assert first.written == second.written
        assert first.files.attempt != second.files.attempt


@pytest.mark.usefixtures("small_partitions")
def test_what_a_late_attempt_leaves_is_not_published_and_removed_by_the_next_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection = make_collection(tmp_path, pages=20)
    index(collection)
    alone = live_index(collection)
    with monkeypatch.context() as late:  # it goes on writing, so its folder cannot be removed
        late.setattr(shutil, "rmtree", lambda _folder, **_: None)
        in_partitions(collection)
    joined = live_index(collection)
    assert joined != alone
    assert {name.partition("/")[0] for name in facts_of(joined)["files"]} == {
        name.partition("/")[0] for name in facts_of(alone)["files"]
    }
    assert list(tmp_path.rglob("outputs/*"))
    in_partitions(collection)
    assert not list(tmp_path.rglob("outputs/*"))


@pytest.mark.usefixtures("small_partitions")
def test_a_partition_that_lacks_documents_is_not_published(tmp_path: Path) -> None:
    collection = make_collection(tmp_path, pages=120)
    index(collection)
    before = live_index(collection)

    class Careless(InProcessRunner):
        """Loses the last result."""

        def run(self, *arguments: Any) -> Any:
            return list(super().run(*arguments))[:-1]

    with pytest.raises(DamagedFile, match="were planned"):
        in_partitions(collection, runner=Careless())
    assert live_index(collection) == before
    assert [path.name for path in collection.index.glob("gen-*")] == [before.name]


def test_there_is_a_partition_for_every_parallel_task() -> None:
    assert partition_sizes(10, 8) == [10]
    assert partition_sizes(10_000, 4) == [2_500] * 4
    many = partition_sizes(1_000_001, 4)
    assert (sum(many), len(many), max(many) - min(many)) == (1_000_001, 11, 1), "none has more than 100,000"
