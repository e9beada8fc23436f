"""The reader view gives the template headings, paragraphs, lists, code and tables with marked words."""

from __future__ import annotations

from periplus.inspector.page_records import PageText
from periplus.parse.html.reader_view import Block, BlockKind, ReaderView
from periplus.web.page.reader import ReaderPage, reader_page


def shown(*blocks: Block, title: str = "Title", marks: tuple[tuple[tuple[int, int], ...], ...] = ()) -> ReaderPage:
    return reader_page(PageText("http://a.example/", 0.0, "text/html", "en", ReaderView(title, blocks), marks))


def heading(text: str, level: int) -> Block:
    return Block(BlockKind.HEADING, text, level)


def test_no_heading_level_is_skipped() -> None:
    page = shown(heading("a", 2), heading("b", 4), heading("c", 6), heading("d", 2), heading("e", 6))
    assert [part.level for part in page.parts] == [2, 3, 4, 2, 3]
    assert [part.anchor for part in page.contents] == ["part-1", "part-2", "part-3", "part-4", "part-5"]


def test_a_heading_that_repeats_the_title_is_left_out() -> None:
    assert shown(heading("Ostia", 1), title="Ostia - Harbours").parts == ()
    assert len(shown(heading("Rome", 1), title="Ostia").parts) == 1
    assert shown(title="").title == "http://a.example/"


def test_items_share_a_list_and_rows_share_a_table() -> None:
    item, row = Block(BlockKind.ITEM, "one", 1), Block(BlockKind.ROW, "a\tb")
    page = shown(item, item, row, row, item)
    assert [part.kind for part in page.parts] == ["item", "row", "item"]
    assert [[piece.text for cell in cells for piece in cell] for cells in page.parts[1].rows] == [["a", "b"]] * 2


def test_words_are_marked_in_every_kind_of_block() -> None:
    blocks = (
        Block(BlockKind.PARAGRAPH, "the reef"),
        Block(BlockKind.ROW, "reef\tno reef"),
        Block(BlockKind.ITEM, "reef"),
    )
    page = shown(*blocks, marks=(((4, 8),), ((0, 4), (8, 12)), ((0, 4),)))
    assert page.marked == 4
    assert [piece.text for piece in page.parts[0].pieces if piece.marked] == ["reef"]
    assert [[piece.text for piece in cell if piece.marked] for cell in page.parts[1].rows[0]] == [["reef"], ["reef"]]
    assert [piece.marked for piece in page.parts[2].items[0][1]] == [True]


def test_code_keeps_its_lines_and_hides_control_characters() -> None:
    (part,) = shown(Block(BlockKind.CODE, "a\n\tb\u202ec\x00")).parts
    assert "".join(piece.text for piece in part.pieces) == "a\n    bc "
