"""A generation appears whole or not at all, and the ones before it stay for a while."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from periplus.errors import CollectionLocked, DiskFull
from periplus.graph.rank_writer import RankWriter, writing_ranks
from periplus.store.ranks import URLS_AT_ONCE, Figures, RankTable, open_ranks
from store.records import error_line, names_in
from store.small_disk import small_disk
from store.test_durable import Trace

FIGURES = Figures(
    nodes=1, edges=0, hosts=1, iterations=1, delta=0.0, damping=0.85, floor=1.0, host_floor=1.0, inputs="none"
)


def write(draft: RankWriter, rank: float = 1.0, keep: int = 3) -> int:
    draft.save("ranks", np.array([rank], np.float32))
    return draft.publish(FIGURES, keep)


def published(folder: Path, rank: float = 1.0, keep: int = 3) -> int:
    with writing_ranks(folder) as draft:
        return write(draft, rank, keep)


def live(folder: Path) -> RankTable:
    table = open_ranks(folder)
    assert table is not None
    return table


def test_each_generation_has_the_next_number_and_is_live_at_once(tmp_path: Path) -> None:
    for number in (1, 2):
        assert published(tmp_path, rank=number) == number
        assert (live(tmp_path).number, live(tmp_path).ranks.tolist()) == (number, [number])


def test_an_abandoned_draft_is_invisible(tmp_path: Path) -> None:
    published(tmp_path)

    def give_up() -> None:
        with writing_ranks(tmp_path) as draft:
            draft.save("ranks", np.zeros(9, np.float32))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        give_up()
    assert names_in(tmp_path) == ["CURRENT", "gen-1", "rank.lock"]


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / "gen-7.tmp" / "scratch").mkdir(parents=True)
    (tmp_path / "gen-7.tmp" / "ranks.npy").write_bytes(b"half")
    published(tmp_path)
    assert names_in(tmp_path) == ["CURRENT", "gen-1", "rank.lock"]


def test_a_generation_that_was_complete_but_not_live_is_left_alone(tmp_path: Path) -> None:
    published(tmp_path)
    (tmp_path / "CURRENT").unlink()
    assert published(tmp_path) == 2
    assert live(tmp_path).number == 2


def test_only_the_newest_generations_are_kept(tmp_path: Path) -> None:
    for number in range(5):
        published(tmp_path, rank=number)
    assert names_in(tmp_path) == ["CURRENT", "gen-3", "gen-4", "gen-5", "rank.lock"]


def test_a_reader_keeps_what_it_opened_when_its_generation_is_removed(tmp_path: Path) -> None:
    published(tmp_path, rank=0.5)
    ranks = live(tmp_path).ranks
    published(tmp_path, keep=1)
    assert names_in(tmp_path) == ["CURRENT", "gen-2", "rank.lock"]
    assert ranks.tolist() == [0.5]


def test_two_rankings_at_once_are_refused(tmp_path: Path) -> None:
    def both() -> None:
        with writing_ranks(tmp_path), writing_ranks(tmp_path):
            pass

    assert "another process is ranking" in error_line(CollectionLocked, both)


def test_every_file_is_durable_before_the_folder_gets_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = Trace(monkeypatch)
    published(tmp_path)
    assert trace.steps == [
        ("fsync", "ranks.npy"),
        ("fsync", "meta.json.tmp"),
        ("rename", "meta.json"),
        ("fsync", "gen-1.tmp"),
        ("fsync", tmp_path.name),  # the folder has its name
        ("fsync", "CURRENT.tmp"),
        ("rename", "CURRENT"),
        ("fsync", tmp_path.name),
    ]


def test_a_disk_without_room_for_an_array_is_reported_before_it_is_filled(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "256k") as disk:

        def fill() -> None:
            with writing_ranks(disk / "ranks") as draft:
                draft.array("sources", np.uint32, 1 << 20)[:] = 1

        assert "free some space" in error_line(DiskFull, fill, exit_code=3)
        assert names_in(disk / "ranks") == ["rank.lock"]


@pytest.mark.parametrize("sizes", [[], [3], [URLS_AT_ONCE], [URLS_AT_ONCE - 1, 2, 0, URLS_AT_ONCE * 2]])
def test_urls_are_found_by_node_whatever_the_size_of_the_batches(tmp_path: Path, sizes: list[int]) -> None:
    ends = np.cumsum([0, *sizes])
    with writing_ranks(tmp_path) as draft:
        parts = ((start, start + size) for start, size in zip(ends, sizes, strict=False))
        draft.urls(pa.array(map(str, range(*part)), pa.string()) for part in parts)
        write(draft)
    table = live(tmp_path)
    for node in {0, int(ends[-1]) // 2, int(ends[-1]) - 1} if ends[-1] else set():
        assert table.url(node) == str(node)
