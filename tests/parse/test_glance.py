"""The compiled scanner gives the same result as the tree, or None."""

from __future__ import annotations

import random
import shutil
import time
from unittest import mock

import pytest

from parse.documents import URL
from parse.markup import page_at_random
from parse.mutation import files, mutations, pages
from periplus.config import Parsing
from periplus.model import Page
from periplus.parse.charset import as_utf8
from periplus.parse.extraction import Extraction
from periplus.parse.glance import IS_COMPILED, absent, glance
from periplus.parse.html import html_reader
from periplus.parse.html.html_reader import HtmlReader
from periplus.parse.html.profiles import Profiles
from periplus.parse.quality import PageFinisher
from periplus.url import Canonicalizer

PARTS, AT_ONCE = 4, 10_000  # at the gate: 40,000 pages made at random, 2,000 damaged ones
LARGEST = 400_000  # bytes
READER = HtmlReader(Canonicalizer(["utm_*"], ["sid"]), 1_000, Profiles({}), PageFinisher(Parsing().languages))

needs_compiled = pytest.mark.skipif(not IS_COMPILED, reason="there was no C compiler to build periplus.parse.glance")

# fmt: off
SEEN = [
    "",
    "words",
    "<!doctype html><html lang=de><head><title>A &amp; B</title></head><body>text</body></html>",
    "<title>one\r\ntwo</title><title>other</title>",
    "<html xml:lang=fr><p>mer</html> salée",
    "<meta name=description content='d &lt; e'><meta name=ROBOTS content='nofollow, noindex'>x",
    "<head><link rel=canonical href=/c></head><body><link rel=canonical href=/d>",
    "</head><link rel=canonical href=/c>",
    "x<link rel=canonical href=/visitor>",
    "<base><base href=/b/><base href=/c/><a href=d>e</a>",
    "<p>one<p>two<div>three</div>four</p>five",
    "<ul><li>one<li>two<ul><li>three</ul><li>four</ul>five",
    "<dl><dt>one<dd>two<dt>three</dl>",
    "a<span>b<div>c</div>d</span>e",
    "a<b>b<p>c</b>d</p>e",
    "<a href=x>one <b>two</b></a><a href=y><div>three</div> four</a>",
    "<a href=x>one<a href=y>two</a>three</a>",
    "<a name=top>top<p><a href=x>one</a>",
    "<a href=x><img src=i alt='a ship'></a><a href=x>ship</a>",
    "<a href=x><img></a><a href=x><img alt=late></a>",
    "<a href=x alt=own></a>",
    "<a href=x rel='NoFollow me'>one</a><a href=y rel=nofollow>two</a><a href=y>two</a>",
    "<a href='x#1'>one</a><a href='x#2'>two</a><a href=#3>three</a><a href=' #4'>four</a><a href>five</a>",
    "<a href='x?a=1&amp;b=2&copy=3&copy;4'>one</a><a href=\"y&#x20;z\r\nw\">two</a>",
    "<a HREF=x href=y>one</a><A Href = 'z'>two</A>",
    "<table><caption>c<tr><td>a<td>b<tr><th>c</table>d",
    "<table><tbody><tr><td><table><tr><td>in</table>out</table>",
    "<table> <colgroup><col><col></colgroup> <thead><tr><td>h</thead> <tfoot><tr><td>f</table>",
    "x<td>y</td>z<tr>w",
    "<form>a<form>b</form>c</form>d",
    "<form><b>one</b> <span><p>two</p></span></form>three",
    "<textarea></textarea><link rel=canonical href=/c>",
    "<button>one</button>two<label>three</label>four<fieldset><legend>five</legend>six</fieldset>",
    "<select><option>a<option>b</option><optgroup label=x><option>c</optgroup></select>d",
    "<textarea>\n one <b> &amp;</textarea>two",
    "<h1>one</h1><h2>two <a href=x>three</a></h3>four<h4>five</h4><h5>six</h5>",
    "<h1></h1>" * 10 + "<h2>a</h2>" * 60,
    "<p>one <ruby>two<rt>three</rt></ruby> <a href=x><ruby>four<rt>five</rt></ruby></a>",
    "<h1>Title<a class=headerlink href='#t'>¶</a></h1>",
    "<script>if (a < b) '</div>'</script>x<style>p > a {}</style>y<noscript><p>no</noscript>z",
    "<script><!-- old --></script>x",
    "<iframe src=f title=t><a href=no></iframe>x<area href=ar alt=al>",
    "a<!-- <p> -->b<!-->c<!--->d<!--e--!>f<!-- -- > -->g",
    "a<?php x?>b<!x>c</ d>e</>f< g<3",
    "a<br>b</br>c<hr>d<wbr>e<img>f<input>g",
    "a</p>b</div>c</span>d</td>e</a>f",
    "&amp;&lt;&gt;&quot;&apos;&nbsp;x&copy y&notit;&notin;&ampz&;&#;&#x;&#65;&#x41;&#0;&#x80;&#xD800;&#x110000;&nGt;",
    "a \t\n\f\r b\u00a0c\u3000d\u2028e\u0085f\u200bg",
    "<svg viewBox='0 0 1 1'><title>A ship</title><g><path d='M0 0'/></g><style>a{}</style><text>hull</text></svg>x",
    "a<svg/>b<svg width=1/>c",
    "<p>x<math><mi>y</mi><mo>=</mo><mn>1</mn></math>z",
    "<p class='a>b' title=c/d e=\"f\" / g>x",
    "<div><section>a</div>b</section>c",
    "<object><p>a</object>b</p>c",
    "<table><td>a</td></tr><td>b</tbody></table>c",
    "<table><td><b>a</table><form>b</form>c",
    "a<dialog>b<p>c <b>d</b></dialog>e",
    "<ul><li><dialog>a<li>b</dialog>c</ul>",
    "<b>a</b><form>b <b>c</b></form>d",
    "<!doctype html><p><b>a<table><td><form>b</form>c</table>",
    "<ul><li><ruby>a<rt>b</li><li><ruby>c<rt>d</li></ul>",
    "<p><ruby>a<rt>b</rt></ruby><p><ruby>c<rt>d</ruby>",
    "</p><link rel=canonical href=/c>",
    "<!DOCTYPE html><p>a<table><td>b</table><a href=x>c</p>d</a>",
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "http://www.w3.org/x"><p><table></table><a href=x>c</p>d',
    "words that end in a tag <a href=x",
    "words that end in a comment <!-- no end",
]
GIVEN_UP = [
    b"a\0b",
    b"a\xffb",
    b"<p>cut in a character \xe2\x82",
    b"a\x0bb",
    b"<table>a<tr><td>b</table>",
    b"<table><div>a</div></table>",
    b"<div><a href=x>one</div>two</a>",
    b"<b><a href=x>on</b>e</a>",
    b"<p><a href=x><div>one</div></a>",
    b"<form><div></form>a</div>",
    b"<script><!--<script></script>--></script>",
    b"<script>no end",
    b"<title>no end",
    b"<frameset><frame src=a></frameset>",
    b"<template>a</template>",
    b"<svg><p>a</svg>",
    b"<svg><foreignObject><p>a</foreignObject></svg>",
    b"<svg><a href=x>a</a></svg>",
    b"<select><b>a</b></select>",
    b"<button>a<button>b",
    b"<ruby>a<rp>(</rp></ruby>",
    b"<ruby><dd>one<rt>two",
    b"<h1>one<h2>two",
    b"<p><font><h1>one<h1>two",
    b"<form></b><b>one</form>two",
    b"<form><b></i>one</form>two",
    b"<h1><i></h2><h1>one<h1>two",
    b"<plaintext>a",
    b"<table><td>a</tr>b",
    b"<table><td>a</tbody>b",
    b"<table><th>a</thead></tr>b</table>",
    b"<b><dialog>a</b>b",
    b"<b><dialog></b>a</dialog>b",
    b"<a name=n><dialog>a<a href=x>b",
    b"<p><b>a<form>b</form>c",
    b"<span><i>a</span><form>b</form>c",
    b"<form><p><b>a</p>b</form>c",
    b"<p><a name=n>a<form>b</form>c",
    b"<b><table></b><td></table><form>a</form>b",
    b"<b>" + b"<div>" * 8 + b"</b>" + b"</div>" * 8 + b"<form>a</form>b",
    b"<font>" * 20 + b"</font>" * 19 + b"<form>a</form>b",
    b"<table><td><b><object></td></table><form>a</form>b",
    b"<a name=n><table><td></a></table><label>a<a href=x>b",
    b"<ruby><p><ruby>a</ruby><rtc>b",
    b"<label>a<isindex></label>b",
    b"<p><table></table><a href=x>a</p>b",
    b"<p><table></table><a href=x>a<div>b",
    b'<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN"><p><table></table><a href=x>a</p>b',
    b'<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0> "http://www.w3.org/x.dtd"><p><table></table><a href=x>a</p>b',
    b"&#32;<link rel=canonical href=/c>",
    b"</head><html><link rel=canonical href=/c>",
    b"</head><head><link rel=canonical href=/c>",
    b"<bgsound><link rel=canonical href=/c>",
    b"<noembed></noembed><link rel=canonical href=/c>",
    b"<meta http-equiv=refresh content='0; url=x'>",
    b"<p>a<html lang=de>",
    b"<div>" * 300,
]
# fmt: on


def parsed_quickly(page: bytes, *, tree: bool) -> Page:
    with mock.patch.object(html_reader, "glance", absent.glance if tree else glance):
        return READER.skim(page, URL, set(), Extraction(URL))


def assert_same(page: bytes) -> None:
    assert parsed_quickly(page, tree=False) == parsed_quickly(page, tree=True), page[:2_000]


def test_it_is_compiled_where_there_is_a_compiler() -> None:
    assert IS_COMPILED or shutil.which("cc") is None


@needs_compiled
@pytest.mark.parametrize("page", SEEN)
def test_a_glance_gives_the_same_as_the_tree(page: str) -> None:
    assert glance(page.encode()) is not None, "this should not need its tree"
    assert_same(page.encode())


@pytest.mark.parametrize("page", GIVEN_UP)
def test_there_is_no_glance_at_pages_that_need_a_tree(page: bytes) -> None:
    assert glance(page) is None
    assert parsed_quickly(page, tree=False) == parsed_quickly(page, tree=True)


@needs_compiled
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(PARTS))
def test_random_pages_give_the_same_as_the_tree(seed: int) -> None:
    chooser = random.Random(seed)
    made = [page_at_random(chooser).encode() for _ in range(AT_ONCE)]
    for page in made:
        assert_same(page)
    assert sum(glance(page) is not None for page in made) > AT_ONCE / 2, "otherwise this would show little"


@needs_compiled
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(PARTS))
def test_damaged_pages_give_the_same_as_the_tree(seed: int) -> None:
    for page in mutations(pages(), seed, 500):
        assert_same(as_utf8(page, "text/html"))


@needs_compiled
@pytest.mark.slow
def test_real_pages_give_the_same_as_the_tree() -> None:
    real = [as_utf8(page, "") for page in files("html/real_pages.tar.xz", LARGEST)]
    for page in real:
        assert_same(page)
    assert sum(glance(page) is not None for page in real) > 0.8 * len(real)


@needs_compiled
@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        b"<p>", b"<a href=x>", b"<a href=x>y</a>", b"<!--", b"<!-- >", b"&", b"&amp", b"<b>", b"<table><td>", b"</p>",
        b"<", b"<script>", b"<title>", b"<svg>", b"<svg><g/></svg>", b"<li>", b"<select><option>", b'<a href="',
        b"\xc2\xa0",
    ],
)  # fmt: skip
def test_no_amount_of_anything_takes_long(piece: bytes) -> None:
    page = piece * (4_000_000 // len(piece))
    began = time.thread_time()
    seen = glance(page)
    _ = seen and (seen.links(), seen.elements(), seen.to_text())
    assert time.thread_time() - began < 5, "in linear time it takes under a second, in quadratic time minutes"
