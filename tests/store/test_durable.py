"""A file survives a kill, a power cut and a full disk: the old one or the whole new one is there."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from periplus.errors import DiskFull
from periplus.store import durable
from store.records import error_line, names_in
from store.small_disk import fill, small_disk, under_limit


class Trace:
    """What was made durable or renamed, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps: list[tuple[str, str]] = []
        fsync, replace = os.fsync, os.replace

        def traced_fsync(descriptor: int) -> None:
            self.steps.append(("fsync", Path(f"/proc/self/fd/{descriptor}").readlink().name))
            fsync(descriptor)

        def traced_replace(source: Path, target: Path) -> None:
            self.steps.append(("rename", Path(target).name))
            replace(source, target)

        monkeypatch.setattr(os, "fsync", traced_fsync)
        monkeypatch.setattr(os, "replace", traced_replace)


def test_a_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "marker"
    for content in (b"first", b"", b"third, longer than the first"):
        durable.write_file(path, content)
        assert path.read_bytes() == content


def test_bytes_are_durable_before_the_name_and_the_name_before_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = Trace(monkeypatch)
    durable.write_file(tmp_path / "marker", b"new")
    assert trace.steps == [("fsync", "marker.tmp"), ("rename", "marker"), ("fsync", tmp_path.name)]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_before_the_rename_leaves_the_old_file_and_nothing_else(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "marker"
    durable.write_file(path, b"old")

    def fails(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, step, fails)
    with pytest.raises(OSError, match="Input/output"):
        durable.write_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["marker"]


def test_what_a_kill_left_half_written_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "marker"
    durable.write_file(path, b"old")
    (tmp_path / "marker.tmp").write_bytes(b"half of a much longer file")
    assert path.read_bytes() == b"old"
    durable.write_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert names_in(tmp_path) == ["marker"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_is_reported_in_one_line(number: int, tmp_path: Path) -> None:
    def write() -> None:
        with durable.reporting_full_disk(tmp_path):
            raise OSError(number, os.strerror(number))

    line = error_line(DiskFull, write, exit_code=3)
    assert line.startswith(f"no space left to write in {tmp_path}: {os.strerror(number)}. ")
    assert "free some space" in line


def test_other_failures_to_write_are_not_called_a_full_disk(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), durable.reporting_full_disk(tmp_path):
        raise PermissionError(errno.EACCES, "Permission denied")


def test_a_disk_that_runs_full_keeps_the_old_file(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "64k") as disk:
        durable.write_file(disk / "marker", b"old")
        ballast = fill(disk, leave=8192)

        def write() -> None:
            with durable.reporting_full_disk(disk):
                durable.write_file(disk / "marker", b"n" * 16_384)

        assert "No space left on device" in error_line(DiskFull, write, exit_code=3)
        assert names_in(disk) == ["ballast", "marker"]
        assert (disk / "marker").read_bytes() == b"old"
        ballast.unlink()
        write()
        assert (disk / "marker").stat().st_size == 16_384


def test_a_limit_on_file_sizes_counts_as_a_full_disk(tmp_path: Path) -> None:
    code = """
from periplus.store.durable import reporting_full_disk, write_file
write_file(home / "marker", b"old")
limited()
with reporting_full_disk(home):
    write_file(home / "marker", b"n" * 20_000)
"""
    kind, exit_code, line = under_limit(tmp_path, 10_000, code)
    assert (kind, exit_code) == ("DiskFull", "3")
    assert "File too large" in line
    assert (tmp_path / "marker").read_bytes() == b"old"
    assert names_in(tmp_path) == ["marker"]
