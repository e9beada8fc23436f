"""Prepares the text of a page for the template: sections of headings, paragraphs, lists, code and tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from periplus.inspector.page_records import Marks, PageText
from periplus.parse.html.reader_view import Block, BlockKind
from periplus.web.display import Piece, pieces, visible, visible_lines

Cell = tuple[Piece, ...]
_LOWEST = 6  # heading level
_Marked = tuple[Block, Marks]


@dataclass(frozen=True, slots=True)
class Part:
    """Adjacent blocks of one kind: one heading, paragraph or code block, or all items or rows."""

    kind: str
    level: int = 0  # of a heading: 2 to 6; of a paragraph in a list: 1 or more
    pieces: Cell = ()
    items: tuple[tuple[int, Cell], ...] = ()  # level and text
    rows: tuple[tuple[Cell, ...], ...] = ()
    anchor: str = ""  # the id of a heading


@dataclass(frozen=True, slots=True)
class ReaderPage:
    """A page, ready for the template."""

    title: str
    parts: tuple[Part, ...]
    marked: int  # words of the query on the page
    is_cut: bool
    contents: tuple[Part, ...]  # the headings


def reader_page(page: PageText) -> ReaderPage:
    """The text of a page, ready for the template; a heading that repeats the title is left out."""
    marks = page.marks or ((),) * len(page.view.blocks)
    marked = list(zip(page.view.blocks, marks, strict=True))
    title = visible(page.view.title) or visible(page.url)
    if marked and marked[0][0].kind is BlockKind.HEADING and marked[0][0].text.casefold() in title.casefold():
        marked = marked[1:]
    parts = tuple(_parts(marked))
    headings = tuple(part for part in parts if part.kind == BlockKind.HEADING)
    return ReaderPage(title, parts, sum(map(len, page.marks)), page.view.is_cut, headings)


def _parts(blocks: list[_Marked]) -> Iterator[Part]:
    level, number = 1, 0
    highest = min((block.level for block, _ in blocks if block.kind is BlockKind.HEADING), default=1)
    for kind, group in groupby(blocks, key=lambda block: block[0].kind):
        if kind is BlockKind.ITEM:
            yield Part(kind, items=tuple((block.level, tuple(pieces(block.text, its))) for block, its in group))
        elif kind is BlockKind.ROW:
            yield Part(kind, rows=tuple(tuple(_cells(block.text, its)) for block, its in group))
        else:
            for block, its in group:
                if kind is BlockKind.HEADING:
                    level, number = min(block.level - highest + 2, level + 1, _LOWEST), number + 1
                    yield Part(kind, level, tuple(pieces(block.text, its)), anchor=f"part-{number}")
                else:
                    show = visible_lines if kind is BlockKind.CODE else visible
                    yield Part(kind, block.level, tuple(pieces(block.text, its, show)))


def _cells(text: str, marks: Marks) -> Iterator[Cell]:
    start = 0
    for cell in text.split("\t"):
        end = start + len(cell)
        inside = [(max(first - start, 0), last - start) for first, last in marks if first < end and last > start]
        yield tuple(pieces(cell, inside))
        start = end + 1
