"""Brings published generations into a local folder, where they are opened like those that were built there.

Files that an earlier local generation has are hard-linked; the others are downloaded and checked. The folder gets its
final name when it is complete, and CURRENT is moved after that: a kill at any time leaves the earlier one live.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path, PurePosixPath
from threading import Event

import xxhash

from periplus.errors import DamagedFile, Interrupted
from periplus.store.checksums import StoredFile, wrong_content, wrong_size
from periplus.store.durable import reporting_full_disk, sync_directory, write_file
from periplus.store.fleet_files.published_generations import Current, PublishedGenerations
from periplus.store.generations import (
    META,
    Generations,
    link,
    read_meta,
    remove_generation,
    stored_files,
)
from periplus.store.objects.transfers import PARALLEL_TRANSFERS, download_checked

Selection = Callable[[Iterable[str]], Iterable[str]]


def all_files(names: Iterable[str]) -> Iterable[str]:
    """Selects every file of a generation."""
    return names


class GenerationCache:
    """The local copies of published generations."""

    def __init__(
        self, folder: Path, published: PublishedGenerations, cache_bytes: int, select: Selection = all_files
    ) -> None:
        """*cache_bytes*: older generations are kept while all together have at most this size.

        *select*: chooses the files that are brought; a search node needs only those of its shards.
        """
        self._folder, self._published, self._cache_bytes = folder, published, cache_bytes
        self._select = select
        self._stopped = Event()
        self._generations = Generations(folder, published.kind)

    def bring(self, current: Current) -> Path:
        """Make a published generation the live one of the folder; returns its folder."""
        target = self._folder / current.name
        self._folder.mkdir(parents=True, exist_ok=True)
        with reporting_full_disk(self._folder), self._generations.held():
            if not _has_meta(target, current.digest):
                self._download(current, target)
            elif missing := self._missing(target):  # other files were selected before
                self._complete(missing)
            self._generations.make_live(target)
            self._remove_old(target)
        return target

    def is_live(self, current: Current) -> bool:
        """Whether a published generation is the live one of the folder."""
        try:
            live = self._generations.live()
        except DamagedFile:
            return False
        is_live = live == self._folder / current.name and _has_meta(live, current.digest)
        return is_live and live is not None and not self._missing(live)

    def stop(self) -> None:
        """End a download in another thread, with `Interrupted`; the next one goes on with the files that it has."""
        self._stopped.set()

    def _go_on(self) -> None:
        if self._stopped.is_set():
            raise Interrupted("the download was stopped")

    def _download(self, current: Current, target: Path) -> None:
        if target.exists():
            self._remove(target)
        building = target.with_suffix(".tmp")
        for leftover in self._folder.glob("*.tmp"):
            if leftover != building and leftover.is_dir():
                shutil.rmtree(leftover)
        building.mkdir(exist_ok=True)  # complete files of a killed process are used again
        write_file(building / META, self._published.meta(current))
        files = self._wanted(building)
        _remove_others(building, {file.path for file in files})
        self._complete(files)
        sync_directory(building)
        self._generations.complete_folder(building)

    def _wanted(self, generation: Path) -> list[StoredFile]:
        """The selected files of a generation."""
        files = stored_files(generation, read_meta(generation, self._published.kind))
        _require_inside(files)
        return [files[name] for name in self._select(files)]

    def _missing(self, generation: Path) -> list[StoredFile]:
        """The selected files that a local generation has not."""
        return [file for file in self._wanted(generation) if not file.path.exists()]

    def _complete(self, files: list[StoredFile]) -> None:
        folders = {file.path.parent for file in files}
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        self._fill(files)
        for folder in folders:
            sync_directory(folder)

    def _fill(self, files: Iterable[StoredFile]) -> None:
        present = self._present_files()

        def fill(file: StoredFile) -> None:
            if wrong_content(*file) is None:
                return
            file.path.unlink(missing_ok=True)
            same = present.get((file.size, file.digest))
            if same is not None and wrong_size(same, file.size) is None:
                link(same, file.path)
            else:
                self._fetch(file)

        with ThreadPoolExecutor(PARALLEL_TRANSFERS, "downloads") as threads:
            try:
                for _ in threads.map(fill, files):
                    pass
            except KeyboardInterrupt:
                self.stop()
                raise
            finally:
                threads.shutdown(wait=False, cancel_futures=True)

    def _fetch(self, file: StoredFile) -> None:
        hint = f"`periplus {self._published.kind.command}` publishes a new generation."
        download_checked(self._published.store, self._published.object_of(file), file, self._go_on, hint)

    def _present_files(self) -> dict[tuple[int, bytes], Path]:
        """The files of the local generations, by size and digest."""
        found = {}
        for generation in self._generations.complete():
            with suppress(DamagedFile):
                files = stored_files(generation, read_meta(generation, self._published.kind))
                found.update({(file.size, file.digest): file.path for file in files.values()})
        return found

    def _remove(self, target: Path) -> None:
        """Remove a local generation of the same number and other content."""
        remove_generation(target)
        if target.exists():
            what, why = f"{target} cannot be replaced", "it is being read, and another generation has its number"
            raise DamagedFile(what, why, "Restart this process.")

    def _remove_old(self, live: Path) -> None:
        """Remove the oldest generations until the others are small enough; those being read stay."""
        others = [path for path in self._generations.complete() if path != live]
        while others and _size([*others, live]) > self._cache_bytes:
            remove_generation(others.pop(0))


def _has_meta(generation: Path, digest: str) -> bool:
    try:
        return xxhash.xxh3_128_hexdigest((generation / META).read_bytes()) == digest
    except OSError:
        return False


def _require_inside(files: dict[str, StoredFile]) -> None:
    for name in files:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise DamagedFile(f"{META} is damaged", f"{name!r} is outside its folder")


def _remove_others(building: Path, wanted: set[Path]) -> None:
    """Remove what a killed process left in the folder and this generation has not."""
    for path in building.rglob("*"):
        if path.is_file() and path not in wanted and path != building / META:
            path.unlink()


def _size(generations: Iterable[Path]) -> int:
    """Bytes of generations together; shared files count once."""
    found = [path.stat() for generation in generations for path in generation.rglob("*") if path.is_file()]
    return sum({(one.st_dev, one.st_ino): one.st_size for one in found}.values())
