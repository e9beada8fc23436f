"""Writes files that survive a power cut.

A file is written under a temporary name, fsynced and renamed, and its directory is fsynced. A reader sees the old file
or the complete new one.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from periplus.errors import DiskFull

_DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def sync_directory(folder: Path) -> None:
    """Fsync *folder*, so that created, renamed and removed names are durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file(path: Path) -> None:
    """Fsync the file *path*."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def move_into_place(temporary: Path, final: Path) -> None:
    """Fsync a finished file and rename it to *final*, atomically and durably."""
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
        temporary.unlink(missing_ok=True)  # exists only after an error


@contextmanager
def reporting_full_disk(folder: Path) -> Iterator[None]:
    """Raise `DiskFull` with a message for the user instead of an OSError for a full disk or quota."""
    try:
        yield
    except OSError as error:
        if error.errno not in _DISK_FULL:
            raise
        raise DiskFull(
            f"no space left to write in {folder}",
            error.strerror or "disk full",
            "Acknowledged pages are safe: free some space and run the same command again.",
        ) from error
