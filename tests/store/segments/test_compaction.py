"""Small segments are merged into larger ones; no row is lost, doubled or moved, and results stay the same."""

from __future__ import annotations

import shutil
import signal
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyarrow import parquet

import strace
from crawl.crawling import environment, typed
from index.damage import flip
from periplus.config import Settings
from periplus.errors import DamagedFile
from periplus.inspector.verify import verify
from periplus.model import Link
from periplus.reparse import reparse
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection, open_collection
from periplus.store.manifest import SealedSegment, place_of
from periplus.store.segments import compaction
from periplus.store.segments.compaction import compact
from periplus.store.task_runner import InProcessRunner
from search.library import Doc, index, opened, shelve
from two_attempts import TwoAttempts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORDS = ("harbour", "anchor", "compass", "rudder")


def pages(first: int, number: int = 3) -> list[Doc]:
    """Some pages that no other call gives; all of them mention the sea, and link to the next."""
    return [
        Doc(
            f"http://a.test/{place}",
            f"Page {place}",
            f"The sea and the {WORDS[place % 4]} of ship {place}. " * 9,
            links=(Link(f"http://a.test/{place + 1}", f"ship {place}", nofollow=False),),
        )
        for place in range(first, first + number)
    ]


def stored(home: Path, segments: int) -> Collection:
    for number in range(segments):
        shelve(home, pages(3 * number))
    return open_collection(home)


def live(collection: Collection, kind: str = "pages") -> list[SealedSegment]:
    catalog = open_catalog(collection)
    try:
        return catalog.segments(kind)
    finally:
        catalog.close()


def rows(collection: Collection, kind: str = "pages") -> list[dict[str, Any]]:
    """All rows, in the order in which the index reads them."""
    names = sorted(segment.name for segment in live(collection, kind))
    return [row for name in names for row in parquet.read_table(collection.segments / name).to_pylist()]


def on_disk(collection: Collection) -> set[str]:
    return {path.name for path in collection.segments.iterdir()}


def results(collection: Collection) -> list[Any]:
    with opened(collection) as engine:
        return [(hit.url, round(hit.score, 6), hit.snippet) for hit in engine.search("sea harbour").hits]


def test_a_merged_segment_has_every_row_once_and_in_order(tmp_path: Path) -> None:
    collection = stored(tmp_path, 10)
    before = rows(collection), rows(collection, "links")
    summary = compact(collection)
    assert (summary.merged, summary.segments) == (10, 1)
    assert (rows(collection), rows(collection, "links")) == before
    assert on_disk(collection) == {"pages-w00-000001-000010.parquet", "links-w00-000001-000010.parquet"}
    assert verify(collection).problems == []


def test_a_few_segments_wait_for_others(tmp_path: Path) -> None:
    collection = stored(tmp_path, 7)
    assert compact(collection).merged == 0
    shelve(tmp_path, pages(100))
    assert compact(collection).merged == 8


def test_the_command_merges_any_two(tmp_path: Path) -> None:
    stored(tmp_path, 2)
    assert typed("compact", "--home", tmp_path, "--json").json["merged"] == 2
    assert "1 (0 merged)" in typed("compact", "--home", tmp_path).out


@pytest.mark.slow
def test_an_index_of_many_small_segments_is_built_from_few(tmp_path: Path) -> None:
    stored(tmp_path, 9)
    assert typed("index", "--home", tmp_path, "--json").json["documents"] == 27
    (segment,) = live(open_collection(tmp_path))
    assert segment.rows == 27


def test_large_segments_are_not_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collection = stored(tmp_path, 9)
    largest = max(segment.size for segment in live(collection)) + max(one.size for one in live(collection, "links"))
    monkeypatch.setattr(compaction, "SMALL", largest + 1)
    monkeypatch.setattr(compaction, "ENOUGH", 3 * largest)
    assert compact(collection, fewest=2).merged > 0
    merged = live(collection)
    assert 1 < len(merged) < 9
    assert compact(collection, fewest=2).merged == 0
    assert live(collection) == merged


@pytest.mark.slow
def test_results_stay_the_same(tmp_path: Path) -> None:
    collection = stored(tmp_path, 9)
    index(collection)
    before = results(collection)
    compact(collection)
    index(collection)
    assert results(collection) == before != []


def test_a_merged_segment_can_be_parsed_again_and_merged_again(tmp_path: Path) -> None:
    collection = stored(tmp_path, 8)
    compact(collection)
    reparse(collection, Settings(), everything=False)
    assert [segment.name for segment in live(collection)] == ["pages-w00-000001-000008-r1.parquet"]
    shelve(tmp_path, pages(100))
    assert live(collection)[-1].name == "pages-w00-000009.parquet", "no number is used twice"
    assert compact(collection, fewest=2).merged == 0, "it has other columns until it is parsed again"
    reparse(collection, Settings(), everything=False)
    urls = [row["url"] for row in rows(collection)]
    assert compact(collection, fewest=2).merged == 2
    assert [segment.name for segment in live(collection)] == ["pages-w00-000001-000009-r1.parquet"]
    assert [row["url"] for row in rows(collection)] == urls
    assert verify(collection).problems == []


def test_segments_of_different_workers_stay_apart(tmp_path: Path) -> None:
    collection = stored(tmp_path, 4)
    catalog = open_catalog(collection)
    for kind in ("pages", "links"):
        for segment in catalog.segments(kind)[2:]:
            moved = segment._replace(name=segment.name.replace("w00", "w01"))
            (collection.segments / segment.name).rename(collection.segments / moved.name)
            catalog.replace_segments([(segment.name, moved)])
    catalog.close()
    assert compact(collection, fewest=2).merged == 4
    assert len(live(collection)) == 2


def test_a_process_that_reads_segments_keeps_their_files(tmp_path: Path) -> None:
    collection = stored(tmp_path, 8)
    with collection.reading_segments():
        old = live(collection)
        assert compact(collection).merged == 8
        assert {segment.name for segment in old} <= on_disk(collection)
    assert compact(collection).merged == 0
    assert on_disk(collection).isdisjoint(segment.name for segment in old)


def test_a_damaged_segment_and_its_neighbours_stay_as_they_are(tmp_path: Path) -> None:
    collection = stored(tmp_path, 8)
    flip(collection.segments / live(collection)[3].name)
    assert compact(collection).merged == 0
    assert len(live(collection)) == 8


def test_the_parts_of_a_damaged_merged_segment_are_kept(tmp_path: Path) -> None:
    collection = stored(tmp_path, 8)
    with collection.reading_segments():
        compact(collection)
    flip(collection.segments / live(collection)[0].name)
    compact(collection)
    assert "pages-w00-000003.parquet" in on_disk(collection)


def test_an_interrupted_reparse_of_everything_keeps_its_segments(tmp_path: Path) -> None:
    collection = stored(tmp_path, 8)
    collection.reparse_plan.write_text("{}")
    assert compact(collection).merged == 0


def test_a_crawl_goes_on_with_the_next_number(tmp_path: Path) -> None:
    collection = stored(tmp_path, 8)
    compact(collection)
    shelve(tmp_path, pages(100))
    assert [place_of(segment.name)[1] for segment in live(collection)] == [1, 9]
    assert verify(collection).problems == []


def test_a_file_that_a_crawl_has_just_completed_is_not_removed(tmp_path: Path) -> None:
    collection = stored(tmp_path, 8)
    new = collection.segments / "pages-w00-000009.parquet"
    new.write_bytes(b"not in the manifest yet")
    compact(collection)
    assert new.exists()


@pytest.mark.parametrize(
    "points", [pytest.param(6, marks=pytest.mark.slow), pytest.param(1_000, marks=pytest.mark.long)]
)
def test_a_kill_at_any_write_leaves_the_old_or_the_new_state(tmp_path: Path, points: int) -> None:
    strace.require()
    ready, home = tmp_path / "ready", tmp_path / "home"
    stored(ready, 3)
    expected = rows(Collection(ready)), rows(Collection(ready), "links")
    command = strace.Command(["compact", "--home", str(home)], environment())
    shutil.copytree(ready, home)
    for call in strace.chosen(strace.calls(strace.trace(command, home)), points):
        shutil.rmtree(home)
        shutil.copytree(ready, home)
        assert strace.kill(command, call).code == -signal.SIGKILL, call
        collection = open_collection(home)
        assert (rows(collection), rows(collection, "links")) == expected, call
        assert verify(collection).problems == [], call
        compact(collection, fewest=2)
        assert (rows(collection), rows(collection, "links")) == expected, call
        assert len(on_disk(collection)) == 2, call


def test_two_attempts_of_one_merge_at_the_same_time_give_one_whole_segment(tmp_path: Path) -> None:
    here = stored(tmp_path / "here", 5)
    there = open_collection(shutil.copytree(here.home, tmp_path / "there"))
    compact(here, fewest=2)
    runner, done = TwoAttempts(), list[tuple[int, int]]()
    assert compact(there, fewest=2, on_progress=lambda *counts: done.append(counts), runner=runner).merged == 5
    assert done == [(5, 5)]
    assert live(there) == live(here)
    assert [(segment.name, on_disk(there)) for segment in live(there)] == [(live(here)[0].name, on_disk(here))]
    first, second = runner.results[-1]
    assert first.successors == second.successors
    assert first.files.attempt != second.files.attempt
    assert list(there.scratch.iterdir()) == []
    assert verify(there).problems == []


def test_a_damaged_output_of_a_task_replaces_nothing(tmp_path: Path) -> None:
    collection = stored(tmp_path, 3)
    before = live(collection)

    class Careless(InProcessRunner):
        """Damages a file after its task has ended."""

        def run(self, function: Any, items: Any, *rest: Any) -> Any:
            for result in super().run(function, items, *rest):
                for path in collection.scratch.rglob("pages-*.parquet"):
                    if path.is_file():
                        flip(path)
                yield result

    with pytest.raises(DamagedFile, match=r"pages-w00-000001-000003\.parquet is damaged"):
        compact(collection, fewest=2, runner=Careless())
    assert live(collection) == before
    assert verify(collection).problems == []


@pytest.mark.parametrize("is_fleet", [False, True])
@pytest.mark.xdist_group("spark")
@pytest.mark.slow
def test_executors_of_spark_write_the_same_segments(tmp_path: Path, spark: SparkSession, is_fleet: bool) -> None:
    from periplus.spark.tasks import SparkRunner

    here = stored(tmp_path / "here", 5)
    shutil.copytree(here.home, tmp_path / "there")
    there = open_collection(tmp_path / "there")
    if is_fleet:  # the executors have no folder with segments
        (tmp_path / "objects").mkdir()
        shutil.move(there.segments, tmp_path / "objects" / "segments")
        there.segments.mkdir()
        there = replace(there, storage=f"file://{tmp_path}/objects")
    compact(here, fewest=2)
    assert compact(there, fewest=2, runner=SparkRunner(spark)).merged == 5
    found = tmp_path / "objects" / "segments" if is_fleet else there.segments
    assert live(there) == live(here)
    for segment in [*live(here), *live(here, "links")]:
        assert (found / segment.name).read_bytes() == (here.segments / segment.name).read_bytes()
