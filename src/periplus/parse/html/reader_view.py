"""Splits the main text of a page into headings, paragraphs, list items, code and table rows, for reading.

An HTML page is parsed again, because the stored text has no markup. `parse/main_text/line_scores.py` chooses
the lines. A line break inside code would split the code into many short lines, so code counts as one line there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from turbohtml import Document, Element

from periplus.parse.extraction import Extraction
from periplus.parse.html.facts import read_facts
from periplus.parse.html.html_reader import parsed
from periplus.parse.html.outline import Outline
from periplus.parse.html.profiles import Excerpt, Profiles
from periplus.parse.limits import TITLE, squeeze
from periplus.parse.main_text.line_scores import RULES, Lines
from periplus.parse.main_text.parts import PartMarker
from periplus.url import host_of

LONGEST_TEXT = 300_000  # characters of a view; the rest is cut off
LARGEST_HTML = 1_000_000  # characters that are parsed for a view: 0.1 s, and 1.3 s for hostile HTML
_MOST_CELLS = 12  # of a table row; more are a layout
_LONGEST_ROW = 1_000  # characters
_DEEPEST = 6  # level of a list item
_CELL = "data-cell"  # marks table cells, which `Outline` renames
_CODE, _ITEM, _ROW, _CELLS = "c", "i", "r", "t"  # labels of spans
_RULES = {
    **RULES,
    **{f"h{level}": ["h", str(level)] for level in range(1, 7)},
    "pre": [_CODE],
    "li": [_ITEM],
    "tr": [_ROW],
    f"#{_CELL}": [_CELLS],
}
_Span = tuple[int, int, str]
_Places = NDArray[np.int64]


class BlockKind(StrEnum):
    """What a block is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"  # of a list
    CODE = "code"  # with its line breaks and spaces
    ROW = "row"  # of a table; tab characters separate the cells


class Block(NamedTuple):
    """A part of the text that is shown as a unit."""

    kind: BlockKind
    text: str
    level: int = 0  # of a heading (1 to 6) or of a list (1: not nested); 0 outside lists


class ReaderView(NamedTuple):
    """The main text of a page."""

    title: str
    blocks: tuple[Block, ...]
    is_cut: bool = False  # the text is longer than `LONGEST_TEXT`


def html_view(html: str, url: str, profiles: Profiles) -> ReaderView:
    """The view of an HTML page."""
    extraction = Extraction(url)
    document = parsed(html)
    facts = read_facts(document, extraction)
    excerpt = extraction.run("profile", None, _excerpt, document, url, facts.generator, profiles)
    code = list(document.iter_elements(("pre",)))
    for cell in document.iter_elements(("td", "th")):
        cell.attrs[_CELL] = ""
    outline = Outline(document, extraction)
    for element in code:
        element.tag = "pre"  # keeps spaces and line breaks, which `Outline` gives up
    body = excerpt.cleaned_body() if excerpt is not None else None
    title = (excerpt.title if excerpt else "") or outline.title or facts.title
    return _limited(title, _main_blocks(document) if body is None else _all_blocks(body))


def _excerpt(document: Document, url: str, generator: str, profiles: Profiles) -> Excerpt | None:
    profile = profiles.find(host_of(url), generator)
    return Excerpt(profile, document) if profile is not None else None


def text_view(text: str, title: str, headings: Iterable[str]) -> ReaderView:
    """The view of an extracted text: a paragraph for every line, unless it is one of the *headings*."""
    known = set(headings)
    blocks = (
        Block(BlockKind.HEADING, line, 2) if line in known else Block(BlockKind.PARAGRAPH, line)
        for line in text.split("\n")
        if line
    )
    return _limited(title, blocks)


def plain_view(text: str, title: str) -> ReaderView:
    """The view of a plain text: as it is, in parts that empty lines separate."""
    parts = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").split("\n\n")
    return _limited(title, (Block(BlockKind.CODE, part.strip("\n")) for part in parts if part.strip()))


def _limited(title: str, blocks: Iterable[Block]) -> ReaderView:
    kept, room = list[Block](), LONGEST_TEXT
    for block in blocks:
        if len(block.text) > room:
            kept += [block._replace(text=block.text[:room])] if room else []
            return ReaderView(squeeze(title, TITLE), tuple(kept), is_cut=True)
        kept.append(block)
        room -= len(block.text)
    return ReaderView(squeeze(title, TITLE), tuple(kept))


def _main_blocks(document: Document) -> Iterator[Block]:
    PartMarker().mark(document)
    return _blocks(*document.to_annotated_text(_RULES), only_main=True)


def _all_blocks(element: Element) -> Iterator[Block]:
    return _blocks(*element.to_annotated_text(_RULES), only_main=False)


def _blocks(text: str, spans: Sequence[_Span], *, only_main: bool) -> Iterator[Block]:
    lines = Lines(_with_whole_code(text, spans), list(spans))
    if not lines.words:
        return
    chosen = lines.chosen() if only_main else np.ones(len(lines.words), np.bool_)
    shown = np.flatnonzero(chosen if chosen.any() else ~chosen)
    yield from _Layout(text, spans, lines).blocks(shown.tolist())


def _with_whole_code(text: str, spans: Iterable[_Span]) -> str:
    """The text with spaces instead of line breaks in code; positions stay."""
    pieces, done = list[str](), 0
    for start, end, label in sorted(spans):
        if label == _CODE and end > done:
            pieces += [text[done : max(start, done)], text[max(start, done) : end].replace("\n", " ")]
            done = end
    return "".join(pieces) + text[done:]


class _Layout:
    """The kind of every line of a text."""

    def __init__(self, text: str, spans: Iterable[_Span], lines: Lines) -> None:
        self._text, self._lines = text, lines
        by_label: dict[str, list[tuple[int, int]]] = {}
        for start, end, label in spans:
            by_label.setdefault(label, []).append((start, end))
        count = len(lines.words)
        self._items, self._depths = self._parts(by_label.get(_ITEM, []), count)
        self._rows, self._row_depths = self._parts(by_label.get(_ROW, []), count)
        self._cells, _ = self._parts(by_label.get(_CELLS, []), count)
        _, is_code = self._parts(by_label.get(_CODE, []), count)
        self._is_code = is_code > 0
        self._levels = np.zeros(count, np.int64)
        for level in range(6, 0, -1):
            first, depth = self._parts(by_label.get(str(level), []), count, longest=1)
            self._levels[first & (depth > 0)] = level

    def _parts(
        self, spans: list[tuple[int, int]], count: int, longest: int | None = None
    ) -> tuple[NDArray[np.bool_], _Places]:
        """For every line, whether a span begins in it, and how many spans contain it; *longest* in lines."""
        begins = np.zeros(count, np.bool_)
        if not spans:
            return begins, np.zeros(count, np.int64)
        starts, ends = np.array(spans, np.int64).T
        firsts = np.searchsorted(self._lines.ends, starts, "right")
        lasts = np.searchsorted(self._lines.starts, ends, "left")
        kept = (firsts < lasts) & ((lasts - firsts <= longest) if longest else True)
        firsts, lasts = firsts[kept], lasts[kept]
        begins[firsts] = True
        changes = np.bincount(firsts, minlength=count + 1) - np.bincount(lasts, minlength=count + 1)
        return begins, np.cumsum(changes)[:count]

    def blocks(self, shown: list[int]) -> Iterator[Block]:
        """The blocks of the lines with these numbers."""
        row: list[str] = []
        last = -2
        for number in shown:
            is_cell = bool(self._row_depths[number]) and not (self._is_code[number] or self._levels[number])
            if row and (not is_cell or self._rows[number] or number != last + 1):
                yield from _row(row)
                row = []
            if is_cell:
                self._add_to(row, number)
            else:
                yield self._block(number)
            last = number
        yield from _row(row)

    def _add_to(self, row: list[str], number: int) -> None:
        words = self._lines.words[number].replace("\t", " ")
        if row and not self._cells[number]:
            row[-1] += f" {words}"
        else:
            row.append(words)

    def _block(self, number: int) -> Block:
        words, depth = self._lines.words[number], min(int(self._depths[number]), _DEEPEST)
        if self._is_code[number]:
            return Block(BlockKind.CODE, self._text[self._lines.starts[number] : self._lines.ends[number]].rstrip())
        if self._levels[number]:
            return Block(BlockKind.HEADING, words.rstrip(" ¶"), int(self._levels[number]))
        return Block(BlockKind.ITEM if self._items[number] else BlockKind.PARAGRAPH, words, depth)


def _row(cells: list[str]) -> Iterator[Block]:
    """A table row; paragraphs for a row that is too large for a table, as in a layout."""
    if len(cells) > _MOST_CELLS or sum(map(len, cells)) > _LONGEST_ROW or len(cells) == 1:
        yield from (Block(BlockKind.PARAGRAPH, cell) for cell in cells)
    elif cells:
        yield Block(BlockKind.ROW, "\t".join(cells))
