"""Checks the folder of the collection: writable, file system, free space, inodes and fsync."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from periplus.doctor.check import Check, Grade, graded

_GB = 1_000_000_000
_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = frozenset(
    {"9p", "afs", "ceph", "cifs", "fuse.glusterfs", "fuse.sshfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs"}
)
_VOLATILE = {"ramfs": "memory", "tmpfs": "memory", "overlay": "deleted with its container"}
_ESCAPE = re.compile(r"\\([0-7]{3})")  # mountinfo escapes blanks in a name
_WRITES = 5
_SLOW_SYNC = 0.1  # seconds; a commit happens about once a second
_CLOCK_SKEW = 5.0  # seconds between the clocks of this machine and of the file system


def nearest(home: Path) -> Path:
    """The folder itself, or its nearest parent folder that exists."""
    path = home.absolute()
    return next((folder for folder in (path, *path.parents) if os.access(folder, os.F_OK)), path)


def writable(home: Path) -> Check:
    """Whether files can be created in the folder."""
    place = nearest(home)
    found = str(home) if place == home.absolute() else f"{home} would be created in {place}"
    try:
        with tempfile.TemporaryFile(dir=place):
            return Check("folder", Grade.OK, found)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        return Check("folder", Grade.BAD, f"{place} cannot be written: {why}", "Choose another folder with --home.")


def space(home: Path) -> Check:
    """Free disk space; a page takes about 30 kB in archive, segments and index."""
    free = shutil.disk_usage(nearest(home)).free
    found = f"{free / _GB:,.1f} GB free"
    advice = "Free some space or choose a folder on another disk; a page takes about 30 kB."
    return graded("disk space", free, found, bad=0.2 * _GB, low=5 * _GB, advice=advice)


def inodes(home: Path) -> Check:
    """Free inodes."""
    figures = os.statvfs(nearest(home))
    if not figures.f_files:
        return Check("free inodes", Grade.OK, "not limited on this file system")
    found = f"{figures.f_favail:,} files can be created"
    advice = "Remove small files, or choose a folder on another disk."
    return graded("free inodes", figures.f_favail, found, bad=1_000, low=20_000, advice=advice)


def file_system(home: Path) -> Check:
    """The file system type; network file systems lack the locks and shared memory that SQLite needs."""
    kind = file_system_kind(nearest(home))
    if kind is None:
        return Check("file system", Grade.OK, "unknown on this system")
    if kind in _NETWORK:
        advice = "Use a folder on a disk of this machine: SQLite's write-ahead log is not safe over a network."
        return Check("file system", Grade.BAD, f"{kind}, over a network", advice)
    if kind in _VOLATILE:
        return Check(
            "file system", Grade.WARN, f"{kind}: {_VOLATILE[kind]}", "Use a folder on a disk to keep the crawl."
        )
    return Check("file system", Grade.OK, kind)


def file_system_kind(path: Path, mounts: Path = _MOUNTS) -> str | None:
    """The type of the file system of *path*, from mountinfo; None when that cannot be read."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    real, best, kind = path.resolve(), -1, None
    for line in lines:
        before, _, after = line.partition(" - ")
        mounted = Path(_ESCAPE.sub(lambda code: chr(int(code[1], 8)), before.split(" ")[4]))
        if real.is_relative_to(mounted) and len(mounted.parts) >= best:  # a later mount covers an earlier one
            best, kind = len(mounted.parts), after.split(" ")[0]
    return kind


def sync(home: Path) -> Check:
    """Whether fsync works, and how long it takes."""
    seconds = []
    try:
        with tempfile.NamedTemporaryFile(dir=nearest(home)) as file:
            for _ in range(_WRITES):
                file.write(b"periplus" * 512)
                file.flush()
                started = time.perf_counter()
                os.fsync(file.fileno())
                seconds.append(time.perf_counter() - started)
            skew = abs(os.fstat(file.fileno()).st_mtime - time.time())
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        return Check("fsync", Grade.BAD, f"does not work: {why}", "Choose a folder on a disk of this machine.")
    typical = statistics.median(seconds)
    found = f"{typical * 1000:.1f} ms"
    if skew > _CLOCK_SKEW:
        return Check(
            "fsync", Grade.WARN, f"{found}; the disk's clock is {skew:.0f} s off", "Synchronize both clocks with NTP."
        )
    if typical > _SLOW_SYNC:
        return Check(
            "fsync", Grade.WARN, f"{found}, which slows the crawl", "Raise store.commit_seconds, or use an SSD."
        )
    return Check("fsync", Grade.OK, found)
