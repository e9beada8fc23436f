"""Publishes, opens, verifies and removes generations of the ranks and of the index.

A generation is a folder, `gen-N`, written once and never changed. `CURRENT` names the live one. Its `meta.json` lists
the files with sizes and digests. Generations of the index may share files, as hard links. Two locks (`flock`) protect
generations. A writer holds an exclusive lock on the lock file of the folder, so there is one writer at a time. A reader
holds a shared lock on `meta.json`, and a locked generation is not removed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import weakref
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import accumulate, chain, compress
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
from periplus.store.durable import reporting_full_disk, sync_directory, sync_file, write_file

CURRENT = "CURRENT"
META = "meta.json"
_NAME = re.compile(r"gen-[0-9]+")
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV})
_LISTED_BY = "`periplus generations` lists the generations."
_SMALL_FILE = 8 << 20  # bytes; the content of larger files is checked after opening
_SMALL_FILES = 64 << 20  # bytes of small files together; they are checked in some 20 ms


@dataclass(frozen=True, slots=True)
class Kind:
    """The differences between generations of ranks and of the index."""

    command: str  # publishes a generation
    format: int  # the latest that this release writes; later formats are refused
    oldest_format: int  # that this release reads
    digits: int  # minimum digits of the number in a new name
    lock: str  # the lock file of the writer
    writing: str  # what the writer does, for the error of a second writer
    named_sizes: bool  # meta.json has {"bytes": size, "digest": digest} of each file instead of [size, digest]
    folders: re.Pattern[str]  # names of the folders in a generation; others in a draft are temporary


_NONE = re.compile(r"(?!)")
_INDEX_FOLDERS = re.compile(r"tantivy|media|parts|forward|vectors|vocabulary|phrases|shard-[0-9]+")

# Format 1: digests of ranks were SHA-256 under the key `sha256`; records of the page store had no checksums.
# Format 5 of the index has images and videos; format 6 has shards, and an index without them has format 5.
RANK_KIND = Kind("rank", 2, 1, digits=1, lock="rank.lock", writing="ranking", named_sizes=True, folders=_NONE)
INDEX_KIND = Kind(
    "index", 6, 5, digits=6, lock="build.lock", writing="building the index", named_sizes=False, folders=_INDEX_FOLDERS
)


class Generation:
    """An open generation; it is not removed before `close`, or while this object exists."""

    def __init__(self, folder: Path, kind: Kind) -> None:
        """Lock the generation and read its `meta.json`; the other files are not checked yet."""
        self.folder, self.number = folder, number_of(folder)
        descriptor = _open_meta(folder)
        self.close = weakref.finalize(self, os.close, descriptor)
        try:
            _lock_shared(descriptor, folder)
            self.meta = _supported_meta(folder, kind)
        except BaseException:
            self.close()
            raise
        self.files = stored_files(folder, self.meta)  # by name

    def keep_only(self, names: Iterable[str]) -> None:
        """Restrict the checks to the named files: the others are not on this machine."""
        self.files = {name: self.files[name] for name in names}

    def require_sizes(self) -> None:
        """Check that every file exists with its size."""
        for path, size, _ in self.files.values():
            if (problem := wrong_size(path, size)) is not None:
                raise DamagedFile(f"{path} is damaged", problem)

    def require_intact(self, names: Iterable[str] | None = None) -> None:
        """Check every byte of the named files; of all files without names."""
        require_intact(self.files[name] for name in (self.files if names is None else names))

    def check_on_opening(self) -> list[StoredFile]:
        """Check the sizes of all files, and the content of small files; returns the others.

        Small are files of up to 8 MB, the smallest first, until they are 64 MB together.
        """
        self.require_sizes()
        by_size = sorted(self.files.values(), key=lambda file: file.size)
        totals = accumulate(file.size for file in by_size)
        is_small = [f.size <= _SMALL_FILE and total <= _SMALL_FILES for f, total in zip(by_size, totals, strict=True)]
        require_intact(compress(by_size, is_small))
        return [file for file, small in zip(by_size, is_small, strict=True) if not small]


def _open_meta(folder: Path) -> int:
    try:
        return os.open(folder / META, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise DamagedFile(f"{folder / META} cannot be read", error.strerror or str(error)) from error


def _lock_shared(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DamagedFile(f"{folder} cannot be read", "it is being removed", "Run the command again.") from None


class Generations:
    """The folder `ranks/` or `index/` of a collection."""

    def __init__(self, folder: Path, kind: Kind) -> None:
        self._folder, self._kind = folder, kind

    # -- reading --------------------------------------------------------------------------------------------------

    def live(self) -> Path | None:
        """The folder that CURRENT names; None before the first generation."""
        path = self._folder / CURRENT
        try:
            name = path.read_text(encoding="ascii", errors="replace").strip()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise DamagedFile(f"{path} cannot be read", error.strerror or str(error)) from error
        if not _NAME.fullmatch(name):
            raise DamagedFile(f"{path} is damaged", "it does not name a generation")
        return self._folder / name

    def open_live(self) -> Generation | None:
        """Open the live generation, or its successor if it is removed meanwhile; None before the first."""
        live = self.live()
        while live is not None:
            try:
                return Generation(live, self._kind)
            except DamagedFile as error:
                before, live = live, self.live()
                if live == before:
                    raise (error if live.is_dir() else self._missing(live)) from None
        return None

    def _missing(self, live: Path) -> DamagedFile:
        return DamagedFile(f"{self._folder / CURRENT} is damaged", f"it names {live.name}, which is not there")

    def complete(self) -> list[Path]:
        """Every complete generation, live or not, oldest first."""
        return sorted((path for path in self._folder.glob("gen-*") if _NAME.fullmatch(path.name)), key=number_of)

    def damage(self) -> Iterator[tuple[str, str]]:
        """Check every byte of the live generation; yields each damaged file and the problem.

        The live generation may be older than others: `roll_back` was used, or a kill came before CURRENT was written.
        """
        try:
            live = self.live()
        except DamagedFile as error:
            yield CURRENT, error.why
            return
        complete = self.complete()
        if live is None and complete:
            yield CURRENT, f"the file is missing, though {complete[-1].name} is complete"
        elif live is not None:
            found = list(damaged_files(live, self._kind))
            if live.is_dir():
                yield from ((f"{live.name}/{file}", problem) for file, problem in found)
            elif live == self.live():  # otherwise it was removed meanwhile
                yield CURRENT, self._missing(live).why

    # -- writing --------------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[Path]:
        """Create the folder of the next generation; leftovers of a killed writer are removed."""
        self._folder.mkdir(exist_ok=True)
        with self._locked(), reporting_full_disk(self._folder):
            for leftover in self._folder.glob("*.tmp"):
                _remove(leftover)
            number = max(map(number_of, self.complete()), default=0) + 1
            building = self._folder / f"gen-{number:0{self._kind.digits}d}.tmp"
            building.mkdir()
            try:
                yield building
            finally:
                shutil.rmtree(building, ignore_errors=True)  # it exists only after an error

    def publish(self, building: Path, facts: dict[str, Any], keep: int, continued: Generation | None = None) -> Path:
        """Make a finished folder the live generation, durably; removes all but the newest *keep* and those being read.

        Every file is fsynced before the folder gets its name, and the folder before CURRENT names it. Files that are
        links to the same files of *continued* are durable already, and their digests are known. Temporary folders are
        not published.
        """
        named = sorted(path for path in building.iterdir() if path.is_file() or self._kind.folders.fullmatch(path.name))
        for folder in set(building.iterdir()).difference(named):
            shutil.rmtree(folder, ignore_errors=True)
        known = {} if continued is None else {_inode(file.path): file for file in continued.files.values()}
        files = {}
        for path in chain.from_iterable([path, *sorted(path.rglob("*"))] for path in named):
            if path.is_dir():
                sync_directory(path)
            elif path.suffix != ".lock":  # lock files belong to the processes that have the index open
                linked = known.get(_inode(path))
                files[str(path.relative_to(building))] = self._described(linked) if linked else self._synced(path)
        write_file(building / META, with_checksums({"format": self._kind.format, **facts, "files": files}))
        final = self.complete_folder(building)
        self.make_live(final)
        for generation in self.complete()[:-keep]:
            remove_generation(generation)
        return final

    def complete_folder(self, building: Path) -> Path:
        """Give a folder whose files and `meta.json` are durable its final name; it is not live yet."""
        final = building.rename(building.with_suffix(""))
        sync_directory(self._folder)
        return final

    def make_live(self, generation: Path) -> None:
        """Let CURRENT name a complete generation; the caller holds the lock of the folder."""
        write_file(self._folder / CURRENT, generation.name.encode() + b"\n")

    def roll_back(self, number: int | None = None) -> Path:
        """Make a generation live after a check of every byte; without *number* the last one before the live one."""
        target = self._target(number)
        with self._locked():
            try:
                with closing(Generation(target, self._kind)) as generation:
                    generation.require_intact()
                    self.make_live(target)
            except DamagedFile as error:
                what = f"generation {number_of(target)} cannot be made live"
                raise DamagedFile(what, error.sentence, _LISTED_BY) from error
        return target

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes from writing generations in the block."""
        self._folder.mkdir(exist_ok=True)
        with self._locked():
            yield

    def _target(self, number: int | None) -> Path:
        complete = {number_of(path): path for path in self.complete()}
        if number is None:
            live = self.live()
            number = max((found for found in complete if live is None or found < number_of(live)), default=None)
        if number is None:
            raise NoIndex("there is no earlier generation", hint=f"`periplus {self._kind.command}` builds a new one.")
        if number not in complete:
            raise NoIndex(f"there is no generation {number}", hint=_LISTED_BY)
        return complete[number]

    def _synced(self, path: Path) -> dict[str, Any] | list[Any]:
        """Fsync a file; returns its size and digest as `meta.json` has them."""
        sync_file(path)
        return self._described(StoredFile(path, path.stat().st_size, file_digest(path)))

    def _described(self, file: StoredFile) -> dict[str, Any] | list[Any]:
        size, digest = file.size, file.digest.hex()
        return {"bytes": size, "digest": digest} if self._kind.named_sizes else [size, digest]

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the folder for writing."""
        with (self._folder / self._kind.lock).open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                why = f"another process is {self._kind.writing}"
                raise CollectionLocked(f"{self._folder} is in use", why, "Wait for it to end.") from None
            yield


def number_of(generation: Path) -> int:
    """The number in the name of a generation."""
    return int(generation.name.removeprefix("gen-"))


def remove_generation(generation: Path) -> None:
    """Remove a generation unless a reader has locked it; then a later writer removes it."""
    removed = generation.with_suffix(".tmp")  # the next writer removes this name if this process is killed
    try:
        lock = os.open(generation / META, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        shutil.rmtree(generation.rename(removed))  # damaged: no reader can have opened it
        return
    try:
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(generation.rename(removed))
    finally:
        os.close(lock)


def link(source: Path, target: Path) -> None:
    """Give a file of one generation to another one, as a hard link; as a copy where the file system has none."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        shutil.copyfile(source, target)


def _inode(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def _remove(leftover: Path) -> None:
    if leftover.is_dir():
        shutil.rmtree(leftover)
    else:
        leftover.unlink()


# -- meta.json --------------------------------------------------------------------------------------------------------


def read_meta(generation: Path, kind: Kind) -> dict[str, Any]:
    """Read and check the `meta.json` of a generation; its format may be too old to open it."""
    path = generation / META
    try:
        meta = verified(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DamagedFile(f"{path} is damaged", str(error)) from error
    stated = meta.get("format")
    if not isinstance(stated, int) or stated < 1:
        raise DamagedFile(f"{path} is damaged", "it does not state a format")
    if stated > kind.format:
        why = f"this release ({__version__}) supports formats up to {kind.format}"
        hint = f"Use a later release, or run `periplus {kind.command}` again."
        raise NewerFormat(f"{generation} has format {stated}", why, hint)
    return meta


def _supported_meta(generation: Path, kind: Kind) -> dict[str, Any]:
    """Read and check the `meta.json` of a generation that this release can open."""
    meta = read_meta(generation, kind)
    if meta["format"] < kind.oldest_format:
        hint = f"`periplus {kind.command}` builds a new one."
        raise NoIndex(f"{generation} was built by an earlier release", hint=hint)
    return meta


def damaged_files(generation: Path, kind: Kind) -> Iterator[tuple[str, str]]:
    """Check every byte of a generation; yields each damaged file and the problem."""
    try:
        files = stored_files(generation, read_meta(generation, kind))
    except (DamagedFile, NewerFormat) as error:
        yield META, error.why
        return
    for name, file in files.items():
        if (problem := wrong_content(*file)) is not None:
            yield name, problem


def stored_files(generation: Path, meta: dict[str, Any]) -> dict[str, StoredFile]:
    """The files that the `meta.json` of a generation lists, by name."""
    return {name: _stored_file(generation / name, described) for name, described in meta["files"].items()}


def _stored_file(path: Path, described: dict[str, Any] | list[Any]) -> StoredFile:
    if isinstance(described, dict):
        size, digest = described["bytes"], described.get("digest") or described["sha256"]
    else:
        size, digest = described
    return StoredFile(path, size, bytes.fromhex(digest))
