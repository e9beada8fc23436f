"""Disks with little room: a real one where mounting is permitted, and a limit on file sizes everywhere."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_LIMITED = """
import resource, sys
from pathlib import Path
home, limit = Path(sys.argv[1]), int(sys.argv[2])
def limited():
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
from periplus.errors import PeriplusError
try:
{code}
except PeriplusError as error:
    print(type(error).__name__, error.exit_code, error, sep="|")
"""


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of *size* at *folder*; the test is skipped where none can be mounted."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        result = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if result.returncode:
        pytest.skip(f"a small file system cannot be mounted: {result.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path, leave: int) -> Path:
    """Use up the disk but for about *leave* bytes; returns the file to remove."""
    ballast = folder / "ballast"
    block = b"\0" * 4096
    try:
        with ballast.open("wb", buffering=0) as handle:
            while handle.write(block) == len(block):
                pass
    except OSError:
        pass
    with ballast.open("rb+") as handle:
        handle.truncate(max(ballast.stat().st_size - leave, 0))
    return ballast


def under_limit(home: Path, limit: int, code: str) -> list[str]:
    """Kind, exit code and text of the error that *code* meets when no file may grow beyond *limit* bytes.

    The code finds `home`, and calls `limited()` when the limit is to begin.
    """
    indented = "".join(f"    {line}\n" for line in code.strip().splitlines())
    script = _LIMITED.format(code=indented)
    command = [sys.executable, "-c", script, str(home), str(limit)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.count("\n") == 1, result.stdout + result.stderr
    return result.stdout.strip().split("|", 2)
