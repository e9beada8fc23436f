"""Sitemaps are parsed even when they are broken, and problems are reported."""

from __future__ import annotations

import gzip
import random
import tarfile
import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.parse.formats.sitemap import Sitemap, SitemapEntry, read_sitemap
from periplus.url import Canonicalizer
from shared_data import shared

URL = "https://a.example/maps/sitemap.xml"
JANUARY_5 = 1_483_574_400.0  # of 2017
ONE = "<url><loc>https://a.example/1</loc></url>"
MAP = f'<?xml version="1.0"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{ONE}</urlset>'
MIB = 1024 * 1024
# fmt: off
SAMPLES = {
    "atom.xml": 1, "do-not-visit.txt": 1, "feed.rss": 4, "hebdenbridgetimes-articles-sitemap.xml": 74,
    "pagemaps-sitemap.xml": 2, "shinpaideshou-news-sitemap.xml": 3, "sitemap-images.xml": 1, "sitemap-links.xml": 3,
    "sitemap-mobile.xml": 3, "sitemap-news.xml": 2, "sitemap-videos-tvshow.xml": 1, "sitemap-videos.xml": 3,
    "sitemap-with-bom.txt": 2, "sitemap.badns.xml": 2, "sitemap.index.xml": 15, "sitemap.ns.xml": 2, "sitemap.txt": 2,
    "sitemap.txt.gz": 5, "xmlRss_pubDate.xml": 7, "xmlSitemap.gz": 5,
}
# fmt: on


def read(body: str | bytes, now: float | None = None) -> Sitemap:
    body = body.encode() if isinstance(body, str) else body
    return read_sitemap(body, URL, Canonicalizer(tracking=["utm_*"]), now=now)


def urls(body: str | bytes) -> list[str]:
    return [entry.loc for entry in read(body).urls]


def of(fields: str, now: float | None = None) -> tuple[SitemapEntry, tuple[str, ...]]:
    """The entry of a sitemap with one URL and these fields."""
    found = read(MAP.replace("</url>", f"{fields}</url>"), now)
    return found.urls[0], found.problems


def samples() -> dict[str, bytes]:
    with tarfile.open(shared("sitemaps/samples.tar.xz")) as archive:
        return {name: archive.extractfile(name).read() for name in archive.getnames()}  # type: ignore[union-attr]


# What a sitemap says


def test_an_entry_has_url_date_frequency_and_priority() -> None:
    fields = "<lastmod>2017-01-05</lastmod><changefreq> Weekly </changefreq><priority>0.8</priority>"
    assert of(fields) == (SitemapEntry("https://a.example/1", JANUARY_5, "weekly", 0.8), ())


def test_an_index_lists_its_sitemaps() -> None:
    child = "<sitemap><loc>https://a.example/2.xml.gz</loc><lastmod>2017-01-05</lastmod></sitemap>"
    found = read(f"<sitemapindex>{child}</sitemapindex>")
    assert found == Sitemap(sitemaps=(SitemapEntry("https://a.example/2.xml.gz", JANUARY_5),))


def test_an_index_that_lists_itself_causes_no_loop() -> None:
    found = read(f"<sitemapindex><sitemap><loc>{URL}#again</loc></sitemap></sitemapindex>")
    assert (found.sitemaps, len(found.problems)) == ((), 1)


@pytest.mark.parametrize(
    "text", ["https://a.example/1\r\n\n  https://b.example/2 \n", "https://a.example/1\rhttps://b.example/2"]
)
def test_a_text_sitemap_has_one_url_per_line(text: str) -> None:
    assert urls(text) == ["https://a.example/1", "https://b.example/2"]
    assert urls(text.encode("utf-8-sig")) == urls(text.encode("utf-16")) == urls(text)


def test_a_feed_serves_as_a_sitemap() -> None:
    item = "<item><link>/1</link><pubDate>Thu, 05 Jan 2017 00:00:00 GMT</pubDate></item><item><title>x</title></item>"
    found = read(f"<rss><channel>{item}</channel></rss>")
    assert found.urls == (SitemapEntry("https://a.example/1", JANUARY_5),)
    assert found.problems[0].startswith("Feed entries skipped")
    assert read(f"<rss><channel>{item}</channel></rss>", now=0).urls[0].lastmod is None


@pytest.mark.parametrize(
    "loc",
    [
        "https://a.example/?a=1&amp;b=2",
        "https://a.example/?a=1&b=2",
        "<![CDATA[https://a.example/?a=1&b=2]]>",
        "https://a.example/?a=1<![CDATA[&b=2]]>",
        "\n\t https://a.example/?a=1&#38;b=2&amp;utm_source=map#top \n",
        "<!-- here --> HTTPS://A.example/?a=1&#x26;b=2",
        "/?a=1&amp;b=2",
    ],
)
def test_a_url_is_read_with_every_escaping(loc: str) -> None:
    assert urls(MAP.replace("https://a.example/1", loc)) == ["https://a.example/?a=1&b=2"]


@pytest.mark.parametrize(
    "extension",
    [
        "<image:image><image:loc>https://a.example/i.png</image:loc></image:image>",
        "<video:video><video:player_loc>https://a.example/v</video:player_loc></video:video>",
        "<xhtml:link rel='alternate' hreflang='de' href='https://a.example/de'/>",
        "<PageMap xmlns='x'><DataObject>https://a.example/o</DataObject></PageMap>",
    ],
)
def test_images_videos_and_translations_are_not_pages(extension: str) -> None:
    assert urls(MAP.replace("<url>", f"<url>{extension}")) == ["https://a.example/1"]


@pytest.mark.parametrize(
    "body",
    [
        MAP.replace("http://www.sitemaps.org/schemas/sitemap/0.9", "http://www.google.com/schemas/sitemap/0.84"),
        f"<urlset>{ONE}</urlset>",
        f"<s:urlset xmlns:s='x'>{ONE}</s:urlset>".replace("<url>", "<s:url>")
        .replace("loc>", "s:loc>")
        .replace("</s:s", "</s"),
        f"<URLSET>{ONE}</URLSET>".replace("url>", "URL>").replace("loc>", "LOC>"),
        ONE,
        f"\n\n{MAP}",
        f"Warning: mysql_connect() in index.php\n{MAP}",
        f"<!DOCTYPE urlset SYSTEM 'https://b.example/map.dtd'>{MAP}",
        f"<urlset>{ONE}{ONE}</urlset>",
        "<urlset><url>https://a.example/1</url></urlset>",
        "<urlset><url><loc>https://a.example/1</url></urlset>",
        "<urlset><url><loc>https://a.example/1</lco></url></urlset>",
    ],
)
def test_a_malformed_sitemap_is_parsed(body: str) -> None:
    assert (urls(body), read(body).problems) == (["https://a.example/1"], ())


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_sitemap_in_utf_16_or_with_a_byte_order_mark_is_parsed(encoding: str) -> None:
    assert urls(MAP.encode(encoding)) == ["https://a.example/1"]


# What was wrong with it


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (
            "<lastmod>yesterday</lastmod>",
            "Invalid lastmod, ignored: 1 of 1 entries; first value 'yesterday'.",
        ),
        ("<priority>11</priority>", "Priority not from 0 to 1, ignored: 1 of 1 entries; first value '11'."),
        ("<priority>1.5</priority>", "Priority not from 0 to 1, ignored: 1 of 1 entries; first value '1.5'."),
        ("<priority>nan</priority>", "Priority not from 0 to 1, ignored: 1 of 1 entries; first value 'nan'."),
    ],
)
def test_an_invalid_field_is_reported_and_the_page_kept(fields: str, problem: str) -> None:
    assert of(fields) == (SitemapEntry("https://a.example/1"), (problem,))


def test_a_lastmod_in_the_future_is_ignored() -> None:
    entry, problems = of("<lastmod>2027-01-05</lastmod>", now=JANUARY_5)
    assert (entry.lastmod, problems[0][:21]) == (None, "lastmod in the future")
    assert of("<lastmod>2017-01-05T12:00Z</lastmod>", now=JANUARY_5)[0].lastmod == JANUARY_5 + 43_200


def test_an_invalid_url_is_counted_and_its_control_characters_are_escaped() -> None:
    found = read(MAP.replace(ONE, f"<url><loc>ftp://\x1b[2Ja/</loc></url><url/>{ONE}"))
    assert urls(MAP) == [entry.loc for entry in found.urls]
    assert found.problems == (r"Not a web URL, skipped: 2 of 3 entries; first value 'ftp://\x1b[2Ja/'.",)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("", "The sitemap is empty."),
        ("<urlset/>", "The sitemap is empty."),
        (
            "<!doctype html><html><body>Not found</body></html>",
            "Not a sitemap or feed, but an HTML page.",
        ),
        ("Not found", "Not a web URL, skipped: 1 of 1 entries; first value 'Not found'."),
        ("<opml><body/></opml>", "Not a sitemap or feed, but other XML."),
        ("<rss><channel/></rss>", "The sitemap is empty."),
    ],
)
def test_a_body_that_is_not_a_sitemap_is_reported(body: str, problem: str) -> None:
    assert read(body) == Sitemap(problems=(problem,))


@pytest.mark.parametrize(
    "end",
    ["", "<url><loc>https://a.example/ha", "<url><lo", "<url><loc><![CDATA[https://a.example/ha", "<!-- x", "<url>"],
)
def test_a_truncated_sitemap_keeps_its_complete_urls(end: str) -> None:
    found = read(MAP.removesuffix("</urlset>") + end)
    assert [entry.loc for entry in found.urls] == ["https://a.example/1"]
    assert found.problems[0] == "The sitemap is truncated; the entries before the end were kept."


def test_a_complete_url_before_the_truncation_is_kept() -> None:
    assert urls(MAP.removesuffix("></url></urlset>")) == ["https://a.example/1"]


# Limits


@pytest.mark.parametrize("form", ["{}", "<urlset><url><loc>{}</loc></url></urlset>"])
def test_an_overlong_url_is_skipped_not_truncated(form: str) -> None:
    found = read(form.format("https://a.example/" + "a" * 20_000))
    assert (found.urls, found.problems[0][:22]) == ((), "Not a web URL, skipped")


@pytest.mark.slow
def test_the_fifty_thousandth_entry_is_the_last() -> None:
    entries = [f"<url><loc>https://a.example/{n}</loc></url>" for n in range(50_003)]
    found = read(f"<urlset>{''.join(entries)}</urlset>")
    assert len(found.urls) == 50_000
    assert found.problems == ("50,003 entries; those after the first 50,000 were skipped.",)
    assert read("".join(f"https://a.example/{n}\n" for n in range(50_003))).problems == found.problems


def test_a_compressed_sitemap_is_read() -> None:
    assert urls(gzip.compress(MAP.encode())) == ["https://a.example/1"]


def test_a_sitemap_that_was_compressed_twice_or_in_parts_or_padded_is_read() -> None:
    half = len(MAP) // 2
    parts = gzip.compress(MAP[:half].encode()) + gzip.compress(MAP[half:].encode())
    for body in (gzip.compress(gzip.compress(MAP.encode())), parts, gzip.compress(MAP.encode()) + bytes(512)):
        assert (urls(body), read(body).problems) == (["https://a.example/1"], ())


def test_damaged_gzip_data_keeps_the_part_before() -> None:
    numbers = random.Random(1).sample(range(10**9), 2_000)
    whole = gzip.compress("".join(f"https://a.example/{n}\n" for n in numbers).encode())
    half = len(whole) // 2
    for body in (whole[:half], whole[:half] + b"\xff" * 500 + whole[half:]):
        found = read(body)
        assert 800 < len(found.urls) < 1_300
        assert found.problems[0] == "The gzip data is damaged or truncated; the part before was kept."


@pytest.mark.slow
def test_a_bomb_is_stopped_at_fifty_mebibytes() -> None:
    bomb = gzip.compress((MAP.encode() + b" " * MIB) * 60, 1)
    for body in (bomb, gzip.compress(bomb, 1)):
        tracemalloc.start()
        found = read(body)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert "Larger than 50 MiB; the rest was skipped." in found.problems
        assert [entry.loc for entry in found.urls] == ["https://a.example/1"]
        assert peak < 250 * MIB


@pytest.mark.slow
def test_a_bomb_of_many_gzip_members_ends_soon() -> None:
    started = time.process_time()
    found = read(gzip.compress(b"") * 500_000)
    assert "damaged" in found.problems[0]
    assert time.process_time() - started < 2


# Hostile ones


def test_entities_are_never_expanded_and_no_file_is_read() -> None:
    laughs = "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10}'>" for n in range(1, 12))
    doctype = f"<!DOCTYPE urlset [<!ENTITY e0 'ha'><!ENTITY x SYSTEM 'file:///etc/passwd'>{laughs}]>"
    found = read(MAP.replace("<urlset", f"{doctype}<urlset").replace("/1<", "/1?e=&e11;&x;<"))
    assert [entry.loc for entry in found.urls] == ["https://a.example/1?e=&e11;&x;"]
    assert found.problems == ("Entity declarations were ignored.",)


# fmt: off
PIECES = [
    b"<urlset>", b"<url>", b"</url>", b"<loc>", b"</loc>", b"<x:loc>", b"<lastmod>2017", b"<priority>", b"<sitemap>",
    b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<!DOCTYPE [", b"<!DOCTYPE x []] ", b"&", b"&#x", b"<", b"<a ", b"\n",
    b"http:\n", b"\0", b"\xff", b"<\0?\0x\0", b"\xff\xfe", b"\x1f\x8b", b"<url><loc>", b"<url>" + b"<loc>" * 100,
    b"http://b.example/\n",
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("start", [b"", b"<urlset><url><loc>"])
def test_no_sitemap_takes_long(start: bytes, piece: bytes) -> None:
    started = time.process_time()
    read(start + piece * (1_000_000 // len(piece)))
    assert time.process_time() - started < 2


def assert_sane(found: Sitemap) -> None:
    for entry in found.urls + found.sitemaps:
        assert entry.loc.startswith(("http://", "https://"))
        assert entry.priority is None or 0 <= entry.priority <= 1
        assert entry.lastmod is None or entry.lastmod > 0
    assert all(problem.isprintable() for problem in found.problems)


@given(st.lists(st.sampled_from(PIECES) | st.binary(max_size=4), max_size=40).map(b"".join))
@settings(max_examples=300)
def test_any_bytes_can_be_parsed_as_a_sitemap(body: bytes) -> None:
    assert_sane(read(body, now=JANUARY_5))


# Real ones


@pytest.mark.parametrize(("name", "expected"), SAMPLES.items())
def test_real_sitemaps_are_read_whole(name: str, expected: int) -> None:
    found = read(samples()[name], now=1.8e9)
    assert (len(found.urls) + len(found.sitemaps), found.problems) == (expected, ())


@pytest.fixture(scope="module")
def bodies() -> list[bytes]:
    return sorted(samples().values())


@pytest.mark.slow
@given(seed=st.integers(0, 2**32))
@settings(max_examples=2_000)
def test_a_damaged_real_sitemap_is_parsed(bodies: list[bytes], seed: int) -> None:
    chance = random.Random(seed)
    body = bytearray(chance.choice(bodies)[:4_000])
    for _ in range(chance.randint(1, 8)):
        at = chance.randint(0, len(body))
        body[at : at + chance.choice([0, 1, 1, 30])] = chance.choice([b"", chance.randbytes(1), chance.choice(PIECES)])
    assert_sane(read(bytes(body), now=JANUARY_5))
