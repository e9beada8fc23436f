"""A folder is opened as a collection, becomes a new one, or is refused in one line; other files are not touched."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from periplus.errors import CollectionError, CollectionLocked, DamagedFile, DiskFull, NewerFormat, NoCollection
from periplus.store.archive.warc_files import ArchiveWriter
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import FORMAT, Collection, create_collection, open_collection
from store.records import a_response, error_line, names_in
from store.small_disk import fill, small_disk

MARKER = "collection.json"


def everything_in(folder: Path) -> dict[str, bytes | None]:
    """Every path under *folder*, with the content of files."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def with_pages(home: Path) -> Collection:
    """A collection whose archive holds something."""
    collection = create_collection(home)
    open_catalog(collection, create=True).close()
    writer = ArchiveWriter(collection.archive, "w00-000001.warc.gz", 0)
    writer.append(a_response())
    writer.sync(writer.cut())
    writer.close()
    return collection


# --- new, empty, there already ---


@pytest.mark.parametrize("parents", ["", "a/b"])
def test_a_new_folder_becomes_a_collection(parents: str, tmp_path: Path) -> None:
    home = tmp_path / parents / "my search"
    collection = create_collection(home)
    assert collection == open_collection(home)
    assert names_in(home) == ["archive", MARKER, "segments"]
    assert json.loads((home / MARKER).read_text())["format"] == FORMAT


@pytest.mark.parametrize("present", [[], ["periplus.toml"], ["periplus.toml", "lost+found"]])
def test_a_folder_with_nothing_but_settings_becomes_a_collection(present: list[str], tmp_path: Path) -> None:
    for name in present:
        (tmp_path / name).write_text("# mine\n")
    create_collection(tmp_path)
    assert all((tmp_path / name).read_text() == "# mine\n" for name in present)


def test_a_collection_is_opened_as_it_is(tmp_path: Path) -> None:
    create_collection(tmp_path)
    before = everything_in(tmp_path)
    assert create_collection(tmp_path) == open_collection(tmp_path) == Collection(tmp_path)
    assert everything_in(tmp_path) == before


@pytest.mark.parametrize("made", [[], ["archive"], ["archive", "segments"], ["archive", "segments", MARKER + ".tmp"]])
def test_the_half_created_folder_of_a_killed_run_is_used(made: list[str], tmp_path: Path) -> None:
    for name in made:
        path = tmp_path / name
        path.write_bytes(b'{"form') if name.endswith(".tmp") else path.mkdir()
    create_collection(tmp_path)
    assert names_in(tmp_path) == ["archive", MARKER, "segments"]


# --- folders that cannot be used ---


def test_a_folder_without_a_collection_is_reported(tmp_path: Path) -> None:
    line = error_line(NoCollection, lambda: open_collection(tmp_path / "none"))
    assert line.startswith(f"{tmp_path / 'none'} holds no collection. `periplus crawl URL` makes one")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("name", ["thesis.tex", "archive/letters.zip", ".git/HEAD"])
def test_a_folder_of_something_else_is_left_alone(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(b"mine")
    before = everything_in(tmp_path)
    line = error_line(NoCollection, lambda: create_collection(tmp_path))
    assert f"it holds {name.partition('/')[0]!r}" in line
    assert "nothing was changed" in line
    assert everything_in(tmp_path) == before


@pytest.mark.parametrize("name", ["crawl.db", "archive/w00-000001.warc.gz"])
@pytest.mark.parametrize("act", [open_collection, create_collection])
def test_a_collection_that_lost_its_marker_is_left_alone(
    name: str, act: Callable[[Path], Collection], tmp_path: Path
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(b"pages")
    before = everything_in(tmp_path)
    assert "collection.json is missing" in error_line(DamagedFile, lambda: act(tmp_path))
    assert everything_in(tmp_path) == before


@pytest.mark.parametrize("below", ["", "below"])
def test_a_file_is_not_a_folder(below: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"mine")
    assert "is not a folder. Choose another folder with --home" in error_line(
        CollectionError, lambda: create_collection(path / below)
    )
    assert "holds no collection" in error_line(NoCollection, lambda: open_collection(path / below))
    assert path.read_bytes() == b"mine"


def test_a_name_that_no_file_system_takes_is_reported(tmp_path: Path) -> None:
    home = tmp_path / ("n" * 300)
    assert "File name too long. Choose another folder" in error_line(CollectionError, lambda: create_collection(home))
    assert "File name too long" in error_line(CollectionError, lambda: open_collection(home))


def test_a_folder_without_permission_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create_collection(tmp_path)

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    for method in ("read_bytes", "open", "mkdir"):
        monkeypatch.setattr(Path, method, denied)
    assert error_line(CollectionError, lambda: open_collection(tmp_path)).endswith("cannot be read: Permission denied")
    assert "cannot be used: Permission denied. Choose" in error_line(
        CollectionError, lambda: create_collection(tmp_path)
    )
    locking = Collection(tmp_path).locked()
    assert "crawl.lock cannot be written: Permission denied" in error_line(CollectionError, locking.__enter__)


def test_a_disk_without_room_is_reported(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "64k") as disk:
        fill(disk, leave=0)
        line = error_line(DiskFull, lambda: create_collection(disk / "new"), exit_code=3)
        assert f"no space left to write in {disk / 'new'}" in line


# --- markers ---


@pytest.mark.parametrize("found", [FORMAT + 1, 99])
def test_a_collection_of_a_later_release_is_not_touched(found: int, tmp_path: Path) -> None:
    create_collection(tmp_path)
    (tmp_path / MARKER).write_text(json.dumps({"format": found, "more": True}))
    before = everything_in(tmp_path)
    for action in (open_collection, create_collection):
        line = error_line(NewerFormat, lambda action=action: action(tmp_path))  # type: ignore[misc]
        assert f"has format {found}: this release" in line
        assert f"supports formats up to {FORMAT}. Use the release that wrote it" in line
    assert everything_in(tmp_path) == before


@pytest.mark.parametrize("content", [b"", b"{", b"\0" * 40, b"\xff\xfe{}", b"[]", b"7", b"null", b"{}"])
def test_a_damaged_marker_is_named(content: bytes, tmp_path: Path) -> None:
    create_collection(tmp_path)
    (tmp_path / MARKER).write_bytes(content)
    line = error_line(DamagedFile, lambda: open_collection(tmp_path))
    assert line.startswith(f"{tmp_path / MARKER} is damaged: it does not state a format. Run `periplus repair`")


@pytest.mark.parametrize("found", ["null", '"x"', "0", "-1", "1.5", "1e999"])
def test_a_format_that_never_was_is_damage(found: str, tmp_path: Path) -> None:
    create_collection(tmp_path)
    (tmp_path / MARKER).write_text(f'{{"format": {found}}}')
    assert "it does not state a format" in error_line(DamagedFile, lambda: open_collection(tmp_path))


def test_a_marker_that_is_a_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / MARKER).mkdir()
    assert "cannot be read: Is a directory" in error_line(CollectionError, lambda: open_collection(tmp_path))


# --- the catalog belongs to the archive ---


@pytest.mark.parametrize("damage", ["deleted", "emptied"])
def test_an_archive_without_its_catalog_is_never_written_over(damage: str, tmp_path: Path) -> None:
    collection = with_pages(tmp_path)
    collection.catalog.unlink() if damage == "deleted" else collection.catalog.write_bytes(b"")
    before = everything_in(tmp_path)
    line = error_line(DamagedFile, lambda: create_collection(tmp_path))
    assert (
        f"{collection.catalog} is missing or empty: but {collection.archive} has pages. Run `periplus repair`" in line
    )
    assert everything_in(tmp_path) == before


def test_a_kill_before_the_first_page_leaves_a_collection_that_opens(tmp_path: Path) -> None:
    collection = create_collection(tmp_path)
    (collection.archive / "w00-000001.warc.gz").touch()
    assert create_collection(tmp_path) == collection


# --- one writer ---


def test_the_error_of_a_second_writer_names_the_first(tmp_path: Path) -> None:
    home = create_collection(tmp_path).home
    code = (
        "import sys; from pathlib import Path; from periplus.store.collection import open_collection\n"
        "with open_collection(Path(sys.argv[1])).locked():\n    print('mine', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(home)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "mine\n"
        locking = open_collection(home).locked()
        line = error_line(CollectionLocked, locking.__enter__)
        assert line.startswith(f"{home} is in use: process {other.pid} is writing it. Wait")
        other.kill()
    with open_collection(home).locked():  # a kill lets go of it
        assert (home / "crawl.lock").read_text() == str(os.getpid())


def test_readers_do_not_wait_for_the_writer(tmp_path: Path) -> None:
    collection = create_collection(tmp_path)
    with collection.locked():
        assert open_collection(tmp_path) == collection
        assert "is in use" in error_line(CollectionLocked, collection.locked().__enter__)
    with collection.locked():
        pass


def test_a_lock_file_with_any_content_can_be_locked(tmp_path: Path) -> None:
    collection = create_collection(tmp_path)
    (tmp_path / "crawl.lock").write_bytes(b"\xff\xfe rubbish")
    with collection.locked():
        assert "is in use" in error_line(CollectionLocked, collection.locked().__enter__)
