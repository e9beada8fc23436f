"""The fields and the visible text of an HTML page are extracted."""

from __future__ import annotations

import pytest

from parse.documents import URL, parsed
from periplus.parse.limits import DESCRIPTION, HEADING, HEADINGS, KEYWORDS, TEXT, TITLE

# What the page says about itself


def test_a_page_is_read_field_by_field() -> None:
    page = parsed(
        "<!doctype html><html lang=en-GB><head><title> The \n Guide </title>"
        "<meta name=Description content=' How to   sail. '><meta name=keywords content='sea, ships'>"
        "<link rel=canonical href='/docs/the-guide?utm_source=x'></head>"
        "<body><h1>Sailing</h1><p>Hoist the <b>main</b> sail.</p><h2>Knots</h2></body>"
    )
    assert page.title == "The Guide"
    assert page.description == "How to sail."
    assert page.keywords == "sea, ships"
    assert page.headings == ("Sailing", "Knots")
    assert page.language == "en"
    assert page.canonical == "https://example.org/docs/the-guide"
    assert page.text == "Sailing\nHoist the main sail.\nKnots"
    assert not page.noindex


def test_an_empty_page_has_nothing() -> None:
    page = parsed("")
    assert (page.title, page.text, page.links, page.language, page.canonical) == ("", "", (), "", "")


def test_the_first_title_with_words_counts() -> None:
    assert parsed("<title> </title><title>One</title><title>Two</title>").title == "One"


def test_the_title_of_an_svg_is_not_the_title_of_the_page() -> None:
    assert parsed("<svg><title>icon</title></svg><title>Page</title>").title == "Page"
    assert parsed("<svg><title>icon</title></svg>").title == ""


def test_entities_are_read() -> None:
    assert parsed("<title>Tom &amp; Huck &#8211; caf&eacute;</title>").title == "Tom & Huck \N{EN DASH} café"


def test_headings_come_in_order_without_empty_ones_and_without_paragraph_marks() -> None:
    page = parsed("<h2>B<br>b</h2><h1>A <a href='#a'>¶</a></h1><h3> </h3><h6>F<script>x</script></h6>")
    assert page.headings == ("B b", "A", "F")


def test_xml_lang_is_a_language_too() -> None:
    assert parsed("<html xml:lang=' de '>x").language == "de"


@pytest.mark.parametrize("href", ["", "mailto:a@b.example", "http://[", "x" * 5_000])
def test_an_invalid_canonical_link_is_ignored(href: str) -> None:
    assert parsed(f"<link rel=canonical href='{href}'>").canonical == ""


def test_a_canonical_link_in_the_body_is_ignored() -> None:
    assert parsed("<body><p>Comment: <link rel=canonical href=https://evil.example/></p>").canonical == ""


def test_the_canonical_link_is_relative_to_the_base() -> None:
    page = parsed("<base href=/new/><link rel='Canonical' href=x><link rel=canonical href=y>")
    assert page.canonical == "https://example.org/new/x"


# What a reader sees


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>one</p><p>two</p>", "one\ntwo"),
        ("one<br>two<hr>three", "one\ntwo\nthree"),
        ("un<b>believ</b>able", "unbelievable"),
        ("  a \n\t b&nbsp;&nbsp;c  ", "a b c"),
        ("<p>&nbsp;</p><p>x</p>", "x"),
        ("<ul><li>one<li>two</ul><ol><li>three</ol>", "one\ntwo\nthree"),
        ("<ul>loose<li>one</ul>", "loose\none"),
        ("<table><caption>Cap</caption><tr><th>a<td>b<tr><td>c</table>", "Cap\na\nb\nc"),
        ("<table><tr><td>wide wide wide<td>x<tr><td>y<td>z</table>", "wide wide wide\nx\ny\nz"),
        ("<dl><dt>term<dd>meaning</dl>", "term\nmeaning"),
        ("<pre>if x:\n    y()\n</pre>", "if x: y()"),
        ("<blockquote>quoted</blockquote>after", "quoted\nafter"),
        ("<select><option>one<option>two</select>", "one\ntwo"),
        ("<form><label>Name</label><button>Send</button></form>", "Name\nSend"),
        ("<details><summary>More</summary>hidden</details>", "More\nhidden"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", "漢kan"),
        ("<img alt='picture'>text", "text"),
        ("<a href=x><h5>Alphonse</h5><span>Author</span></a>", "Alphonse\nAuthor"),
        ("one<span>two<div>three</div>four</span>five", "onetwo\nthree\nfourfive"),
    ],
)
def test_blocks_separate_words_and_inline_elements_do_not(body: str, text: str) -> None:
    assert parsed(f"<title>not in the text</title>{body}").text == text


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>var x</script>",
        "<style>p {}</style>",
        "<template><p>later</p></template>",
        "<noscript>enable <b>scripts</b></noscript>",
        "<iframe src=x><p>no frames</p></iframe>",
        "<!-- comment -->",
        "<svg><style>a</style><script>b</script></svg>",
        "<noframes>old</noframes>",
    ],
)
def test_hidden_elements_are_not_text(hidden: str) -> None:
    page = parsed(f"<p>before</p>{hidden}<p>after</p><h1>{hidden}head</h1>")
    assert page.text == "before\nafter\nhead"
    assert page.headings == ("head",)


def test_noscript_in_the_head_does_not_end_it() -> None:
    page = parsed("<head><noscript><img src=count.gif></noscript><title>T</title><link rel=canonical href=x></head>")
    assert (page.title, page.canonical, page.text) == ("T", "https://example.org/docs/x", "")


def test_nul_characters_and_lone_surrogates_never_reach_a_page() -> None:
    page = parsed("<title>a\0&#0;&#xD800;</title><p>b\0&#xDFFF;</p><a href='/\0&#xD800;'>c\0</a>")
    assert page.title == "a\ufffd\ufffd\ufffd"
    assert page.text == "b\ufffd\nc"
    assert [(link.target, link.anchor) for link in page.links] == [("https://example.org/%EF%BF%BD%EF%BF%BD", "c")]


# What is sent as XML


def test_xhtml_closes_elements_as_xml_does() -> None:
    page = parsed(
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml" xml:lang="fr"><head><title>T</title>'
        '<script src="x.js"/><style/></head><body><a id="top"/><p>one<br/>two</p><a href="x">link</a></body></html>',
        "application/xhtml+xml",
    )
    assert (page.title, page.text, page.language) == ("T", "one\ntwo\nlink", "fr")
    assert [link.anchor for link in page.links] == ["link"]


def test_a_self_closed_title_of_xhtml_does_not_hide_the_page() -> None:
    assert parsed("<html><head><title/></head><body>text</body></html>", "application/xhtml+xml").text == "text"


# Limits


def test_every_field_is_truncated_at_its_limit() -> None:
    heading = "h" * 500
    page = parsed(
        f"<html lang={'l' * 100}><title>{'t' * 5_000}</title><meta name=description content={'d' * 5_000}>"
        f"<meta name=keywords content={'k' * 5_000}>{f'<h1>{heading}</h1>' * 100}<p>{'x' * (TEXT + 5)}"
    )
    assert len(page.title) == TITLE
    assert len(page.description) == DESCRIPTION
    assert len(page.keywords) == KEYWORDS
    assert [len(heading) for heading in page.headings] == [HEADING] * HEADINGS
    assert len(page.text) == TEXT


def test_a_page_may_link_to_itself() -> None:
    assert [link.target for link in parsed("<a href=guide.html>me</a>").links] == [URL]
