"""Stores what results show of a page, by document number.

Three files of compressed records: heads are small and read for every candidate. Texts and details are read for shown
results and cached pages. Each part of a generation has its own three files.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from periplus.errors import DamagedFile
from periplus.index.storage.parts import Part, parts_of
from periplus.index.storage.records import Records, RecordWriter, merge_records
from periplus.index.storage.shards import ShardNumbers, shard_folders
from periplus.model import ArchivePosition, Image, Quality, Video


@dataclass(frozen=True, slots=True)
class Head:
    """The small part of a page. A field without a value in the file gets its default."""

    url: str = ""
    host: str = ""
    title: str = ""  # without the part that most titles of the site share
    full_title: str = ""
    description: str = ""
    opening: str = ""  # the first words of the text
    mime: str = ""
    language: str = ""
    kind: str = ""  # one of `kinds.Kind`
    fetched_at: float = 0.0
    published: float | None = None  # seconds since the epoch
    modified: float | None = None
    same_content: tuple[str, ...] = ()  # other URLs of the same document
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Details:
    """The part of a page that no result shows. A field without a value in the file gets its default."""

    archive: ArchivePosition | None = None
    keywords: str = ""
    categories: tuple[str, ...] = ()
    quality: Quality | None = None  # None: the page was not reparsed yet
    link_count: int = 0  # links on the page
    links: tuple[str, ...] = ()  # the URLs of the first of them
    images: tuple[Image, ...] = ()
    videos: tuple[Video, ...] = ()


_HEAD = {field.name: field.default for field in fields(Head)}
_DETAILS = {field.name: field.default for field in fields(Details)}
_TEXT = {"text": ""}
_Tuple = TypeVar("_Tuple", bound=NamedTuple)


class PageStoreWriter:
    """Appends pages in the order of their document numbers."""

    def __init__(self, folder: Path, first: int = 0) -> None:
        """*first*: the number of the first page."""
        self._heads = RecordWriter(folder / "heads", list(_HEAD), level=1, first=first)
        self._texts = RecordWriter(folder / "texts", list(_TEXT), level=2, first=first)
        self._details = RecordWriter(folder / "details", list(_DETAILS), level=1, first=first)

    def add(self, head: Head, text: str, details: Details) -> None:
        """Append the page with the next document number."""
        self._heads.add([getattr(head, name) for name in _HEAD])
        self._texts.add([text])
        self._details.add([getattr(details, name) for name in _DETAILS])

    def finish(self) -> None:
        """Write the offsets."""
        for table in (self._heads, self._texts, self._details):
            table.finish()

    def close(self) -> None:
        """Close the files; unfinished files cannot be read."""
        with ExitStack() as closing:  # closing one of them fails on a full disk
            for table in (self._heads, self._texts, self._details):
                closing.callback(table.close)


def merge_page_stores(folders: Sequence[Path], target: Path, is_kept: NDArray[np.bool_]) -> None:
    """Copy the pages of adjacent parts into one; *is_kept*: whether each page is kept, in the order of the numbers."""
    for name in ("heads", "texts", "details"):
        merge_records([folder / name for folder in folders], target / name, is_kept)


class _PartOfStore:
    """Reads the pages of one part."""

    def __init__(self, part: Part) -> None:
        folder, first = part.folder, part.first
        self.heads = Records(folder / "heads", _HEAD, first=first)
        self.texts = Records(folder / "texts", _TEXT, first=first)
        self.details = Records(folder / "details", _DETAILS, first=first)
        self.first, self.end = first, first + len(self.heads)

    @property
    def tables(self) -> tuple[Records, Records, Records]:
        """The three files."""
        return self.heads, self.texts, self.details


class PageStore:
    """Reads pages by document number."""

    def __init__(self, generation: Path) -> None:
        """*generation*: of a generation with all its shards, or the folder of a shard, which numbers its own pages."""
        folders = shard_folders(generation)
        self._numbers = ShardNumbers(folders) if folders else None
        self._parts = [_PartOfStore(part) for folder in folders or [generation] for part in parts_of(folder)]
        self._firsts = [part.first for part in self._parts]
        if not folders and self._firsts != [0, *(part.end for part in self._parts[:-1])]:
            raise DamagedFile(f"{generation} is damaged", "a part of the page store is missing")

    def __len__(self) -> int:
        """The number of the last page, plus 1."""
        return self._parts[-1].end if self._numbers is None else len(self._numbers.owners)

    def __enter__(self) -> PageStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def has_all_columns(self) -> bool:
        """Whether all files have the columns that this release writes."""
        expected = (list(_HEAD), list(_TEXT), list(_DETAILS))
        return all(tuple(table.names for table in part.tables) == expected for part in self._parts)

    def _located(self, number: int) -> tuple[_PartOfStore, int]:
        """The part with a page, and the number of the page there."""
        if self._numbers is not None:
            return self._parts[self._numbers.owners[number]], int(self._numbers.places[number])
        return self._parts[bisect_right(self._firsts, number) - 1], number

    def head(self, number: int) -> Head:
        """The small part of a page."""
        part, number = self._located(number)
        row = part.heads[number]
        row[-2:] = map(tuple, row[-2:])  # other URLs, headings
        return Head(*row)

    def text(self, number: int) -> str:
        """The text of a page."""
        part, number = self._located(number)
        (text,) = part.texts[number]
        return str(text)

    def details(self, number: int) -> Details:
        """The part of a page that no result shows."""
        part, number = self._located(number)
        archive, keywords, categories, quality, *rest = part.details[number]
        link_count, links, images, videos = rest
        return Details(
            archive=_named(ArchivePosition, archive) if archive else None,
            keywords=keywords,
            categories=tuple(categories),
            quality=_named(Quality, quality) if quality else None,
            link_count=link_count,
            links=tuple(links),
            images=tuple(_named(Image, image) for image in images),
            videos=tuple(_named(Video, video) for video in videos),
        )

    def close(self) -> None:
        """Close the files."""
        for part in self._parts:
            for table in part.tables:
                table.close()


def _named(kind: type[_Tuple], values: Sequence[Any]) -> _Tuple:
    """The named tuple of *values*; a later release adds fields at the end only, and they are ignored."""
    return kind(*values[: len(kind._fields)])
