"""A new generation of the index replaces the old one atomically, and any damage is found."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from index.damage import WAYS, flip
from index.live import facts_of, problems_of
from periplus.errors import CollectionLocked, DamagedFile, DiskFull, NewerFormat, NoIndex
from periplus.store import generations as module
from periplus.store.checksums import verified, with_checksums
from periplus.store.durable import write_file
from periplus.store.generations import CURRENT, INDEX_KIND, META, Generation, Generations, number_of
from store.records import error_line

FACTS = {"documents": 3, "duplicates": 1, "ranks": 0, "prior_strength": 0.05}
FILES = {"heads.dat": b"heads" * 100, "tantivy/meta.json": b"{}", "tantivy/abc.idx": bytes(range(256))}


def publish(folder: Path, files: dict[str, bytes] = FILES, keep: int = 3) -> Path:
    generations = Generations(folder, INDEX_KIND)
    with generations.writing() as building:
        fill(building, files)
        return generations.publish(building, FACTS, keep)


def fill(building: Path, files: dict[str, bytes] = FILES) -> None:
    for name, content in files.items():
        (building / name).parent.mkdir(exist_ok=True)
        (building / name).write_bytes(content)


def live(folder: Path) -> Path | None:
    return Generations(folder, INDEX_KIND).live()


def check_on_opening(generation: Path) -> list[str]:
    """The names of the files that are too large to be read before the first search."""
    with closing(Generation(generation, INDEX_KIND)) as opened:
        return [file.path.name for file in opened.check_on_opening()]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {INDEX_KIND.lock}


# -- publishing -----------------------------------------------------------------------------------------------------


def test_before_the_first_there_is_no_index(tmp_path: Path) -> None:
    assert live(tmp_path / "index") is None
    assert Generations(tmp_path / "index", INDEX_KIND).open_live() is None


def test_what_was_published_last_is_live(tmp_path: Path) -> None:
    first = publish(tmp_path / "index")
    assert live(tmp_path / "index") == first
    second = publish(tmp_path / "index")
    assert live(tmp_path / "index") == second
    assert [number_of(path) for path in (first, second)] == [1, 2]
    assert problems_of(first) == problems_of(second) == []


def test_a_generation_states_what_it_was_given(tmp_path: Path) -> None:
    generation = publish(tmp_path / "index")
    facts = facts_of(generation)
    assert {name: facts[name] for name in FACTS} == FACTS
    assert facts["format"] == INDEX_KIND.format
    assert set(facts["files"]) == set(FILES)
    assert check_on_opening(generation) == []


def test_the_newest_are_kept_for_a_rollback(tmp_path: Path) -> None:
    for _ in range(5):
        publish(tmp_path)
    assert names(tmp_path) == {CURRENT, "gen-000003", "gen-000004", "gen-000005"}
    (tmp_path / CURRENT).write_text("gen-000003\n")
    assert publish(tmp_path, keep=2) == live(tmp_path) == tmp_path / "gen-000006"
    assert names(tmp_path) == {CURRENT, "gen-000005", "gen-000006"}


def test_an_index_that_is_searched_is_not_removed(tmp_path: Path) -> None:
    first = publish(tmp_path)
    with closing(Generation(first, INDEX_KIND)) as opened:
        for _ in range(3):
            publish(tmp_path, keep=1)
        assert check_on_opening(opened.folder) == []
        assert names(tmp_path) == {CURRENT, "gen-000001", "gen-000004"}
    publish(tmp_path, keep=1)
    assert names(tmp_path) == {CURRENT, "gen-000005"}


def test_a_generation_that_cannot_be_opened_is_not_locked(tmp_path: Path) -> None:
    first = as_format(publish(tmp_path), 1)
    with pytest.raises(NoIndex) as caught:
        Generation(first, INDEX_KIND)
    publish(tmp_path, keep=1)
    assert not first.exists()
    del caught  # its traceback has the generation until here


def test_lock_files_of_readers_are_not_part_of_a_generation(tmp_path: Path) -> None:
    generation = publish(tmp_path, {**FILES, "tantivy/.tantivy-writer.lock": b""})
    (generation / "tantivy" / ".tantivy-writer.lock").unlink()
    assert problems_of(generation) == []


@pytest.mark.parametrize("name", ["gen-1", "gen-000001", "gen-0000001"])
def test_a_number_may_have_any_number_of_digits(tmp_path: Path, name: str) -> None:
    publish(tmp_path).rename(tmp_path / name)
    (tmp_path / CURRENT).write_text(f"{name}\n")
    assert live(tmp_path) == tmp_path / name
    assert list(Generations(tmp_path, INDEX_KIND).damage()) == []
    assert publish(tmp_path) == tmp_path / "gen-000002"


# -- builds that fail -----------------------------------------------------------------------------------------------


def test_a_build_that_fails_leaves_the_live_one_and_nothing_else(tmp_path: Path) -> None:
    before = publish(tmp_path)

    def fail() -> None:
        with Generations(tmp_path, INDEX_KIND).writing() as building:
            fill(building)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert live(tmp_path) == before
    assert names(tmp_path) == {CURRENT, "gen-000001"}


@pytest.mark.parametrize("leftover", ["gen-000002.tmp/tantivy", "gen-000001.tmp", "CURRENT.tmp"])
def test_what_a_killed_build_left_is_removed(tmp_path: Path, leftover: str) -> None:
    publish(tmp_path)
    if leftover == "CURRENT.tmp":
        (tmp_path / leftover).write_text("gen-0")
    else:
        (tmp_path / leftover).mkdir(parents=True)
    publish(tmp_path)
    assert names(tmp_path) == {CURRENT, "gen-000001", "gen-000002"}


@pytest.mark.parametrize("step", ["sync_file", "sync_directory", META, CURRENT])
def test_a_publication_that_stops_half_way_leaves_the_old_one_live(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    before = publish(tmp_path)

    def stop(path: Path, data: bytes = b"") -> None:
        if step in ("sync_file", "sync_directory", path.name):
            raise KeyboardInterrupt
        write_file(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(module, step if step.startswith("sync") else "write_file", stop)
        with pytest.raises(KeyboardInterrupt):
            publish(tmp_path)
    assert live(tmp_path) == before
    assert problems_of(before) == []
    newest = publish(tmp_path)
    assert live(tmp_path) == newest
    assert problems_of(newest) == []
    assert not list(tmp_path.glob("*.tmp"))


def test_a_generation_that_is_half_removed_has_lost_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        publish(tmp_path)

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("periplus.store.generations.shutil.rmtree", stop)
        with pytest.raises(KeyboardInterrupt):
            publish(tmp_path)
    assert live(tmp_path) == tmp_path / "gen-000004"
    assert "gen-000001" not in names(tmp_path)
    publish(tmp_path)
    assert names(tmp_path) == {CURRENT, "gen-000003", "gen-000004", "gen-000005"}


def test_two_builds_at_once_are_refused(tmp_path: Path) -> None:
    other = (
        "import sys; from pathlib import Path; from periplus.store.generations import INDEX_KIND, Generations\n"
        "with Generations(Path(sys.argv[1]), INDEX_KIND).writing(): pass"
    )
    with Generations(tmp_path, INDEX_KIND).writing() as building:
        fill(building)
        with pytest.raises(CollectionLocked, match="another process is building the index"):
            publish(tmp_path)
        command = [sys.executable, "-c", other, str(tmp_path)]
        child = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "CollectionLocked" in child.stderr
        assert (building / "heads.dat").exists()
    publish(tmp_path)


def test_a_full_disk_is_reported_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "sync_file", full)
    with pytest.raises(DiskFull):
        publish(tmp_path)


# -- damage ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [way for way in WAYS if way != "deleted"])
def test_a_damaged_current_is_named(tmp_path: Path, way: str) -> None:
    publish(tmp_path)
    WAYS[way](tmp_path / CURRENT)
    if (tmp_path / CURRENT).read_bytes().strip() == b"gen-000001":
        return  # a flip of the line end changes nothing
    with pytest.raises(DamagedFile, match=r"CURRENT .*Run `periplus repair`\."):
        Generations(tmp_path, INDEX_KIND).open_live()
    assert publish(tmp_path) == live(tmp_path)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_not_what_was_published_is_named(tmp_path: Path, name: str, way: str) -> None:
    generation = publish(tmp_path)
    WAYS[way](generation / name)
    assert [problem[0] for problem in problems_of(generation)] == [name]


def test_a_file_of_another_size_is_found_without_reading_it(tmp_path: Path) -> None:
    for name in FILES:
        for way in ("deleted", "emptied", "cut in half"):
            generation = publish(tmp_path)
            WAYS[way](generation / name)
            with pytest.raises(DamagedFile, match=f"{name} is damaged"):
                check_on_opening(generation)


def test_a_flipped_bit_of_the_facts_is_found_wherever_it_is(tmp_path: Path) -> None:
    generation = publish(tmp_path)
    path = generation / META
    whole = path.read_bytes()
    for place in range(0, len(whole), 4):
        path.write_bytes(whole)
        flip(path, place / (len(whole) - 1))
        assert [problem[0] for problem in problems_of(generation)] == [META], place


@pytest.mark.parametrize("way", WAYS)
def test_damaged_facts_are_named(tmp_path: Path, way: str) -> None:
    generation = publish(tmp_path)
    WAYS[way](generation / META)
    assert [problem[0] for problem in problems_of(generation)] == [META]


@pytest.mark.parametrize("content", ["[]", "null", "{}", '{"format": 99}'])
def test_facts_of_another_shape_are_refused(tmp_path: Path, content: str) -> None:
    generation = publish(tmp_path)
    (generation / META).write_text(content)
    with pytest.raises(DamagedFile, match=r"meta\.json is damaged"):
        Generation(generation, INDEX_KIND)


def as_format(generation: Path, number: int) -> Path:
    """Rewrite `meta.json` as that of another release."""
    path = generation / META
    path.write_bytes(with_checksums({**verified(path.read_bytes()), "format": number}))
    return generation


def test_an_index_of_an_earlier_release_is_refused_with_what_to_do_and_is_not_damaged(tmp_path: Path) -> None:
    generation = as_format(publish(tmp_path), 1)
    line = error_line(NoIndex, lambda: Generation(generation, INDEX_KIND))
    assert line == f"{generation} was built by an earlier release. `periplus index` builds a new one."
    assert problems_of(generation) == []


def test_an_index_of_a_later_release_is_refused(tmp_path: Path) -> None:
    generation = as_format(publish(tmp_path), INDEX_KIND.format + 1)
    line = error_line(NewerFormat, lambda: Generation(generation, INDEX_KIND))
    assert f"has format {INDEX_KIND.format + 1}: this release" in line


def test_small_files_are_checked_when_an_index_is_opened_and_large_ones_are_returned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SMALL_FILE", 256)
    generation = publish(tmp_path)
    assert check_on_opening(generation) == ["heads.dat"]
    flip(generation / "heads.dat")
    check_on_opening(generation)
    flip(generation / "tantivy/abc.idx")
    with pytest.raises(DamagedFile, match=r"abc\.idx is damaged: its content does not match its checksum"):
        check_on_opening(generation)


def test_of_many_small_files_only_some_are_read_before_the_first_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SMALL_FILES", 2_500)
    generation = publish(tmp_path, {f"{number}.npy": bytes(1_000 + number) for number in range(4)})
    assert check_on_opening(generation) == ["2.npy", "3.npy"]


def test_facts_changed_by_hand_are_noticed(tmp_path: Path) -> None:
    generation = publish(tmp_path)
    facts = json.loads((generation / META).read_text())
    (generation / META).write_text(json.dumps({**facts, "documents": 4}))
    with pytest.raises(DamagedFile, match="does not match its checksum"):
        Generation(generation, INDEX_KIND)


# -- rollback -------------------------------------------------------------------------------------------------------


def roll_back(folder: Path, number: int | None = None) -> Path:
    return Generations(folder, INDEX_KIND).roll_back(number)


def test_a_rollback_makes_the_generation_before_live_again(tmp_path: Path) -> None:
    first, second, third = (publish(tmp_path) for _ in range(3))
    assert roll_back(tmp_path) == live(tmp_path) == second
    assert roll_back(tmp_path) == live(tmp_path) == first
    assert roll_back(tmp_path, 3) == live(tmp_path) == third, "a later one can be chosen by its number"
    assert list(Generations(tmp_path, INDEX_KIND).damage()) == []


def test_a_build_after_a_rollback_has_a_new_number_and_is_live(tmp_path: Path) -> None:
    publish(tmp_path)
    publish(tmp_path)
    roll_back(tmp_path)
    assert publish(tmp_path) == live(tmp_path) == tmp_path / "gen-000003"


def test_without_an_earlier_generation_a_rollback_is_refused(tmp_path: Path) -> None:
    line = error_line(NoIndex, lambda: roll_back(tmp_path))
    assert line == "there is no earlier generation. `periplus index` builds a new one."
    first = publish(tmp_path)
    assert error_line(NoIndex, lambda: roll_back(tmp_path)) == line
    line = error_line(NoIndex, lambda: roll_back(tmp_path, 7))
    assert line == "there is no generation 7. `periplus generations` lists the generations."
    assert live(tmp_path) == first


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", [META, *FILES])
def test_a_rollback_to_a_damaged_generation_is_refused(tmp_path: Path, name: str, way: str) -> None:
    WAYS[way](publish(tmp_path) / name)
    second = publish(tmp_path)
    line = error_line(DamagedFile, lambda: roll_back(tmp_path))
    assert line.startswith("generation 1 cannot be made live: ")
    assert f"gen-000001/{name}" in line
    assert line.endswith("`periplus generations` lists the generations.")
    assert live(tmp_path) == second


def test_a_rollback_to_another_format_is_refused(tmp_path: Path) -> None:
    as_format(publish(tmp_path), 1)
    as_format(publish(tmp_path), INDEX_KIND.format + 1)
    third = publish(tmp_path)
    assert "was built by an earlier release" in error_line(NoIndex, lambda: roll_back(tmp_path, 1))
    assert "supports formats up to" in error_line(NewerFormat, lambda: roll_back(tmp_path, 2))
    assert live(tmp_path) == third


def test_a_rollback_during_a_build_is_refused(tmp_path: Path) -> None:
    publish(tmp_path)
    publish(tmp_path)
    with Generations(tmp_path, INDEX_KIND).writing(), pytest.raises(CollectionLocked):
        roll_back(tmp_path)


@pytest.mark.parametrize("way", ["deleted", "emptied"])
def test_a_rollback_replaces_a_lost_current(tmp_path: Path, way: str) -> None:
    publish(tmp_path)
    second = publish(tmp_path)
    WAYS[way](tmp_path / CURRENT)
    assert roll_back(tmp_path, 2) == live(tmp_path) == second
    (tmp_path / CURRENT).unlink()
    assert roll_back(tmp_path) == live(tmp_path) == second, "no generation is live: the newest is chosen"


def test_a_failed_write_of_current_leaves_the_live_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(tmp_path)
    second = publish(tmp_path)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "write_file", stop)
    with pytest.raises(KeyboardInterrupt):
        roll_back(tmp_path)
    assert live(tmp_path) == second
