"""Any response becomes a page, within time and memory limits, and always the same page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parse.documents import answer, assert_bounded, parsed, parser, real_pages, targets
from periplus.model import ListedPage, Page, Response
from shared_data import shared

TYPES = ["text/html", "application/xhtml+xml", "text/plain", "application/xml", "", "application/pdf", "nonsense"]
LIMIT = 5 << 20  # the most a crawler hands over


# Which reader


@pytest.mark.parametrize("mime", ["", "application/octet-stream", "*/*"])
@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("<!DOCTYPE html><title>T</title>", "T"),
        ("\ufeff \n<HTML><title>T</title>", "T"),
        ("<!-- x --><title>T</title>", "T"),
        ("<?xml version='1.0'?><a>T</a>", "T"),
        ("T\nis the title of a text", "T"),
        ("%PDF-1.7 not for us yet", ""),
        ("GIF89a\0\0\0", ""),
    ],
)
def test_a_missing_media_type_is_guessed(mime: str, body: str, title: str) -> None:
    assert parsed(body, mime).title == title


def test_xhtml_sent_as_plain_xml_is_still_a_page() -> None:
    page = parsed('<html xmlns="http://www.w3.org/1999/xhtml"><body><a href="x">y</a></body></html>', "text/xml")
    assert targets(page) == ["https://example.org/docs/x"]


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        ("<pubDate>2026-01-05</pubDate><updated>2026-01-06</updated>", 1_767_571_200.0),
        ("<updated>2026-01-06</updated>", 1_767_657_600.0),
        ("", None),
    ],
)
def test_a_feed_gives_its_entries_a_date(dates: str, expected: float | None) -> None:
    page = parsed(f"<rss><item><title>One</title><link>/1</link>{dates}</item></rss>", "application/rss+xml")
    assert targets(page) == ["https://example.org/1"]
    assert page.listed == (() if expected is None else (ListedPage("https://example.org/1", expected),))


def test_a_feed_gives_no_date_to_pages_of_other_sites() -> None:
    links = ("https://blog.example.org/a", "https://other.example.com/b")
    items = "".join(f"<item><link>{link}</link><pubDate>2026-01-05</pubDate></item>" for link in links)
    page = parsed(f"<rss>{items}</rss>", "application/rss+xml")
    assert targets(page) == list(links)
    assert [listed.url for listed in page.listed] == [links[0]]


@pytest.mark.parametrize("mime", ["image/png", "application/json", "video/mp4", "nonsense"])
def test_a_binary_body_is_an_empty_page(mime: str) -> None:
    assert parsed("<title>x</title>", mime) == Page()


def test_a_response_without_headers_or_url_is_parsed() -> None:
    page = parser().parse(Response("", 0.0, body=b"<p>x<a href=/y>y</a>"))
    assert (page.text, page.links) == ("xy", ())


def test_the_charset_of_the_header_is_used() -> None:
    assert parsed("<p>чай".encode("koi8-r"), "text/html; charset=koi8-r").text == "чай"


# Real pages


@pytest.mark.slow
def test_real_pages_give_bounded_fields_and_the_same_ones_every_time() -> None:
    pages = real_pages()
    first, second = parser(), parser()
    results = {name: first.parse(answer(body, "text/html", url=f"https://{number % 9}.example/{number % 5}/{number}"))
               for number, (name, body) in enumerate(pages.items())}  # fmt: skip
    for number, (name, body) in reversed(list(enumerate(pages.items()))):
        again = second.parse(answer(body, "text/html", url=f"https://{number % 9}.example/{number % 5}/{number}"))
        assert again == results[name], name
        assert_bounded(again)


@pytest.mark.slow
def test_real_pages_have_titles_words_and_links() -> None:
    results = [parsed(body, "text/html") for body in real_pages().values()]
    assert len(results) == 498
    assert sum(bool(page.title) for page in results) >= 490
    assert sum(len(page.text) > 500 for page in results) >= 485
    assert sum(len(page.links) > 5 for page in results) >= 480
    assert sum(bool(page.language) for page in results) >= 400
    assert sum("<" in page.text and "</" in page.text for page in results) <= 10  # markup that leaked
    assert not any("\ufffd" in page.title for page in results)


# Hostile pages

MANY = 100_000
WIKI = "<meta name=generator content='MediaWiki 1.44'><div id=mw-content-text>"
BOMBS = {
    "nested blocks": "<div>" * MANY,
    "nested words": "<div>x" * MANY,
    "nested lists": "<ol><li>x" * MANY,
    "nested quotations": "<blockquote>x" * MANY,
    "nested tables": "<table><tr><td>x" * MANY,
    "nested headings": "<h1><object>x" * MANY,
    "nested formatting": "".join(f"<b id={number}>" for number in range(MANY)) + "<p>" * 1_000,
    "misnested formatting": "<b i>" * 20_000 + "<i i>" * 20_000 + "<p>" * 2_000,
    "misnested links": "<a href=x><p>" * 50_000,
    "nested templates": "<template><a href=x>" * MANY,
    "foster parents": "<table>" + "x<b>" * MANY,
    "attributes": "<a " + " ".join(f"a{number}=x" for number in range(100_000)) + " href=x>link</a>",
    "a wide cell": f"<table><tr><td>{'w' * 1_000_000}<td>x{'<tr><td>y<td>z' * 100_000}</table>",
    "a long base": f"<base href=https://example.org/{'b' * 1_000_000}/>{'<a href=x>x</a>' * 10_000}",
    "a long link": f"<a href={'é' * 1_000_000}>x</a>",
    "a long title": f"<title>{'t ' * 1_000_000}</title>",
    "links": "".join(f"<a href={number}>x" for number in range(100_000)),
    "links to nowhere": "".join(f"<a href=x:{number}>" for number in range(100_000)),
    "spellings of one link": "".join(f"<a href=x?utm_a={number}>" for number in range(100_000)),
    "areas": "".join(f"<area href={number}>" for number in range(100_000)),
    "metas": "<meta name=robots content=noindex>" * 100_000,
    "frames": "<iframe src=x></iframe>" * 100_000,
    "drawings": "<svg><title>x</title></svg>" * 100_000,
    "line breaks": "<br>" * (LIMIT // 4),
    "hard spaces": "&nbsp;x<br>" * 300_000,
    "ampersands": "&" * LIMIT,
    "brackets": "<" * LIMIT,
    "comments": "<!--" * (LIMIT // 4),
    "nul": "\0" * LIMIT,
    "many blocks": "<div>" * 200_000,
    "nested menus": "<div class=menu><a href=x>x" * MANY,
    "nested articles": "<article><p>words in an article" * MANY,
    "nested figures": "<figure><header><aside>x" * 50_000,
    "names": "".join(f"<div class='c{number} nav{number}' id=i{number}>x</div>" for number in range(50_000)),
    "roles": "<div role=navigation itemprop=text>x</div>" * 50_000,
    "pictures": "".join(f"<img src={number} alt=picture data-src=x>" for number in range(100_000)),
    "moments": "<time datetime=2024-05-17>x</time>" * 100_000,
    "structured data": '<script type=application/ld+json>{"@type": "VideoObject", '
    + '"contentUrl": "https://a/b", "datePublished": "2024"}' * 50_000,
    "lines of links": "<a href=x><div>x</div></a>" * 100_000,
    "one link over all lines": "<a href=x>" + "<div>x</div>" * 100_000,
    "a wiki of references": WIKI + "<sup class=reference>x</sup>" * 100_000,
    "a wiki of headings": WIKI + "<h2>x</h2>" * 100_000,
    "a wiki of nested tables": WIKI + "<table><tr><td>x" * 50_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_no_page_takes_long_or_much(name: str) -> None:
    started = time.process_time()
    page = parsed(BOMBS[name])
    assert time.process_time() - started < 5  # most take 0.1
    assert_bounded(page)
    assert sum(len(link.target) for link in page.links) < 1_000_000


_WITHIN = """
import resource, sys
from parse.documents import parsed
from parse.test_page import BOMBS
parsed("<p>loads what is loaded late")
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (512 << 20),) * 2)
for name, bomb in BOMBS.items():
    print(name, len(parsed(bomb).text), flush=True)
"""


@pytest.mark.slow
def test_no_page_takes_more_than_512_megabytes() -> None:
    folder = Path(__file__).resolve().parents[1]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    child = subprocess.run(
        [sys.executable, "-c", _WITHIN], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert len(child.stdout.splitlines()) == len(BOMBS), child.stdout[-200:] + child.stderr[-500:]


@pytest.mark.slow
@pytest.mark.parametrize("part", ["<a", "<a/", "<a />", "<script/>", "a"])
def test_no_xhtml_takes_long(part: str) -> None:
    started = time.process_time()
    assert_bounded(parsed("<" + part * (LIMIT // len(part)), "application/xhtml+xml"))
    assert time.process_time() - started < 5


@pytest.mark.slow
@pytest.mark.parametrize("unit", [b"\xe9", b"\xc3", b"\xff", b"\x1b$B4A", b"\x81\x40", bytes(range(256))])
def test_no_encoding_takes_long(unit: bytes) -> None:
    started = time.process_time()
    assert_bounded(parsed(unit * (LIMIT // 2 // len(unit)), "text/html"))
    assert time.process_time() - started < 5


def test_naughty_strings_do_no_harm_anywhere() -> None:
    for text in json.loads(shared("hostile/naughty_strings.json").read_text("utf-8")):
        body = (
            f"<title>{text}</title><meta name=description content='{text}'><a href='{text}'>{text}</a><h1>{text}</h1>"
        )
        for mime in TYPES:
            assert_bounded(parsed(body, mime))
            assert_bounded(parsed(text, f"{mime}; charset={text}", x_robots_tag=text))


@given(st.binary(max_size=300), st.sampled_from(TYPES))
@settings(max_examples=200)
def test_any_bytes_are_a_page(body: bytes, mime: str) -> None:
    assert_bounded(parsed(body, mime))


PIECES = [
    "<a href=", "'", '"', ">", "</a>", "<p>", "<table>", "<td>", "<svg>", "<title>", "</title>", "<base href=",
    "<meta ", "name=robots ", "content=", "charset=utf-16", "<template>", "</template>", "<noscript>", "<iframe src=x>",
    "<h1>", "<select>", "<frameset>", "<math>", "<![CDATA[", "<!--", "-->", "&#xD800;", "&nbsp;", "\0", "\udc80", "#",
    "?", "//", "http:", "x", " ", "\n", "é", "<script/>", "<object>", "<img alt=", "<link rel=canonical href=",
    "rel=nofollow ",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.sampled_from(TYPES))
@settings(max_examples=300)
def test_any_mixture_of_markup_is_a_page(body: str, mime: str) -> None:
    content = body.encode("utf-8", "surrogatepass")
    page = parsed(content, mime)
    assert_bounded(page)
    assert parsed(content, mime) == page


@pytest.mark.slow
@given(st.data())
@settings(max_examples=100)
def test_a_damaged_real_page_is_still_a_page(data: st.DataObject) -> None:
    body = data.draw(st.sampled_from(sorted(real_pages().values())))
    start = data.draw(st.integers(0, len(body)))
    length = data.draw(st.integers(0, len(body) - start))
    junk = data.draw(st.binary(max_size=20))
    assert_bounded(parsed(body[:start] + junk + body[start + length :], data.draw(st.sampled_from(TYPES))))


@pytest.mark.parametrize("frame", ['<iframe src="x"/>', "<IFRAME title='a > b' />"])
def test_a_frame_that_is_closed_as_in_xml_does_not_hide_the_rest_of_the_page(frame: str) -> None:
    html = f'<html><title>T</title><p>before</p>{frame}<p>after <a href="y">link</a></p></html>'
    for page in (parsed(html), parser().skim(answer(html))):
        assert "https://example.org/docs/y" in targets(page)
        assert page.text == "before\nafter link"


def test_the_content_of_a_closed_frame_is_not_text() -> None:
    assert parsed('<p>a</p><iframe src="x"/>old browsers</iframe><p>b</p>').text == "a\nb"
