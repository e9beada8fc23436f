"""Takes over from the live generation what an update does not change: links its files, merges small parts."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from periplus.index.forward.forward_index import merge_forward
from periplus.index.storage.pagestore import merge_page_stores
from periplus.index.storage.parts import (
    FOLDER,
    FORWARD_FILES,
    MEANINGS,
    PAGE_FILES,
    Part,
    part_folder,
    parts_of,
    parts_to_merge,
)
from periplus.store.generations import link

_CHANGED_BY_TANTIVY = frozenset({"meta.json", ".managed.json"})


@dataclass(frozen=True, slots=True)
class Base:
    """The generation that an update continues, and what the update takes over from it."""

    folder: Path
    is_kept: NDArray[np.bool_]  # whether each document stays, by number
    removed: NDArray[np.intp]  # the documents that this update removes
    ranks: NDArray[np.float32]  # current ones, by number; removed documents have any
    qualities: NDArray[np.float32]
    hosts: NDArray[np.uint64]

    @property
    def first(self) -> int:
        """The number of the first new document: numbers are not used again."""
        return len(self.is_kept)


def link_tantivy(before: Path, target: Path) -> None:
    """Link the files of a tantivy index into a new folder. Those that tantivy replaces are copied, to be safe."""
    target.mkdir()
    for path in before.iterdir():
        if path.name in _CHANGED_BY_TANTIVY:
            shutil.copyfile(path, target / path.name)
        elif path.suffix != ".lock":  # a lock belongs to the process that has the index open
            link(path, target / path.name)


def take_over_parts(base: Base, folder: Path, added: int) -> None:
    """Link the parts of the base into a new generation, or merge the last of them with its new part."""
    parts, new = parts_of(base.folder), part_folder(folder, base.first)
    sizes = np.diff([*(part.first for part in parts), base.first]).tolist()
    merged = parts_to_merge(sizes, added) if added else 0
    whole = parts[: len(parts) - merged]
    for part in whole:
        _link_part(part, part_folder(folder, part.first))
    if merged:
        start = parts[len(whole)].first
        is_kept = np.concatenate([base.is_kept[start:], np.ones(added, bool)])
        _merge([*(part.folder for part in parts[len(whole) :]), new], folder, start, is_kept)
    if merged or not added:
        shutil.rmtree(new)
    with suppress(OSError):  # it has parts
        (folder / FOLDER).rmdir()


def _link_part(part: Part, target: Path) -> None:
    (target / "forward").mkdir(parents=True, exist_ok=True)
    for name in (*PAGE_FILES, *FORWARD_FILES):
        link(part.folder / name, target / name)
    if (part.folder / MEANINGS).exists():
        link(part.folder / MEANINGS, target / MEANINGS)


def link_folder(before: Path, target: Path) -> None:
    """Link the files of a folder that an update does not change; a generation of an earlier release may lack it."""
    if before.is_dir():
        target.mkdir()
        for path in before.iterdir():
            link(path, target / path.name)


def _merge(folders: list[Path], generation: Path, start: int, is_kept: NDArray[np.bool_]) -> None:
    """Merge adjacent parts into the part that begins with number *start*."""
    target = part_folder(generation, start)
    target.mkdir(exist_ok=True)
    merge_page_stores(folders, target, is_kept)
    merge_forward(folders, target, is_kept)
