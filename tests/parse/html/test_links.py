"""The links of a page are collected once per canonical URL."""

from __future__ import annotations

import pytest

from parse.documents import URL, answer, parsed, parser, targets
from periplus.model import Link
from periplus.parse.limits import ADDRESS, ANCHOR


def link(href: str, text: str = "", attributes: str = "") -> str:
    return f'<a href="{href}" {attributes}>{text}</a>'


# Targets


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("other.html", "https://example.org/docs/other.html"),
        ("../", "https://example.org/"),
        ("/a b", "https://example.org/a%20b"),
        ("?page=2", "https://example.org/docs/guide.html?page=2"),
        ("//other.example/x", "https://other.example/x"),
        (" \n other.html\t", "https://example.org/docs/other.html"),
        ("other.html#part", "https://example.org/docs/other.html"),
        ("other.html?utm_source=x&amp;a=1", "https://example.org/docs/other.html?a=1"),
        ("guide.html#part", URL),
        ("HTTP://EXAMPLE.org:80", "http://example.org/"),
        ("https:?a=1", "https://example.org/docs/guide.html?a=1"),
    ],
)
def test_a_link_has_the_canonical_url(href: str, target: str) -> None:
    assert parsed(link(href)).links == (Link(target, "", False),)


@pytest.mark.parametrize(
    "href",
    [
        "",
        " ",
        "#part",
        " #part",
        "javascript:void(0)",
        "JavaScript:x()",
        "mailto:a@b.example",
        "tel:+1",
        "data:text/html,x",
        "ftp://example.org/",
        "http://",
        "http://[",
        "about:blank",
        "x" * (ADDRESS + 1),
    ],
)
def test_a_link_that_is_not_a_web_page_is_ignored(href: str) -> None:
    page = parsed(link(href, "text"))
    assert page.links == ()
    assert page.links_dropped == 0


def test_an_anchor_without_href_is_no_link() -> None:
    assert parsed("<a name=x>here</a><a href>here</a>").links == ()


def test_links_come_in_the_order_of_the_page() -> None:
    assert targets(parsed(link("b") + link("a") + link("b"))) == [
        "https://example.org/docs/b",
        "https://example.org/docs/a",
    ]


def test_a_base_element_moves_every_relative_link() -> None:
    page = parsed('<base target=_top><base href="/other/place/"><base href="/no/">' + link("x") + link("#part"))
    assert targets(page) == ["https://example.org/other/place/x"]


@pytest.mark.parametrize("base", ["javascript:alert(1)", "http://[", "", "/" + "b" * ADDRESS, "é" * (ADDRESS // 4)])
def test_an_invalid_base_is_ignored(base: str) -> None:
    assert targets(parsed(f'<base href="{base}">' + link("x"))) == ["https://example.org/docs/x"]


def test_links_are_also_found_outside_of_anchors() -> None:
    page = parsed(
        "<head><meta http-equiv=Refresh content='5; url=moved.html'><link rel=next href=2.html>"
        "<link rel='PREV' href=0.html><link rel=alternate hreflang=de href=de.html>"
        "<link rel=alternate type=application/rss+xml href=feed>"
        "<link rel=stylesheet href=style.css></head><iframe src=inner.html title='Inner frame'></iframe>"
        "<map><area href=region.html alt='A region'></map><svg><a href=drawn.html>drawn</a></svg>"
    )
    assert [(link.target.rpartition("/")[2], link.anchor) for link in page.links] == [
        ("moved.html", ""),
        ("2.html", ""),
        ("0.html", ""),
        ("de.html", ""),
        ("inner.html", "Inner frame"),
        ("region.html", "A region"),
        ("drawn.html", "drawn"),
    ]


def test_the_frames_of_a_frameset_are_links() -> None:
    assert targets(parsed("<frameset><frame src=a.html><frame src=b.html></frameset>")) == [
        "https://example.org/docs/a.html",
        "https://example.org/docs/b.html",
    ]


def test_hidden_elements_have_no_links() -> None:
    assert parsed(f"<template>{link('a')}</template><noscript>{link('b')}</noscript><!--{link('c')}-->").links == ()


# Anchors


@pytest.mark.parametrize(
    ("content", "anchor"),
    [
        ("  The \n <b>Guide</b>&nbsp; ", "The Guide"),
        ("<h3>Title</h3><p>Summary</p>", "Title Summary"),
        ("one<br>two", "one two"),
        ("<img alt=' A  picture '>", "A picture"),
        ("<img alt=picture> text", "text"),
        ("<span><img></span>", ""),
        ("read<script>x()</script><style>a{}</style><noscript><img src=y></noscript>", "read"),
        ("<svg><title>Search</title></svg>", "Search"),
        ("Find<svg><title>icon</title></svg>", "Find icon"),
    ],
)
def test_the_anchor_text_is_the_visible_text(content: str, anchor: str) -> None:
    assert parsed(link("x", content)).links[0].anchor == anchor


def test_a_long_anchor_text_is_truncated() -> None:
    assert len(parsed(link("x", "word " * 100)).links[0].anchor) in {ANCHOR, ANCHOR - 1}


def test_the_first_anchor_text_that_is_not_empty_counts() -> None:
    page = parsed(link("x", "<img>") + link("x#part", "The guide") + link("x", "read more"))
    assert page.links == (Link("https://example.org/docs/x", "The guide", False),)


def test_a_link_of_the_head_takes_its_anchor_from_the_body() -> None:
    page = parsed("<link rel=next href=2.html>" + link("2.html", "Next page"))
    assert page.links == (Link("https://example.org/docs/2.html", "Next page", False),)


# Nofollow


@pytest.mark.parametrize("rel", ["nofollow", "NoFollow", "noopener ugc", "sponsored", "external nofollow noopener"])
def test_a_nofollow_link_is_marked(rel: str) -> None:
    page = parsed(link("x", "x", f'rel="{rel}"') + link("y", "y", 'rel="noopener me"'))
    assert [link.nofollow for link in page.links] == [True, False]


def test_one_link_without_nofollow_makes_the_target_followed() -> None:
    page = parsed(link("x", "a", "rel=nofollow") + link("x", "b") + link("x", "c", "rel=nofollow"))
    assert page.links == (Link("https://example.org/docs/x", "a", False),)


# The cap


def test_links_past_the_cap_are_counted_once_each() -> None:
    body = "".join(link(str(number)) for number in range(8)) + link("0") + link("#x") + link("6#y") + link("7")
    page = parser(links_per_page=5).parse(answer(body))
    assert targets(page) == [f"https://example.org/docs/{number}" for number in range(5)]
    assert page.links_dropped == 3


def test_a_page_with_as_many_links_as_allowed_drops_none() -> None:
    page = parser(links_per_page=2).parse(answer(link("a") + link("b") + link("a") + link("#c")))
    assert (len(page.links), page.links_dropped) == (2, 0)


def test_other_kinds_of_links_are_capped_as_well() -> None:
    page = parser(links_per_page=2).parse(answer("<area href=a><area href=b><area href=c>" + link("d")))
    assert (len(page.links), page.links_dropped) == (2, 2)
