"""Opens, verifies and removes generations of ranks.

A generation is a folder, `ranks/gen-N`, written once and never changed. `ranks/CURRENT` names the live one. Its
`meta.json` lists the files with sizes and digests. A reader holds a shared lock on `meta.json`, and a locked generation
is not removed.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from periplus import __version__
from periplus.errors import DamagedFile, NewerFormat
from periplus.store.checksums import StoredFile, require_intact, verified, wrong_content, wrong_size

FORMAT = 2  # 1: digests were SHA-256
CURRENT = "CURRENT"
META = "meta.json"
_NAME = re.compile(r"gen-[0-9]+")


class Generation:
    """An open generation; it is not removed as long as this object exists."""

    def __init__(self, folder: Path) -> None:
        """Check that every file exists with its size; `damage` checks every byte."""
        self.folder = folder
        _lock_shared(folder / META, self)
        self.meta = _read_meta(folder)
        self._files = _stored_files(folder, self.meta)
        for path, size, _ in self._files.values():
            if (problem := wrong_size(path, size)) is not None:
                raise DamagedFile(f"{path} is damaged", problem)

    @property
    def number(self) -> int:
        """The number of the generation."""
        return number_of(self.folder)

    def require_intact(self, names: Iterable[str]) -> None:
        """Check every byte of the named files."""
        require_intact(self._files[name] for name in names)


def _lock_shared(path: Path, holder: object) -> None:
    """Lock a file for reading until *holder* is garbage-collected."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        weakref.finalize(holder, os.close, descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DamagedFile(f"{path.parent} cannot be read", "it is being removed", "Run the command again.") from None
    except OSError as error:
        raise DamagedFile(f"{path} cannot be read", error.strerror or str(error)) from error


def live_generation(folder: Path) -> Generation | None:
    """Open the generation that CURRENT names, or its successor if it is removed meanwhile; None before the first."""
    name = _live_name(folder)
    while name is not None:
        try:
            return Generation(folder / name)
        except DamagedFile:
            named_before, name = name, _live_name(folder)
            if name == named_before:
                raise
    return None


def _live_name(folder: Path) -> str | None:
    try:
        name = (folder / CURRENT).read_text(encoding="ascii", errors="replace").strip()
    except FileNotFoundError:
        return None
    if not _NAME.fullmatch(name):
        raise DamagedFile(f"{folder / CURRENT} is damaged", "it does not name a generation")
    return name


def number_of(generation: Path) -> int:
    """The number in the name of a generation."""
    return int(generation.name.removeprefix("gen-"))


def complete_generations(folder: Path) -> list[Path]:
    """Every complete generation, live or not, oldest first."""
    return sorted((path for path in folder.glob("gen-*") if _NAME.fullmatch(path.name)), key=number_of)


def remove_generation(generation: Path) -> None:
    """Remove a generation unless a reader has locked it; then a later ranking removes it."""
    removed = generation.with_suffix(".tmp")  # the next ranking removes this name if this process is killed
    try:
        lock = os.open(generation / META, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        shutil.rmtree(generation.rename(removed))  # damaged: no reader can have opened it
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(generation.rename(removed))
    except BlockingIOError:
        pass
    finally:
        os.close(lock)


def _read_meta(folder: Path) -> dict[str, Any]:
    try:
        meta = verified((folder / META).read_bytes())
        version = meta["format"]
    except (OSError, ValueError, KeyError) as error:
        raise DamagedFile(f"{folder / META} is damaged", str(error)) from error
    if version > FORMAT:
        why = f"this release ({__version__}) supports formats up to {FORMAT}"
        raise NewerFormat(f"{folder} has format {version}", why, "Use a later release, or run `periplus rank` again.")
    return meta


def _stored_files(folder: Path, meta: dict[str, Any]) -> dict[str, StoredFile]:
    """The files of a generation by name; in format 1 the key of a digest is `sha256`."""
    return {
        name: StoredFile(folder / name, file["bytes"], bytes.fromhex(file.get("digest") or file["sha256"]))
        for name, file in meta["files"].items()
    }


# -- every byte -------------------------------------------------------------------------------------------------


def damage(folder: Path) -> Iterator[tuple[str, str]]:
    """Check every byte of the live generation; yields each damaged file, relative to *folder*, and the problem."""
    complete = complete_generations(folder)
    try:
        name = _live_name(folder)
    except DamagedFile as error:
        yield CURRENT, error.why
        return
    if name is None and complete:
        yield CURRENT, f"the file is missing, though {complete[-1].name} is complete"
    elif name is not None:
        found = list(_damage_of(folder / name))
        if (folder / name).is_dir():
            yield from ((f"{name}/{file}", problem) for file, problem in found)
        elif name == _live_name(folder):  # otherwise it was removed meanwhile
            yield CURRENT, f"it names {name}, which is not there"


def _damage_of(generation: Path) -> Iterator[tuple[str, str]]:
    try:
        files = _stored_files(generation, _read_meta(generation))
    except (DamagedFile, NewerFormat) as error:
        yield META, error.why
        return
    for name, file in files.items():
        if (problem := wrong_content(*file)) is not None:
            yield name, problem
