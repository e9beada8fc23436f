"""Stores what results show of a page, by document number.

Three files of compressed records: heads are small and read for every candidate. Texts and details are read for shown
results and cached pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from periplus.index.records import Records, RecordWriter
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
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Details:
    """The part of a page that is read for shown results. A field without a value in the file gets its default."""

    archive: ArchivePosition | None = None
    same_content: tuple[str, ...] = ()  # other URLs of the same document
    keywords: str = ""
    categories: tuple[str, ...] = ()
    published: float | None = None  # seconds since the epoch
    modified: float | None = None
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

    def __init__(self, folder: Path) -> None:
        self._heads = RecordWriter(folder / "heads", list(_HEAD), level=1)
        self._texts = RecordWriter(folder / "texts", list(_TEXT), level=2)
        self._details = RecordWriter(folder / "details", list(_DETAILS), level=1)

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


class PageStore:
    """Reads pages by document number."""

    def __init__(self, folder: Path) -> None:
        self._heads = Records(folder / "heads", _HEAD)
        self._texts = Records(folder / "texts", _TEXT)
        self._details = Records(folder / "details", _DETAILS)

    def __len__(self) -> int:
        return len(self._heads)

    def __enter__(self) -> PageStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def head(self, number: int) -> Head:
        """The small part of a page."""
        row = self._heads[number]
        row[-1] = tuple(row[-1])  # headings
        return Head(*row)

    def text(self, number: int) -> str:
        """The text of a page."""
        (text,) = self._texts[number]
        return str(text)

    def details(self, number: int) -> Details:
        """The part of a page that only shown results need."""
        archive, same, keywords, categories, published, modified, quality, *rest = self._details[number]
        link_count, links, images, videos = rest
        return Details(
            archive=_named(ArchivePosition, archive) if archive else None,
            same_content=tuple(same),
            keywords=keywords,
            categories=tuple(categories),
            published=published,
            modified=modified,
            quality=_named(Quality, quality) if quality else None,
            link_count=link_count,
            links=tuple(links),
            images=tuple(_named(Image, image) for image in images),
            videos=tuple(_named(Video, video) for video in videos),
        )

    def close(self) -> None:
        """Close the files."""
        for table in (self._heads, self._texts, self._details):
            table.close()


def _named(kind: type[_Tuple], values: Sequence[Any]) -> _Tuple:
    """The named tuple of *values*; a later release adds fields at the end only, and they are ignored."""
    return kind(*values[: len(kind._fields)])
