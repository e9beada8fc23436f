"""Repairs archive files, and makes the catalog agree with them.

A damaged record becomes a filler of the same length, and so does an unlisted one of a forgotten URL. Damaged bytes at
the end of a file are cut off. A missing file is created again, empty. Damaged bytes are copied to `kept/` first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from periplus.inspector.verify import difference
from periplus.model import Fetch
from periplus.repair.replay import Unlisted
from periplus.store.archive.archive_scan import Damage, Intact, fill, scan
from periplus.store.archive.warc_files import SUFFIX, ArchiveWriter, archive_name, archive_revision, parse_archive_name
from periplus.store.catalog.batch import ArchiveFile
from periplus.store.catalog.repair_catalog import RepairCatalog
from periplus.store.cleanup import KEPT
from periplus.store.collection import Collection
from periplus.store.durable import reporting_full_disk, sync_directory, write_file


@dataclass(slots=True)
class ArchiveRepair:
    """What was found in the archive files and done about it."""

    lost: list[Fetch] = field(default_factory=list)  # their records are damaged or missing
    unlisted: list[Unlisted] = field(default_factory=list)
    filled: int = 0  # ranges replaced by a filler
    cut: int = 0  # files whose end was cut off
    created: int = 0  # missing files


class ArchiveRepairer:
    """Repairs the archive files of one collection."""

    def __init__(self, collection: Collection, catalog: RepairCatalog) -> None:
        self._collection, self._catalog, self._blocked = collection, catalog, catalog.block_list()
        self.result = ArchiveRepair()

    def run(self, names: set[str] | None) -> ArchiveRepair:
        """Repair the files *names*, or all files and those that are missing."""
        self._collection.archive.mkdir(exist_ok=True)
        renamed = self._follow_revisions()
        listed = {file.name: file for file in self._catalog.archives()}
        wanted = {renamed.get(name, name) for name in names} if names is not None else None
        for name in sorted(wanted if wanted is not None else _expected(self._collection.archive, set(listed))):
            self._repair_file(name, listed.get(name))
        return self.result

    def _follow_revisions(self) -> dict[str, str]:
        """Use the revision of an archive file that is there, when the catalog lists another one that is missing.

        Returns the new names.
        """
        renamed: dict[str, str] = {}
        names = sorted((path.name for path in self._collection.archive.glob(f"*{SUFFIX}")), key=archive_revision)
        present = {parse_archive_name(name): name for name in names}
        for file in self._catalog.archives():
            other = present.get(parse_archive_name(file.name))
            if other is not None and not (self._collection.archive / file.name).exists():
                self._catalog.rename_archive(file, other)
                renamed[file.name] = other
        return renamed

    def _repair_file(self, name: str, file: ArchiveFile | None) -> None:
        path = self._collection.archive / name
        expected = {}
        if file is not None:
            expected = {fetch.position.offset: fetch for fetch in self._rows(file) if fetch.position is not None}
        lost = [*self._examined(path, expected), *expected.values()]
        if not path.exists() or not path.stat().st_size:
            self._create(path)
        self._update(file, path, lost)

    def _examined(self, path: Path, expected: dict[int, Fetch]) -> list[Fetch]:
        """Repair a file part by part; removes what it finds from *expected*, and returns the fetches that are lost."""
        lost = []
        request: Intact | None = None
        for part in list(_parts(path)):
            if isinstance(part, Damage):
                self._replace(path, part)
            elif part.record is not None and part.start not in expected and self._blocked.blocks(part.target):
                fill(path, Damage(request.start if request else part.start, part.end))
            elif part.record is not None:
                fetch = expected.pop(part.start, None)
                if fetch is None or difference(fetch, part.record):
                    lost += [] if fetch is None else [fetch]
                    self.result.unlisted.append(Unlisted(part.record.response.fetched_at, part.record.position))
            request = part if isinstance(part, Intact) and part.is_request else None
        return lost

    def _rows(self, file: ArchiveFile) -> Iterator[Fetch]:
        return self._catalog.fetches_in(file.archive_id)

    def _update(self, file: ArchiveFile | None, path: Path, lost: list[Fetch]) -> None:
        size = path.stat().st_size
        if file is None:
            self._catalog.add_archive(parse_archive_name(path.name)[0], path.name, size)
            return
        self._catalog.forget(file.archive_id, lost)
        self._catalog.set_archive_size(file, size)
        self.result.lost += lost

    def _replace(self, path: Path, damage: Damage) -> None:
        self._keep(path, damage)
        if damage.end < path.stat().st_size:
            fill(path, damage)
            self.result.filled += 1
        else:
            os.truncate(path, damage.start)
            self.result.cut += 1

    def _keep(self, path: Path, damage: Damage) -> None:
        folder = self._collection.home / KEPT
        with path.open("rb") as source, reporting_full_disk(self._collection.home):
            source.seek(damage.start)
            folder.mkdir(exist_ok=True)
            sync_directory(folder.parent)
            copy = unused(folder / f"{path.name.removesuffix(SUFFIX)}-damaged-{damage.start}.bin")
            write_file(copy, source.read(damage.end - damage.start))

    def _create(self, path: Path) -> None:
        writer = ArchiveWriter(path.parent, path.name, 0)
        try:
            writer.sync(writer.cut())
        finally:
            writer.close()
        self.result.created += 1


def _parts(path: Path) -> Iterator[Intact | Damage]:
    return scan(path) if path.exists() else iter(())


def _expected(folder: Path, listed: set[str]) -> set[str]:
    """The archive files that are there, that the catalog lists, and those between: numbers have no gaps.

    Of several revisions of a file, the one that the catalog lists, or else the last one.
    """
    found = sorted((path.name for path in folder.glob(f"*{SUFFIX}")), key=archive_revision)
    names = {place: name for name in (*found, *listed) if (place := parse_archive_name(name))[1]}
    last = {worker: max(number for other, number in names if other == worker) for worker, _ in names}
    places = [(worker, number) for worker, most in last.items() for number in range(1, most + 1)]
    return {names.get(place) or archive_name(*place) for place in places}


def unused(path: Path) -> Path:
    """The path itself, or with a number if it is taken."""
    names = (path.with_name(f"{path.stem}{f'-{number}' if number else ''}{path.suffix}") for number in count())
    return next(name for name in names if not name.exists())
