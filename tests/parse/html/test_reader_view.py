"""The reader view shows the main text of a page as headings, paragraphs, lists, code and tables."""

from __future__ import annotations

import time

import pytest

from periplus.config import Parsing
from periplus.parse.html.profiles import Profiles
from periplus.parse.html.reader_view import LONGEST_TEXT, Block, BlockKind, ReaderView, html_view, text_view

PROSE = "The harbour of Ostia was dug under Claudius, and Trajan added a hexagonal basin to it some decades later. "
NO_PROFILES = Profiles(Parsing().profiles)


def view(body: str) -> ReaderView:
    html = f"<!doctype html><title>Ostia - Harbours</title><body>{body}"
    return html_view(html, "http://a.example/", NO_PROFILES)


def kinds(body: str) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in view(body).blocks]


def test_headings_and_paragraphs_keep_their_kind() -> None:
    found = view(f"<main><h1>Ostia</h1><p>{PROSE}</p><h3>Basin</h3><p>{PROSE * 2}</p></main>")
    assert found.title == "Ostia - Harbours"
    assert [(block.kind, block.level) for block in found.blocks] == [
        (BlockKind.HEADING, 1),
        (BlockKind.PARAGRAPH, 0),
        (BlockKind.HEADING, 3),
        (BlockKind.PARAGRAPH, 0),
    ]
    assert found.blocks[1].text == PROSE.strip()


def test_code_keeps_its_lines_and_indentation() -> None:
    code = "def dig(depth):\n    while depth:\n\n        depth -= 1"
    found = view(f"<main><p>{PROSE * 2}</p><div class=highlight><pre>{code}</pre></div><p>{PROSE * 2}</p></main>")
    assert found.blocks[1] == Block(BlockKind.CODE, code)


def test_lists_keep_their_items_and_nesting() -> None:
    items = f"<ul><li>{PROSE}<li><p>Second, {PROSE}</p><p>More: {PROSE}</p><ol><li>Inner {PROSE}</ol></ul>"
    found = view(f"<main><p>{PROSE}</p>{items}<p>{PROSE}</p></main>").blocks
    assert [(block.kind.value, block.level) for block in found] == [
        ("paragraph", 0),
        ("item", 1),
        ("item", 1),
        ("paragraph", 1),
        ("item", 2),
        ("paragraph", 0),
    ]


def test_the_cells_of_a_table_stay_in_their_rows() -> None:
    rows = "".join(f"<tr><td>Harbour number {n}<td>a depth of {n} metres at low water</tr>" for n in range(3))
    found = view(f"<main><p>{PROSE * 3}</p><table>{rows}</table><p>{PROSE * 3}</p></main>").blocks
    assert [block.text for block in found if block.kind is BlockKind.ROW] == [
        f"Harbour number {n}\ta depth of {n} metres at low water" for n in range(3)
    ]


def test_menus_and_footers_are_left_out() -> None:
    menu = "<nav>" + "".join(f"<a href=/{n}>Menu {n}</a> " for n in range(20)) + "</nav>"
    body = f"{menu}<main><h1>Ostia</h1><p>{PROSE * 3}</p></main><footer>Copyright 2026</footer>"
    text = "\n".join(block.text for block in view(body).blocks)
    assert "Menu" not in text
    assert "Copyright" not in text


def test_a_page_without_main_text_is_shown_as_a_whole() -> None:
    assert [block.text for block in view("<p>Hello</p><p>World</p>").blocks] == ["Hello", "World"]
    assert view("").blocks == ()


def test_a_profile_selects_the_body() -> None:
    html = (
        "<meta name=generator content='MediaWiki 1.40'><h1 id=firstHeading>Ostia</h1><p>Outside</p>"
        f"<div id=mw-content-text><div class=toc>Contents</div><p>{PROSE}</p><h2>Basin</h2><ul><li>one</ul></div>"
    )
    found = html_view(html, "http://a.example/", NO_PROFILES)
    assert (found.title, [block.text for block in found.blocks]) == ("Ostia", [PROSE.strip(), "Basin", "one"])


def test_extracted_text_has_one_paragraph_a_line_and_its_headings() -> None:
    found = text_view("Chapter 1\nFirst line.\nSecond line.", "The book", ("Chapter 1",))
    assert found == ReaderView(
        "The book",
        (
            Block(BlockKind.HEADING, "Chapter 1", 2),
            Block(BlockKind.PARAGRAPH, "First line."),
            Block(BlockKind.PARAGRAPH, "Second line."),
        ),
    )


def test_a_very_long_text_is_cut_and_says_so() -> None:
    found = text_view(f"{'word ' * 100}\n" * (LONGEST_TEXT // 250), "", ())
    assert found.is_cut
    assert sum(len(block.text) for block in found.blocks) <= LONGEST_TEXT
    assert not text_view("short", "", ()).is_cut
    long_line = text_view("x" * (LONGEST_TEXT + 1), "", ())
    assert (long_line.is_cut, len(long_line.blocks[0].text)) == (True, LONGEST_TEXT)


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["<ul><li>x ", "<table><tr><td>x", "<pre>x\n", "<h1>x", "<div>x", "<li>", "x<br>"])
def test_two_megabytes_of_anything_take_a_bounded_time(piece: str) -> None:
    begun = time.process_time()
    html_view(piece * (2_000_000 // len(piece)), "http://a.example/", NO_PROFILES)
    assert time.process_time() - begun < 20, "about 1 s; without a bound on nesting it would be minutes"
