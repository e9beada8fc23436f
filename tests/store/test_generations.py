"""Readers of ranks see one complete generation, whatever is published or removed meanwhile; damage is reported."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from index.damage import WAYS
from periplus.errors import DamagedFile, NewerFormat
from periplus.graph.rank_writer import writing_ranks
from periplus.store import generations
from periplus.store.checksums import verified, with_checksums
from periplus.store.generations import CURRENT, META, RANK_KIND, Generation, Generations, remove_generation
from periplus.store.ranks import Figures, open_ranks
from store.records import error_line, names_in

FIGURES = Figures(1, 0, 1, 1, 0.0, 0.85, 1.0, 1.0, "none")


def publish(folder: Path, rank: float = 1.0, keep: int = 3) -> Path:
    with writing_ranks(folder) as draft:
        draft.save("ranks", np.array([rank], np.float32))
        number = draft.publish(FIGURES, keep)
    return folder / f"gen-{number}"


def live_generation(folder: Path) -> Generation | None:
    return Generations(folder, RANK_KIND).open_live()


def damage(folder: Path) -> list[tuple[str, str]]:
    return list(Generations(folder, RANK_KIND).damage())


def test_temporary_folders_of_a_draft_are_not_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with writing_ranks(tmp_path) as draft:
        draft.save("ranks", np.array([1.0], np.float32))
        (draft.scratch / "left behind").write_bytes(b"")
        monkeypatch.setattr(shutil, "rmtree", lambda _folder, **_: None)  # another process goes on writing there
        draft.publish(FIGURES, 3)
    generation = live_generation(tmp_path)
    assert generation is not None
    assert list(generation.files) == ["ranks.npy"]


# -- readers --------------------------------------------------------------------------------------------------------


def test_there_is_no_generation_before_the_first(tmp_path: Path) -> None:
    assert live_generation(tmp_path) is None
    assert live_generation(tmp_path / "no-such-folder") is None
    assert damage(tmp_path) == []


def test_a_generation_that_is_read_is_not_removed(tmp_path: Path) -> None:
    publish(tmp_path, rank=0.5)
    table = open_ranks(tmp_path)
    assert table is not None
    publish(tmp_path, keep=1)
    assert names_in(tmp_path) == [CURRENT, "gen-1", "gen-2", "rank.lock"]
    assert table.ranks.tolist() == [0.5], "a file that is opened only now"
    del table
    publish(tmp_path, keep=1)
    assert names_in(tmp_path) == [CURRENT, "gen-3", "rank.lock"]


def test_any_number_may_read_at_once(tmp_path: Path) -> None:
    generation = publish(tmp_path)
    readers = [Generation(generation, RANK_KIND) for _ in range(3)]
    remove_generation(generation)
    readers.pop()
    remove_generation(generation)
    assert generation.exists()
    readers.clear()
    remove_generation(generation)
    assert not generation.exists()


@pytest.mark.parametrize("moment", ["before it is opened", "after it is opened", "half removed"])
def test_a_generation_removed_while_it_is_opened_is_followed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    first = publish(tmp_path)

    def overtaken(step: Callable[..., object]) -> Callable[..., object]:
        def stepping(*arguments: object) -> object:
            if not (tmp_path / "gen-2").exists():
                publish(tmp_path, keep=2)
                if moment == "half removed":
                    (first / META).unlink()
                else:
                    remove_generation(first)
            return step(*arguments)

        return stepping

    name = "read_meta" if moment == "after it is opened" else "_open_meta"
    monkeypatch.setattr(generations, name, overtaken(getattr(generations, name)))
    if moment == "after it is opened":  # the lock was taken too late to keep it
        monkeypatch.setattr(generations, "_lock_shared", lambda *_: None)
    live = live_generation(tmp_path)
    assert live is not None
    assert live.number == 2


def test_a_generation_that_is_being_removed_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generation, lines = publish(tmp_path), []

    def removing(doomed: Path) -> None:
        assert doomed.suffix == ".tmp"
        doomed.rename(generation)  # as if the name had not been taken away yet
        lines.append(error_line(DamagedFile, lambda: Generation(generation, RANK_KIND)))

    monkeypatch.setattr(shutil, "rmtree", removing)
    remove_generation(generation)
    assert "it is being removed" in lines[0]


# -- damage ---------------------------------------------------------------------------------------------------------


def test_nothing_is_wrong_with_what_was_published_nor_with_what_a_kill_left(tmp_path: Path) -> None:
    publish(tmp_path)
    publish(tmp_path)
    (tmp_path / "gen-3.tmp").mkdir()
    (tmp_path / "CURRENT.tmp").touch()
    (tmp_path / CURRENT).write_text("gen-1\n")  # killed after the second was complete, before it was live
    assert damage(tmp_path) == []
    assert [path.name for path in Generations(tmp_path, RANK_KIND).complete()] == ["gen-1", "gen-2"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", [META, "ranks.npy"])
def test_a_damaged_file_is_named_until_a_new_generation_takes_its_place(tmp_path: Path, name: str, way: str) -> None:
    WAYS[way](publish(tmp_path) / name)
    assert [where for where, _ in damage(tmp_path)] == [f"gen-1/{name}"]
    publish(tmp_path)
    assert damage(tmp_path) == []


@pytest.mark.parametrize("way", WAYS)
def test_a_damaged_pointer_is_named(tmp_path: Path, way: str) -> None:
    publish(tmp_path)
    WAYS[way](tmp_path / CURRENT)
    assert [where for where, _ in damage(tmp_path)] == [CURRENT]


@pytest.mark.parametrize("content", ["", "gen-", "../../elsewhere", "gen-1\0", "häfen"])
def test_a_pointer_that_names_no_generation_is_reported(tmp_path: Path, content: str) -> None:
    publish(tmp_path)
    (tmp_path / CURRENT).write_text(content, encoding="utf-8")
    assert "CURRENT is damaged" in error_line(DamagedFile, lambda: live_generation(tmp_path))


def test_a_pointer_to_what_is_not_there_is_reported(tmp_path: Path) -> None:
    publish(tmp_path)
    (tmp_path / CURRENT).write_text("gen-7\n")
    assert "Run `periplus repair`." in error_line(DamagedFile, lambda: live_generation(tmp_path))
    assert damage(tmp_path) == [(CURRENT, "it names gen-7, which is not there")]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"files": {}}', with_checksums({"files": {}})])
def test_a_damaged_description_is_reported(tmp_path: Path, content: bytes) -> None:
    (publish(tmp_path) / META).write_bytes(content)
    assert "gen-1/meta.json is damaged" in error_line(DamagedFile, lambda: live_generation(tmp_path))


def test_ranks_of_a_later_release_are_refused(tmp_path: Path) -> None:
    path = publish(tmp_path) / META
    path.write_bytes(with_checksums(verified(path.read_bytes()) | {"format": RANK_KIND.format + 1}))
    assert f"supports formats up to {RANK_KIND.format}" in error_line(NewerFormat, lambda: live_generation(tmp_path))
    assert [where for where, _ in damage(tmp_path)] == [f"gen-1/{META}"]


def test_a_damaged_generation_is_removed_in_its_turn(tmp_path: Path) -> None:
    (publish(tmp_path) / META).unlink()
    publish(tmp_path, keep=1)
    assert names_in(tmp_path) == [CURRENT, "gen-2", "rank.lock"]
