"""Reads and changes the catalog for `periplus prune`: lists all archive records, and replaces an archive file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from periplus.store.catalog.batch import ArchiveFile
from periplus.store.catalog.catalog import Catalog
from periplus.store.manifest import SealedSegment

_CONFIRMATIONS = frozenset({"same_content", "not_modified"})


class ArchivedFetch(NamedTuple):
    """One archive record of a URL."""

    at: float
    is_page: bool  # a response with a version of the page
    is_confirmation: bool  # a revisit record, which refers to a response with the same content
    content_id: bytes
    archive_id: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Replacement:
    """An archive file that replaces another one, and what happens to the records of the other one."""

    file: ArchiveFile
    name: str
    size: int
    dropped: frozenset[int]  # offsets
    moved: list[tuple[int, int]]  # old and new offsets, in order


class PruneCatalog(Catalog):
    """The catalog of a collection whose archive is being pruned; a crawl may write it, too."""

    def archived_fetches(self) -> Iterator[list[ArchivedFetch]]:
        """All archive records, URL by URL and in the order of the fetches."""
        for _, rows in groupby(self._database.rows("archived_fetches"), lambda row: row[:2]):
            yield [_archived(row) for row in rows]

    def referred_contents(self) -> frozenset[bytes]:
        """The contents that must stay, because revisit records of other URLs refer to them."""
        return frozenset(content for (content,) in self._database.rows("referred_contents"))

    def replace_archive(self, new: Replacement, successors: Iterable[tuple[str, SealedSegment]]) -> None:
        """Replace an archive file and the segments that refer to it, in one transaction."""
        number = new.file.archive_id
        with self._database.transaction():
            self._database.many("drop_record", ((number, offset) for offset in new.dropped))
            # In ascending order, because records move to smaller offsets only: no new offset is one still to be moved.
            self._database.many("move_record", ((to, number, at) for at, to in new.moved if at != to))
            replaced = self._database.run("replace_archive", new.name, new.size, new.size, number, new.file.name)
            self._require_changed(replaced.rowcount, 1)
            self._replace_segments(successors)


def _archived(row: tuple[object, ...]) -> ArchivedFetch:
    _, _, at, verdict, reason, content_id, archive_id, offset, length = row
    is_confirmation = reason in _CONFIRMATIONS
    is_page = verdict == "fetched" and not is_confirmation
    return ArchivedFetch(at, is_page, is_confirmation, content_id or b"", archive_id, offset, length)  # type: ignore[arg-type]
