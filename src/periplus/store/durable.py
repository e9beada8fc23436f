"""How does a file survive a power cut?

Written to a temporary name, fsynced, renamed, and the directory fsynced: a reader sees the old file or the new one.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from periplus.errors import DiskFull

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def sync_directory(folder: Path) -> None:
    """Make names created, renamed or removed in *folder* durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file(path: Path) -> None:
    """Make the bytes of *path* durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def move_into_place(temporary: Path, final: Path) -> None:
    """Give a finished file its name; either the old file or the whole new one is there afterwards."""
    sync_file(temporary)
    temporary.replace(final)
    sync_directory(final.parent)


def write_file(path: Path, data: bytes) -> None:
    """Replace *path* by *data*, atomically and durably."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        temporary.write_bytes(data)
        move_into_place(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)  # it is there only when something failed


@contextmanager
def reporting_full_disk(folder: Path) -> Iterator[None]:
    """Turn the operating system's refusal to write into a message for a person."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise DiskFull(
            f"no room left to write in {folder}",
            error.strerror or "disk full",
            "Everything acknowledged is safe: free some space and run the same command again.",
        ) from error
