"""Each check detects its problem and gives advice."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import socket
import sys
import time
from pathlib import Path

import pytest

from periplus.config import load
from periplus.doctor import disk, machine
from periplus.doctor import machine as sandbox
from periplus.doctor.check import Check, Grade
from periplus.doctor.checks import contact, run_checks
from periplus.parse.sandbox.parent import Sandbox
from periplus.text import words

MOUNTS = """\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:40 / /mnt/with\\040space rw - nfs4 server:/export rw
31 22 0:41 / /tmp rw - tmpfs tmpfs rw
32 31 0:42 / /tmp/inner rw - btrfs /dev/vdb rw
33 22 0:43 / /tmp rw - xfs /dev/vdc rw
"""


def is_bad(check: Check) -> bool:
    assert check.grade is Grade.OK or check.advice, "whatever is not well comes with advice"
    return check.grade is Grade.BAD


# -- the machine ------------------------------------------------------------------------------------------------


def test_an_old_python_is_bad(monkeypatch: pytest.MonkeyPatch) -> None:
    assert machine.python().grade is Grade.OK
    monkeypatch.setattr(sys, "version_info", (3, 10, 12))
    assert is_bad(machine.python())


def test_a_missing_numba_is_a_warning_because_ranking_works_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_LIBRARIES", ("json", "no_such_numba"))
    monkeypatch.setattr(machine, "_OPTIONAL", "no_such_numba")
    check = machine.libraries()
    assert check.grade is Grade.WARN
    assert "no_such_numba does not load" in check.found


def test_all_libraries_load_here() -> None:
    check = machine.libraries()
    assert check.grade is Grade.OK, check.found


def test_an_html_scanner_that_was_not_compiled_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "IS_COMPILED", True)
    assert machine.html_scanner().grade is Grade.OK
    monkeypatch.setattr(machine, "IS_COMPILED", False)
    check = machine.html_scanner()
    assert check.grade is Grade.WARN
    assert "compiler" in check.advice


def test_a_word_table_that_was_not_compiled_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "IS_COMPILED", True)
    assert machine.word_table().grade is Grade.OK
    monkeypatch.setattr(words, "IS_COMPILED", False)
    check = machine.word_table()
    assert check.grade is Grade.WARN
    assert "compiler" in check.advice


def test_a_library_that_does_not_load_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_LIBRARIES", ("json", "no_such_library"))
    check = machine.libraries()
    assert is_bad(check)
    assert "no_such_library does not load (ModuleNotFoundError" in check.found


def test_a_library_that_ends_the_process_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        machine, "_IMPORTING", "import os, signal; print('broken', flush=True); os.kill(os.getpid(), 4)"
    )
    check = machine.libraries()
    assert is_bad(check)
    assert "broken does not load (ended by signal 4)" in check.found


@pytest.mark.parametrize(("free_mb", "grade"), [(100, Grade.BAD), (700, Grade.WARN), (4_000, Grade.OK)])
def test_little_memory_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_mb: int, grade: Grade) -> None:
    monkeypatch.setattr(machine, "_MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(machine, "_CGROUP_LIMIT", tmp_path / "memory.max")
    (tmp_path / "meminfo").write_text(f"MemTotal: 99999999 kB\nMemAvailable: {free_mb * 1024} kB\n", encoding="ascii")
    assert machine.memory(1024).grade is grade


def test_the_limit_of_a_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(machine, "_CGROUP_LIMIT", tmp_path / "memory.max")
    (tmp_path / "meminfo").write_text("MemAvailable: 99999999 kB\n", encoding="ascii")
    (tmp_path / "memory.max").write_text("300000000\n", encoding="ascii")
    (tmp_path / "memory.current").write_text("200000000\n", encoding="ascii")
    assert is_bad(machine.memory(1024))
    (tmp_path / "memory.max").write_text("max\n", encoding="ascii")
    assert machine.memory(1024).grade is Grade.OK


def test_a_system_that_does_not_tell_its_memory_is_not_blamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_MEMORY", tmp_path / "nothing")
    assert machine.memory(1024).grade is Grade.OK


@pytest.mark.parametrize(("limit", "grade"), [(64, Grade.BAD), (256, Grade.WARN), (1024, Grade.OK)])
def test_a_low_limit_of_open_files_is_noticed(monkeypatch: pytest.MonkeyPatch, limit: int, grade: Grade) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, 4096))
    check = machine.open_files(64)
    assert check.grade is grade
    assert grade is Grade.OK or "ulimit -n 4096" in check.advice


def test_no_limit_of_open_files_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert machine.open_files(4096).grade is Grade.OK


@pytest.mark.parametrize("seconds", [0.0, 1e9, 5e9])
def test_a_clock_that_is_not_set_is_bad(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr(time, "time", lambda: seconds)
    assert is_bad(machine.clock())


def test_a_clock_that_jumps_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    times = iter([now, now + 60.0])
    monkeypatch.setattr(time, "time", lambda: next(times))
    check = machine.clock()
    assert check.grade is Grade.WARN
    assert "jumped" in check.found


def test_a_port_that_is_taken_is_noticed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        number = other.getsockname()[1]
        check = machine.port(number)
        assert check.grade is Grade.WARN
        assert f"--port {number + 1}" in check.advice
    assert machine.port(number).grade is Grade.OK


# -- the disk ---------------------------------------------------------------------------------------------------


def test_a_folder_that_is_not_there_yet_is_judged_by_where_it_would_be(tmp_path: Path) -> None:
    home = tmp_path / "a" / "b"
    assert disk.nearest(home) == tmp_path
    assert disk.writable(home).grade is Grade.OK
    assert not home.exists()


def test_a_file_in_place_of_the_folder_is_bad(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert is_bad(disk.writable(tmp_path / "file"))
    assert is_bad(disk.sync(tmp_path / "file"))


@pytest.mark.parametrize(("free", "grade"), [(1e8, Grade.BAD), (1e9, Grade.WARN), (1e11, Grade.OK)])
def test_little_room_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: float, grade: Grade) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=int(free))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert disk.space(tmp_path).grade is grade


@pytest.mark.parametrize(
    ("files", "free", "grade"),
    [(1_000, 10, Grade.BAD), (90_000, 9_000, Grade.WARN), (90_000, 80_000, Grade.OK), (0, 0, Grade.OK)],
)
def test_few_inodes_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int, free: int, grade: Grade
) -> None:
    real = os.statvfs(tmp_path)
    figures = os.statvfs_result((*real[:5], files, free, free, *real[8:]))
    monkeypatch.setattr(os, "statvfs", lambda _: figures)
    assert disk.inodes(tmp_path).grade is grade


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me", "ext4"),
        ("/mnt/with space/crawl", "nfs4"),
        ("/tmp/inner/x", "btrfs"),
        ("/tmp/x", "xfs"),
        ("/tmpfile", "ext4"),
    ],
)
def test_the_file_system_of_a_path_is_that_of_its_nearest_mount(tmp_path: Path, path: str, kind: str) -> None:
    (tmp_path / "mountinfo").write_text(MOUNTS, encoding="ascii")
    assert disk.file_system_kind(Path(path), tmp_path / "mountinfo") == kind


@pytest.mark.parametrize(
    ("kind", "grade"),
    [("nfs4", Grade.BAD), ("cifs", Grade.BAD), ("tmpfs", Grade.WARN), ("ext4", Grade.OK), (None, Grade.OK)],
)
def test_network_file_systems_are_bad_and_memory_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str | None, grade: Grade
) -> None:
    monkeypatch.setattr(disk, "file_system_kind", lambda _: kind)
    check = disk.file_system(tmp_path)
    assert check.grade is grade
    assert is_bad(check) is (grade is Grade.BAD)


def test_a_disk_that_does_not_confirm_is_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", refuse)
    assert is_bad(disk.sync(tmp_path))


def test_a_slow_disk_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: time.sleep(0.12))
    check = disk.sync(tmp_path)
    assert check.grade is Grade.WARN
    assert "slows the crawl" in check.found


# -- the sandbox ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fenced", "level", "grade"), [(True, "full", Grade.OK), (False, "partial", Grade.WARN)])
def test_the_level_is_what_the_reader_of_pdfs_really_reaches(
    monkeypatch: pytest.MonkeyPatch, fenced: bool, level: str, grade: Grade
) -> None:
    monkeypatch.setattr(Sandbox, "has_seccomp", fenced)
    check = sandbox.sandbox()
    assert check.found.startswith(f"{level}: ")
    assert check.grade is grade


def test_a_pdf_parser_that_does_not_start_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/no/such/python")
    assert is_bad(sandbox.sandbox())


def test_looking_at_the_sandbox_changes_nothing() -> None:
    before = Path("/proc/self/status").read_text(encoding="ascii")
    assert sandbox.sandbox() == sandbox.sandbox()
    after = Path("/proc/self/status").read_text(encoding="ascii")
    kept = ("Seccomp:", "Seccomp_filters:", "NoNewPrivs:", "Uid:")
    assert [line for line in before.splitlines() if line.startswith(kept)] == [
        line for line in after.splitlines() if line.startswith(kept)
    ]


# -- the settings -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("", Grade.WARN),
        ("me", Grade.WARN),
        ("me@example.org", Grade.OK),
        ("https://example.org/bot", Grade.OK),
        ("see https://example.org/bot", Grade.OK),
    ],
)
def test_an_unusable_contact_is_a_warning(tmp_path: Path, text: str, grade: Grade) -> None:
    assert contact(load(tmp_path, {"identity.contact": text}, {}).settings).grade is grade


def test_settings_that_cannot_be_read_do_not_stop_the_other_checks(tmp_path: Path) -> None:
    (tmp_path / "periplus.toml").write_text("nonsense", encoding="utf-8")
    checks = {check.name: check for check in run_checks(tmp_path)}
    assert is_bad(checks["settings"])
    assert checks["python"].grade is Grade.OK
