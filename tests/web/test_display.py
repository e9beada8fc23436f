"""Crawled text is shown as text, and only http and https URLs are linked."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.web.display import (
    Piece,
    breadcrumb,
    cached_link,
    clock,
    day,
    moment,
    pieces,
    raw_link,
    visible,
    web_link,
)
from web.engines import CRAWLED

SPANS = st.lists(st.tuples(st.integers(-5, 60), st.integers(-5, 60)), max_size=8)
PRINTABLE = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=50)


def test_the_matching_words_are_marked() -> None:
    assert list(pieces("a new harbour", [(2, 5), (6, 13)])) == [
        Piece("a ", False),
        Piece("new", True),
        Piece(" ", False),
        Piece("harbour", True),
    ]


def test_a_text_without_matches_is_one_piece() -> None:
    assert list(pieces("harbour", [])) == [Piece("harbour", False)]
    assert list(pieces("", [(0, 5)])) == []


@given(PRINTABLE, SPANS)
def test_no_range_can_add_or_lose_a_letter(text: str, ranges: list[tuple[int, int]]) -> None:
    shown = list(pieces(text, ranges))
    assert "".join(piece.text for piece in shown) == text
    marked = {place for begin, end in ranges for place in range(max(begin, 0), min(end, len(text)))}
    flags = [piece.marked for piece in shown for _ in piece.text]
    assert [place in marked for place in range(len(text))] == flags


@given(st.text())
def test_nothing_invisible_is_left(text: str) -> None:
    left = visible(text)
    assert not {unicodedata.category(character) for character in left} & {"Cc", "Cs"}
    assert not set(left) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def test_ordinary_text_of_every_script_is_left_alone() -> None:
    for text in ("harbour", "Häfen", "ميناء", "港", "नौका", "👩‍🚀"):
        assert visible(text) == text


@pytest.mark.parametrize("url", ["http://a.example/", "https://a.example/b?c=d|e&f={g}#h", "HTTPS://A.EXAMPLE/"])
def test_addresses_of_the_web_are_links(url: str) -> None:
    assert web_link(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " javascript:alert(1)",
        "java\nscript:alert(1)",
        "\x01javascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "file:///etc/passwd",
        "blob:http://a.example/x",
        "//a.example/",
        "/search?q=x",
        "mailto:a@b.example",
        "http:",
        "http:a",
        "http://",
        "http://a.example/ onclick=x",
        "http://a.example/\nx",
        'http://a.example/"x',
        "http://a.example/<b>",
        "x https://a.example/",
        "",
    ],
)
def test_nothing_else_is(url: str) -> None:
    assert web_link(url) == ""


@pytest.mark.parametrize(
    ("url", "host", "crumbs"),
    [
        ("https://a.example/", "a.example", ()),
        ("https://a.example", "a.example", ()),
        ("https://a.example/b/c%20d/", "a.example", ("b", "c d")),
        ("https://a.example/b?x=1&y=%C3%A9#z", "a.example", ("b", "?x=1&y=é")),
        ("https://a.example?x", "a.example", ("?x",)),
        ("https://bank.example@evil.example/bank.example", "evil.example", ("bank.example",)),
        ("https://[::1]:8080/x", "[::1]:8080", ("x",)),
        ("https://a.example/1/2/3/4/5/6", "a.example", ("1", "2", "…", "5", "6")),
        ("https://a.example/" + 50 * "x", "a.example", (40 * "x" + "…",)),
        ("https://a.example/a%E2%80%AEb%00c", "a.example", ("ab c",)),
        ("javascript:alert(1)", "", ()),
        ("", "", ()),
    ],
)
def test_an_address_is_shown_as_a_way(url: str, host: str, crumbs: tuple[str, ...]) -> None:
    assert breadcrumb(url) == (host, crumbs)


@given(st.text())
def test_any_text_can_stand_where_an_address_should(url: str) -> None:
    host, crumbs = breadcrumb(url)
    assert len(crumbs) <= 5
    assert visible(host) == host
    assert cached_link(url).isascii()
    assert raw_link(url).isascii()


def test_a_copy_is_linked_by_the_whole_address() -> None:
    assert cached_link("https://a.example/?b=c&d#e") == "/cached?url=https%3A%2F%2Fa.example%2F%3Fb%3Dc%26d%23e"
    assert raw_link("https://a.example/") == "/cached/raw?url=https%3A%2F%2Fa.example%2F"


def test_times_are_shown_in_utc() -> None:
    assert (day(CRAWLED), clock(CRAWLED), moment(CRAWLED)) == ("4 March 2026", "05:05 UTC", "2026-03-04T05:05:00Z")


@pytest.mark.parametrize("seconds", [0.0, -1.0, 1e18, 1e300, float("inf"), float("nan")])
def test_a_time_that_cannot_be_is_not_shown(seconds: float) -> None:
    assert (day(seconds), clock(seconds), moment(seconds)) == ("", "", "")
