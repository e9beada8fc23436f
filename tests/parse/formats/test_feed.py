"""Feeds are parsed, even when they are broken."""

from __future__ import annotations

import tarfile
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.parse.formats.feed import Feed, FeedEntry, read_feed
from periplus.url import Canonicalizer
from shared_data import shared

URL = "https://a.example/blog/feed.xml"
JANUARY_5 = 1_483_574_400.0  # of 2017
# fmt: off
PIECES = [
    b"<rss>", b"<channel>", b"<item>", b"</item>", b"<entry>", b"<link>", b"</link>", b"<link href='/a'/>", b"<source>",
    b"<![CDATA[", b"]]>", b"<!--", b"-->", b"<title>", b"<guid>", b"http://b.example/", b"&amp;", b"<", b"\0", b"\xff",
]
# fmt: on


def read(body: str | bytes) -> Feed:
    return read_feed(body.encode() if isinstance(body, str) else body, URL, Canonicalizer(tracking=["utm_*"]))


def links(body: str | bytes) -> list[str]:
    return [entry.link for entry in read(body).entries]


def rss(item: str) -> str:
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><item>{item}</item></channel></rss>'


def atom(entry: str) -> str:
    return f'<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><entry>{entry}</entry></feed>'


# The kinds of feeds


def test_rss_has_title_url_and_date() -> None:
    item = "<title>One</title><link>https://a.example/1</link><pubDate>Thu, 05 Jan 2017 00:00:00 GMT</pubDate>"
    assert read(rss(item)) == Feed("News", (FeedEntry("https://a.example/1", "One", JANUARY_5),))


def test_atom_has_published_and_updated_dates() -> None:
    entry = "<title>One</title><link href='/1'/><published>2017-01-05</published><updated>2017-01-06</updated>"
    assert read(atom(entry)) == Feed("News", (FeedEntry("https://a.example/1", "One", JANUARY_5, JANUARY_5 + 86_400),))


def test_rss_1_0_is_parsed_with_items_beside_the_channel() -> None:
    body = """<rdf:RDF xmlns:rdf="x" xmlns="http://purl.org/rss/1.0/" xmlns:dc="y">
        <channel rdf:about="https://a.example/"><title>News</title><link>https://a.example/</link>
        <items><rdf:Seq><rdf:li resource="https://a.example/1"/></rdf:Seq></items></channel>
        <item rdf:about="https://a.example/1"><title>One</title><link>https://a.example/1</link>
        <dc:date>2017-01-05</dc:date></item></rdf:RDF>"""
    assert read(body) == Feed("News", (FeedEntry("https://a.example/1", "One", JANUARY_5),))


def test_a_feed_with_the_old_doctype_is_read() -> None:
    doctype = (
        '<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/rss-0.91.dtd">'
    )
    assert links(doctype + rss("<link>/1</link>")) == ["https://a.example/1"]


def test_a_feed_with_prefixes_everywhere_is_read() -> None:
    body = "<a:feed><a:title>News</a:title><a:entry><a:title>One</a:title><a:link href='/1'/></a:entry></a:feed>"
    assert read(body) == Feed("News", (FeedEntry("https://a.example/1", "One"),))


# Which address is meant


@pytest.mark.parametrize(
    "entry",
    [
        '<link rel="self" href="/self"/><link rel="alternate" type="text/html" href="/1"/>',
        "<link rel='edit' href='/edit'/><link href='/1'></link>",
        "<link rel='enclosure' href='/1.mp3'/><id>https://a.example/1</id>",
        "<source><title>Other</title><link href='/other'/></source><link href='/1'/>",
        "<content type='xhtml'><div><link href='/style.css'/></div></content><link href='/1'/>",
        '<link href="https://a.example/1?utm_source=feed#top"/>',
        "<link href='1' />",
    ],
)
def test_of_several_links_the_one_to_the_page_is_taken(entry: str) -> None:
    body = atom(entry).replace("<feed ", "<feed xml:base='https://a.example/x' ")
    assert links(body) == ["https://a.example/1"]


@pytest.mark.parametrize(
    "item",
    [
        "<guid>https://a.example/1</guid>",
        '<guid isPermaLink="false">https://a.example/1</guid>',
        "<link></link><guid>https://a.example/1</guid>",
        "<link>\n  https://a.example/1\n</link><guid>other</guid>",
        "<link><![CDATA[https://a.example/1]]></link>",
        "<media:content url='x'><media:title>M</media:title></media:content><link>/1</link>",
        "<atom:link href='/other' rel='alternate'/><link>/1</link>",
        "<image><url>/i.png</url><link>/other</link></image><link>/1</link>",
        "<link/>https://a.example/1",
    ],
)
def test_the_url_of_an_item_is_found_in_every_place(item: str) -> None:
    assert links(rss(item)) == ["https://a.example/1"]


@pytest.mark.parametrize(
    "item",
    [
        '<link rel="stylesheet" href="/s.css"/>Some words<link>/1</link>',
        '<link rel="stylesheet"/>Some words<guid>https://a.example/1</guid>',
        '<link rel="self" href="/1.atom"/> words <guid>https://a.example/1</guid>',
        '<link rel="enclosure" href="/1.mp3"></link>Some words<link>/1</link>',
        '<link rel="" href="/1"/>',
        '<link rel=" Alternate " href="/1"/>',
        '<link rel="http://www.iana.org/assignments/relation/alternate" href="/1"/>',
        '<link rel="next" href="/2"/><link rel="self" href="/1"/><guid>7</guid>',
    ],
)
def test_a_link_with_another_relation_is_not_the_address(item: str) -> None:
    assert links(rss(item)) == ["https://a.example/1"]


@pytest.mark.parametrize("relation", ["stylesheet", "enclosure", "edit", "replies", "http://a.example/rel"])
def test_an_item_with_only_another_relation_has_no_address(relation: str) -> None:
    feed = read(rss(f'<link rel="{relation}" href="/other">words</link>'))
    assert (feed.entries, feed.left_out) == ((), 1)


@pytest.mark.parametrize(
    ("item", "address"),
    [
        (
            '<item rdf:about="https://a.example/1?a=1&amp;b=2"><title>One</title></item>',
            ["https://a.example/1?a=1&b=2"],
        ),
        ("<item rdf:about='https://a.example/1'/>", ["https://a.example/1"]),
        ('<item about="https://a.example/1"></item>', ["https://a.example/1"]),
        ('<item rdf:about="https://a.example/1"><link>/2</link></item>', ["https://a.example/2"]),
        ('<item rdf:about="urn:x:1"></item>', []),
        ('<item rdf:about="item-1"></item>', []),
    ],
)
def test_an_item_of_rss_1_0_may_have_its_address_in_rdf_about(item: str, address: list[str]) -> None:
    assert links(f'<rdf:RDF xmlns:rdf="x" xmlns="http://purl.org/rss/1.0/">{item}</rdf:RDF>') == address


def test_an_item_without_a_url_is_counted_and_skipped() -> None:
    feed = read(
        rss("<title>Only words</title></item><item><link>mailto:a@b.example</link></item><item><link>/1</link>")
    )
    assert ([entry.link for entry in feed.entries], feed.left_out) == (["https://a.example/1"], 2)


def test_the_title_of_the_image_is_not_the_title_of_the_feed() -> None:
    body = "<rss><channel><image><title>Logo</title><url>/l.png</url></image><title>News</title></channel></rss>"
    assert read(body).title == "News"


@pytest.mark.parametrize(
    "title", ["Tom &amp; Jerry", "Tom & Jerry", "<![CDATA[Tom & Jerry]]>", "Tom\n<!-- x --> &#38; Jerry"]
)
def test_a_title_is_read_with_every_escaping(title: str) -> None:
    assert read(rss(f"<link>/1</link><title>{title}</title>")).entries[0].title == "Tom & Jerry"


def test_a_bare_ampersand_in_a_url_is_not_an_entity() -> None:
    assert links(rss("<link>/?a=1&copy=2&amp;lt=3</link>")) == ["https://a.example/?a=1&copy=2&lt=3"]


def test_a_feed_in_an_old_encoding_is_read() -> None:
    body = '<?xml version="1.0" encoding="windows-1251"?><rss><channel><title>Новости</title></channel></rss>'
    assert read(body.encode("cp1251")).title == "Новости"
    assert read(body.replace("windows-1251", "iso_8859-5:1988").encode("iso8859-5")).title == "Новости"
    assert read(body.replace("windows-1251", "utf-16").encode("utf-16")).title == "Новости"
    assert read(body.replace("windows-1251", "unheard-of").encode()).title == "Новости"


# Broken and hostile ones


@pytest.mark.parametrize(
    "end", ["", "<item><link>https://a.example/ha", "<item><lin", "<![CDATA[ never closed", "</b></b>"]
)
def test_a_truncated_feed_keeps_its_complete_entries(end: str) -> None:
    assert links(f"<rss><channel><item><link>/1</link></item>{end}") == ["https://a.example/1"]


def test_text_before_the_feed_is_ignored() -> None:
    assert links("Warning: mysql_connect() in <b>/index.php</b>\n" + rss("<link>/1</link>")) == ["https://a.example/1"]


@pytest.mark.parametrize(
    "body", [b"", b"\0" * 100, b"<html><body>Not found</body></html>", b"{}", bytes(range(256)) * 10]
)
def test_a_body_that_is_not_a_feed_has_no_entries(body: bytes) -> None:
    assert read(body) == Feed()


def test_real_feeds_are_read() -> None:
    with tarfile.open(shared("sitemaps/samples.tar.xz")) as archive:
        bodies = {name: archive.extractfile(name).read() for name in archive.getnames()}  # type: ignore[union-attr]
    dates = [entry.published for entry in read(bodies["xmlRss_pubDate.xml"]).entries]
    assert dates == [*(1_483_619_691.0 + n for n in range(4)), 1_483_623_295.0, None, None]
    assert [entry.title for entry in read(bodies["atom.xml"]).entries] == ["Atom-Powered Robots Run Amok"]
    assert len(read(bodies["feed.rss"]).entries) == 4


@pytest.mark.slow
@pytest.mark.parametrize("piece", [*PIECES, b"<item><link>", b"<item>" + b"<link href='a'>" * 100, b"a='", b"<a "])
def test_no_feed_takes_long(piece: bytes) -> None:
    started = time.process_time()
    read(b"<rss><item>" + piece * (1_000_000 // len(piece)))
    assert time.process_time() - started < 2


@given(st.lists(st.sampled_from(PIECES) | st.binary(max_size=4), max_size=40).map(b"".join))
@settings(max_examples=2_000)
def test_any_bytes_can_be_parsed_as_a_feed(body: bytes) -> None:
    for entry in read(b"<rss>" + body).entries:
        assert entry.link.startswith(("http://", "https://"))
