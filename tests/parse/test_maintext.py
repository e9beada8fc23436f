"""The main text is extracted, and depends on the page alone."""

from __future__ import annotations

import pytest

from parse.documents import parsed

PARAGRAPHS = [
    "The harbour of Muziris lies at the mouth of a river, two thousand stadia from the sea by way of the canal.",
    "Ships come here from Arabia with the summer wind and leave in the month of Tybi with pepper and pearls.",
    "A pilot waits behind the sandbank, for the current is strong and the channel turns twice before the town.",
]
ARTICLE = "".join(f"<p>{words}</p>" for words in PARAGRAPHS)
MENU = "<ul>" + "".join(f"<li><a href=/{n}>Section {n}</a></li>" for n in range(12)) + "</ul>"
FOOTER = "<p>Copyright 2024 by the pilots of Muziris. All rights reserved, and all wrongs as well.</p>"


def test_the_text_between_menu_and_footer_is_the_main_text() -> None:
    page = parsed(f"<nav>{MENU}</nav><main><h1>Muziris</h1>{ARTICLE}</main><footer>{FOOTER}</footer>")
    assert page.main_text == "Muziris\n" + "\n".join(PARAGRAPHS)
    assert "Section 3" in page.text
    assert "Copyright" in page.text


@pytest.mark.parametrize(
    "page",
    [
        "<div class=site-navigation>{menu}</div><div class=content>{text}</div><div id=page-footer>{foot}</div>",
        "<div role=navigation>{menu}</div><div>{text}</div><div role=contentinfo>{foot}</div>",
        "<div class=left>{menu}</div><div itemprop=articleBody>{text}</div><div class=copyright>{foot}</div>",
        "{menu}<article>{text}</article><div class=commentList>{foot}</div>",
        "<table><tr><td class=sidebar>{menu}</td><td>{text}</td></tr></table><div class=siteFooter>{foot}</div>",
    ],
)
def test_parts_are_known_by_many_names(page: str) -> None:
    found = parsed(page.format(menu=MENU, text=ARTICLE, foot=FOOTER)).main_text
    assert found == "\n".join(PARAGRAPHS)


def test_a_page_that_calls_itself_a_sidebar_still_has_its_text() -> None:
    page = parsed(f"<div class='page has-sidebar menu'>{ARTICLE}</div>")
    assert page.main_text == "\n".join(PARAGRAPHS)


def test_a_list_of_links_has_no_main_text_and_keeps_all() -> None:
    page = parsed(f"<nav>{MENU}</nav>")
    assert page.main == ()
    assert page.main_text == page.text


def test_headings_stay_with_their_text() -> None:
    page = parsed(f"<nav>{MENU}</nav><main><h1>Muziris</h1>{ARTICLE}<h2>Cargo</h2>{ARTICLE}</main>")
    assert "Cargo" in page.main_text.split("\n")


def test_code_and_tables_of_a_manual_are_main_text() -> None:
    table = "<table>" + "".join(f"<tr><td>--flag-{n}</td><td>Sets the flag number {n}</td></tr>" for n in range(5))
    page = parsed(f"<nav>{MENU}</nav><div class=body>{ARTICLE}<pre>sail --now\n  --west</pre>{table}</table></div>")
    assert "sail --now" in page.main_text
    assert "--flag-3" in page.main_text


def test_reading_a_page_again_gives_the_same_whatever_was_read_before() -> None:
    html = f"<div class=x1>{MENU}</div><div class=x2>{ARTICLE}</div>"
    before = parsed(html)
    for number in range(50):
        parsed(f"<div class=x1>{ARTICLE}{number}</div><div class=x2>{MENU}</div>")
    assert parsed(html) == before


def test_no_break_spaces_are_spaces() -> None:
    page = parsed(f"<p>&nbsp;one&nbsp;&nbsp;two&nbsp;</p><p>&nbsp;</p>{ARTICLE}")
    assert page.text.split("\n")[:2] == ["one two", PARAGRAPHS[0]]


def test_a_link_over_several_lines_counts_in_each() -> None:
    teaser = "".join(f"<div>{words}</div>" for words in PARAGRAPHS)
    page = parsed(f"{ARTICLE}{ARTICLE}<a href=/next>{teaser}</a>")
    assert page.main_text.count(PARAGRAPHS[0]) >= 2
