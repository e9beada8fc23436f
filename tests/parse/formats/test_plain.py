"""Plain text and XML become pages."""

from __future__ import annotations

import time

import pytest

from parse.documents import assert_bounded, parsed
from periplus.parse.formats.plain import read_text, read_xml
from periplus.parse.limits import TEXT, TITLE


def test_the_first_line_with_words_is_the_title() -> None:
    page = read_text("\n  \n  RFC 9309 \t Robots \nExclusion Protocol\n\n\nAbstract")
    assert page.title == "RFC 9309 Robots"
    assert page.text == "RFC 9309 Robots\nExclusion Protocol\nAbstract"


def test_an_empty_text_is_an_empty_page() -> None:
    assert read_text(" \r\n\t\0 ").text == ""
    assert read_xml("<a><b/></a>").title == ""


def test_plain_text_has_no_links_even_if_it_looks_like_html() -> None:
    page = parsed("<a href='/x'>not a link</a>", "text/plain")
    assert page.links == ()
    assert page.text == "<a href='/x'>not a link</a>"


def test_a_text_of_any_subtype_is_read() -> None:
    assert parsed("# Heading", "text/markdown; charset=utf-8").title == "# Heading"


def test_nul_characters_are_left_out() -> None:
    assert read_text("a\0b\0").text == "ab"


def test_long_lines_and_texts_are_truncated() -> None:
    page = read_text("x" * (TEXT + 10))
    assert (len(page.title), len(page.text)) == (TITLE, TEXT)


# XML


def test_xml_is_read_by_its_character_data() -> None:
    page = parsed(
        "<?xml version='1.0'?><!-- no --><!DOCTYPE book [<!ENTITY x 'no'>]>"
        "<book lang='no'><name>Tom &amp; Huck &#233;</name><p>one<i>two</i><![CDATA[a < b]]></p></book>",
        "application/xml",
    )
    assert page.title == "Tom & Huck é"
    assert page.text == "Tom & Huck é\none\ntwo\na < b"
    assert page.links == ()


@pytest.mark.parametrize(
    "mime", ["text/xml", "application/rss+xml", "image/svg+xml", "application/atom+xml; charset=utf-8"]
)
def test_every_kind_of_xml_is_xml(mime: str) -> None:
    assert parsed("<a><b>x</b></a>", mime).text == "x"


@pytest.mark.parametrize(
    ("broken", "text"),
    [
        ("<a>kept<b", "kept"),
        ("<a>kept<!-- never closed", "kept"),
        ("<a>kept<![CDATA[and this", "kept\nand this"),
        ("kept</a></a></a>", "kept"),
        ("<!DOCTYPE a [ <!ENTITY", ""),
        ("<a>&undefined; &#xD800; &#0;</a>", "&undefined; \ufffd \ufffd"),
    ],
)
def test_broken_xml_gives_its_readable_text(broken: str, text: str) -> None:
    assert read_xml(broken).text == text


def test_entities_are_never_expanded() -> None:
    definitions = "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10}'>" for n in range(1, 12))
    page = read_xml(f"<!DOCTYPE a [<!ENTITY e0 'ha'>{definitions}]><a>&e11;</a>")
    assert page.text == "&e11;"


@pytest.mark.parametrize(
    "part", ["<", "<!--", "<?", "<![CDATA[", "<!DOCTYPE [", "<!DOCTYPE x []] ", "&", "&#x", "]]>", "<a ", "\n"]
)
def test_no_xml_takes_long(part: str) -> None:
    started = time.process_time()
    assert_bounded(read_xml(part * (2_000_000 // len(part))))
    assert time.process_time() - started < 3
