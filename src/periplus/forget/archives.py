"""Overwrites the archive records of forgotten URLs by fillers of the same length, so that all other offsets stay right.

A kill may leave a filler half written. Its bytes are damaged then, and the next run fills them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from pathlib import Path

from periplus.forget.objects import erase_archives
from periplus.model import ArchivePosition
from periplus.store.archive.archive_scan import Damage, Intact, fill, is_filling, scan
from periplus.store.archive.warc_files import SUFFIX
from periplus.store.block_list import BlockList
from periplus.store.catalog.forget_catalog import ForgetCatalog
from periplus.store.cleanup import KEPT
from periplus.store.collection import Collection
from periplus.store.durable import sync_directory

Lengths = Mapping[int, int]  # of the records to erase, by offset


def erase_records(collection: Collection, catalog: ForgetCatalog, blocked: BlockList, *, everywhere: bool) -> None:
    """Erase the records of forgotten URLs in the archive, in the folder and in the object store.

    *everywhere*: also records that the catalog does not list.
    """
    wanted = lengths_by_file(catalog.positions())
    kept = {(position.name, position.offset) for position in catalog.kept_positions()}
    listed = {file.name for file in catalog.archives()}

    def is_chosen(name: str) -> bool:
        return everywhere or name in wanted or name not in listed

    def erase(path: Path) -> int:
        offsets = {offset for name, offset in kept if name == path.name}
        return erase_in_file(path, wanted.get(path.name, {}), blocked, offsets)

    for path in sorted(collection.archive.glob(f"*{SUFFIX}")):
        if is_chosen(path.name):
            erase(path)
    erase_archives(collection, is_chosen, erase)


def lengths_by_file(positions: list[ArchivePosition]) -> dict[str, dict[int, int]]:
    """The lengths of records by file and offset."""
    found: dict[str, dict[int, int]] = defaultdict(dict)
    for name, offset, length in positions:
        found[name][offset] = length
    return found


def erase_in_file(path: Path, wanted: Lengths, blocked: BlockList, kept: Set[int] = frozenset()) -> int:
    """Erase the wanted records of a file and those of forgotten URLs, with their requests; returns their number."""
    ranges = list(_ranges(path, wanted, blocked, kept))
    if ranges:
        fill(path, *ranges)
    return len(ranges)


def _ranges(path: Path, wanted: Lengths, blocked: BlockList, kept: Set[int]) -> Iterator[Damage]:
    before: Damage | None = None  # the request, or the half written filler, that precedes the next part
    unfinished: Damage | None = None  # a half written filler that precedes the next part
    for part in scan(path):
        if isinstance(part, Damage) and is_filling(path, part):
            before = unfinished = part
            continue
        found = _to_erase(part, wanted, blocked, kept)
        if found and before is not None:
            yield Damage(before.start, found.pop(0).end)
        elif unfinished is not None:
            yield unfinished
        yield from found
        is_request = isinstance(part, Intact) and part.is_request
        before, unfinished = Damage(part.start, part.end) if is_request else None, None
    if unfinished is not None:
        yield unfinished


def _to_erase(part: Intact | Damage, wanted: Lengths, blocked: BlockList, kept: Set[int]) -> list[Damage]:
    """The ranges of a part that have to go: the whole record, or the wanted records in damaged bytes."""
    if isinstance(part, Damage):
        return [Damage(at, at + size) for at, size in wanted.items() if part.start <= at < part.end]
    is_gone = part.start in wanted or (part.start not in kept and _is_forgotten(part, blocked))
    return [Damage(part.start, part.end)] if is_gone else []


def _is_forgotten(part: Intact, blocked: BlockList) -> bool:
    return not part.is_request and bool(part.target) and blocked.blocks(part.target)


def damaged_copies(collection: Collection) -> list[Path]:
    """The files in `kept/` that are not WARC files: copies of damaged bytes, in which anything may be."""
    return [path for path in sorted((collection.home / KEPT).glob("*")) if not path.name.endswith(SUFFIX)]


def erase_kept_files(collection: Collection, blocked: BlockList) -> None:
    """Erase the records of forgotten URLs in `kept/`, and remove its copies of damaged bytes."""
    for path in (collection.home / KEPT).glob(f"*{SUFFIX}"):
        erase_in_file(path, {}, blocked)
    for path in (copies := damaged_copies(collection)):
        path.unlink()
    if copies:
        sync_directory(collection.home / KEPT)
