"""Are large files checked in the background?"""

from __future__ import annotations

from pathlib import Path
from threading import Event
from unittest import mock

from index.damage import flip
from periplus.errors import DamagedFile
from periplus.search.background_check import BackgroundCheck
from periplus.store.checksums import StoredFile, file_digest


def files(generation: Path) -> list[StoredFile]:
    generation.mkdir()
    for number in range(3):
        (generation / f"{number}").write_bytes(bytes([number]) * 1000)
    return [StoredFile(path, 1000, file_digest(path)) for path in sorted(generation.iterdir())]


def checked(stored: list[StoredFile]) -> DamagedFile | None:
    check = BackgroundCheck(stored)
    check.wait(30)
    return check.damage


def test_intact_files_have_no_damage(tmp_path: Path) -> None:
    assert checked(files(tmp_path / "gen")) is None


def test_the_damaged_file_is_named(tmp_path: Path) -> None:
    stored = files(tmp_path / "gen")
    flip(tmp_path / "gen" / "1")
    assert str(tmp_path / "gen" / "1") in str(checked(stored))


def test_a_stopped_check_ends_after_the_current_file(tmp_path: Path) -> None:
    stored, is_reading, go_on = files(tmp_path / "gen"), Event(), Event()
    read: list[StoredFile] = []

    def slow(file: StoredFile) -> None:
        read.append(file)
        is_reading.set()
        go_on.wait(30)

    with mock.patch.object(StoredFile, "damage", slow):
        check = BackgroundCheck(stored)
        assert is_reading.wait(30)
        check.stop()
        go_on.set()
        check.wait(30)
    assert read == stored[:1]
