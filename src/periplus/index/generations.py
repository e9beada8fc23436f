"""Publishes, opens and verifies generations of the index.

A generation is built in a temporary folder, verified, fsynced and renamed; then CURRENT names it. It is never changed
afterwards. Readers keep the generation that they opened; the last three stay on disk for a rollback.
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from periplus import __version__
from periplus.errors import CollectionLocked, DamagedFile, NewerFormat, NoIndex
from periplus.store.checksums import (
    StoredFile,
    file_digest,
    require_intact,
    verified,
    with_checksums,
    wrong_content,
    wrong_size,
)
from periplus.store.durable import move_into_place, reporting_full_disk, sync_directory, sync_file, write_file

FORMAT = 3  # 1: records of the page store had no checksums; 2: they had no column names
_KEPT = 3
_META = "meta.json"
_SMALL_FILE = 8 << 20  # bytes; the content of larger files is checked after opening


class Generations:
    """The folder `index/` of a collection."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def current(self) -> Path:
        """The folder of the live generation."""
        try:
            name = (self._folder / "CURRENT").read_text(encoding="ascii").strip()
        except FileNotFoundError:
            raise NoIndex("the collection has no index yet", hint="`periplus index` builds one.") from None
        except (OSError, UnicodeDecodeError) as error:
            raise DamagedFile(f"{self._folder / 'CURRENT'} cannot be read", str(error)) from error
        path = self._folder / name
        if not name.startswith("gen-") or not path.is_dir():
            why = f"it names {name!r}, which is not there"
            raise DamagedFile(f"{self._folder / 'CURRENT'} is damaged", why)
        return path

    @contextmanager
    def building(self) -> Iterator[Path]:
        """Create the folder of the next generation; leftovers of a killed build are removed."""
        self._folder.mkdir(exist_ok=True)
        with (self._folder / "build.lock").open("a") as lock, reporting_full_disk(self._folder):
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                why = "another process is building the index"
                raise CollectionLocked(f"{self._folder} is in use", why, "Wait for it to end.") from None
            for leftover in self._folder.glob("*.tmp"):
                _remove(leftover)
            path = self._folder / f"{_name(self.newest() + 1)}.tmp"
            path.mkdir()
            try:
                yield path
            finally:
                shutil.rmtree(path, ignore_errors=True)  # it is there only when something failed

    def newest(self) -> int:
        """The number of the newest complete generation; 0 before the first."""
        numbers = [number_of(path) for path in self._folder.glob("gen-*") if path.suffix != ".tmp"]
        return max(numbers, default=0)

    def publish(self, building: Path, facts: dict[str, Any]) -> Path:
        """Make a finished folder the live generation."""
        files = {str(path.relative_to(building)): _size_and_digest(path) for path in _files(building)}
        (building / _META).write_bytes(with_checksums({"format": FORMAT, **facts, "files": files}))
        for path in _files(building):
            sync_file(path)
        for folder in (*(path for path in building.rglob("*") if path.is_dir()), building):
            sync_directory(folder)
        final = building.with_suffix("")
        move_into_place(building, final)
        write_file(self._folder / "CURRENT", final.name.encode() + b"\n")
        self._remove_old(final)
        return final

    def _remove_old(self, live: Path) -> None:
        old = sorted(path for path in self._folder.glob("gen-*") if path != live)
        for path in old[: max(len(old) - _KEPT + 1, 0)]:
            # Renamed first, so that a half-removed generation never looks complete.
            shutil.rmtree(path.rename(path.with_suffix(".tmp")))


def facts_of(generation: Path) -> dict[str, Any]:
    """Read and check the `meta.json` of a generation that this release can read."""
    facts = _facts_of_any_format(generation)
    if facts["format"] < FORMAT:
        raise NoIndex(f"{generation} was built by an earlier release", hint="`periplus index` builds a new one.")
    return facts


def _facts_of_any_format(generation: Path) -> dict[str, Any]:
    path = generation / _META
    try:
        facts = verified(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DamagedFile(f"{path} is damaged", str(error)) from error
    stated = facts.get("format")
    if not isinstance(stated, int) or stated < 1:
        raise DamagedFile(f"{path} is damaged", "it does not state a format")
    if stated > FORMAT:
        why = f"this release ({__version__}) supports formats up to {FORMAT}"
        hint = "Use a later release, or run `periplus index` again."
        raise NewerFormat(f"{generation} has format {stated}", why, hint)
    return facts


def check_on_opening(generation: Path, facts: dict[str, Any]) -> list[StoredFile]:
    """Check the sizes of all files, and the content of files up to 8 MB; returns the larger files."""
    files = _stored_files(generation, facts)
    for path, size, _ in files:
        if (problem := wrong_size(path, size)) is not None:
            raise DamagedFile(f"{path} is damaged", problem)
    require_intact(file for file in files if file.size <= _SMALL_FILE)
    return [file for file in files if file.size > _SMALL_FILE]


def problems_of(generation: Path) -> Iterator[tuple[str, str]]:
    """Check every byte of a generation; yields each damaged file and the problem."""
    try:
        files = _stored_files(generation, _facts_of_any_format(generation))
    except (DamagedFile, NewerFormat) as error:
        yield _META, error.why
        return
    for file in files:
        if (problem := wrong_content(*file)) is not None:
            yield str(file.path.relative_to(generation)), problem


def _stored_files(generation: Path, facts: dict[str, Any]) -> list[StoredFile]:
    return [
        StoredFile(generation / name, size, bytes.fromhex(digest)) for name, (size, digest) in facts["files"].items()
    ]


def number_of(generation: Path) -> int:
    """The number in the name of a generation."""
    return int(generation.name.removeprefix("gen-").removesuffix(".tmp"))


def _name(number: int) -> str:
    return f"gen-{number:06d}"


def _remove(leftover: Path) -> None:
    if leftover.is_dir():
        shutil.rmtree(leftover)
    else:
        leftover.unlink()


def _files(folder: Path) -> list[Path]:
    # Lock files belong to the processes that have the index open, not to the generation.
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")


def _size_and_digest(path: Path) -> tuple[int, str]:
    return path.stat().st_size, file_digest(path).hex()
