"""Robots directives in <meta> and headers set noindex and nofollow."""

from __future__ import annotations

import pytest

from parse.documents import answer, parsed, parser
from periplus.model import Response


def meta(content: str, name: str = "robots") -> str:
    return f"<meta name='{name}' content='{content}'><a href='/x'>x</a>"


@pytest.mark.parametrize(
    ("content", "noindex", "nofollow"),
    [
        ("noindex", True, False),
        ("nofollow", False, True),
        ("NOINDEX, NoFollow", True, True),
        ("noindex nofollow", True, True),
        ("none", True, True),
        ("all", False, False),
        ("index, follow, max-snippet:-1", False, False),
        ("noindexing", False, False),
        ("", False, False),
    ],
)
def test_a_meta_element_sets_noindex_and_nofollow(content: str, noindex: bool, nofollow: bool) -> None:
    page = parsed(meta(content))
    assert (page.noindex, page.nofollow) == (noindex, nofollow)
    assert [link.nofollow for link in page.links] == [nofollow]


def test_the_stricter_of_two_elements_wins() -> None:
    page = parsed(meta("index") + meta("noindex", "Robots") + meta("follow"))
    assert (page.noindex, page.nofollow) == (True, False)


def test_directives_for_another_crawler_are_ignored() -> None:
    assert not parsed(meta("noindex", "googlebot")).noindex
    assert parsed(meta("noindex", "Periplus")).noindex


@pytest.mark.parametrize(
    ("value", "noindex", "nofollow"),
    [
        ("noindex", True, False),
        ("None", True, True),
        ("noarchive, NOFOLLOW", False, True),
        ("googlebot: noindex, nofollow", False, False),
        ("periplus: noindex", True, False),
        ("*: noindex", True, False),
        ("googlebot: noindex, periplus: nofollow", False, True),
        ("unavailable_after: Sunday, 25-Jun-10 15:00:00 PST, noindex", True, False),
        ("max-snippet: 20, nofollow", False, True),
        ("", False, False),
    ],
)
def test_a_header_sets_noindex_and_nofollow(value: str, noindex: bool, nofollow: bool) -> None:
    for mime in ("text/html", "text/plain", "application/xml", "image/png"):
        page = parsed("<a href='/x'>x</a>", mime, x_robots_tag=value)
        assert (page.noindex, page.nofollow) == (noindex, nofollow), mime


def test_a_repeated_header_is_read_every_time() -> None:
    head = b"HTTP/1.1 200 OK\r\nX-Robots-Tag: noindex\r\nx-robots-tag : nofollow\r\nX-Robots-Tag: noarchive\r\n"
    response = Response("http://example.org/", 0.0, head=head, headers={"x-robots-tag": "noarchive"}, body=b"x")
    page = parser().parse(response)
    assert (page.noindex, page.nofollow) == (True, True)


def test_the_header_and_the_page_add_up() -> None:
    page = parser().parse(answer(meta("nofollow"), x_robots_tag="noindex"))
    assert (page.noindex, page.nofollow) == (True, True)
