"""A cached page is readable and has no active content."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.model import CachedPage
from periplus.web.page.sandbox import media_type, sanitized
from web.engines import ARCHIVED, CRAWLED, FakeEngine
from web.serving import Site, searching

PAGES = {
    page.url: page
    for page in (
        ARCHIVED,
        CachedPage("http://a.example/text", CRAWLED, "text/plain", b"<b>plain</b>"),
        CachedPage("http://a.example/pdf", CRAWLED, "application/pdf", b"%PDF-1.7"),
        CachedPage("http://a.example/none", 0, "", b"\0\1\2"),
        CachedPage("javascript:alert(1)", CRAWLED, "text/html", b"<p>odd"),
    )
}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with searching(FakeEngine(archive=PAGES)) as served:
        yield served


# --- the page around it ---


def test_the_page_says_what_it_shows_and_from_when(site: Site) -> None:
    page = site.get("/cached", url=ARCHIVED.url).page
    live = page.select(".about a")[0]
    assert live.attrs["href"] == live.text == ARCHIVED.url
    assert live.attrs["rel"] == ["noreferrer", "nofollow", "noopener"]
    assert page.select("time")[0].attrs["datetime"] == "2026-03-04T05:05:00Z"
    assert page.select("time")[0].text == "4 March 2026 at 05:05 UTC"


def test_the_copy_stands_in_a_sandbox_without_any_permission(site: Site) -> None:
    frame = site.get("/cached/archived", url=ARCHIVED.url).page.select("iframe")[0]
    assert frame.attrs["sandbox"] == []
    assert "srcdoc" not in frame.attrs
    assert frame.attrs["referrerpolicy"] == "no-referrer"
    assert ARCHIVED.url in str(frame.attrs["title"])
    assert site.get(str(frame.attrs["src"])).status == 200


def test_only_copies_may_be_loaded_into_the_frame(site: Site) -> None:
    policy = site.get("/cached/archived", url=ARCHIVED.url).headers["content-security-policy"]
    assert f"frame-src 127.0.0.1:{site.port}/cached/raw" in policy
    assert "unsafe" not in policy
    strange = site.get("/cached/archived", {"Host": "a; script-src *"}, url=ARCHIVED.url).headers[
        "content-security-policy"
    ]
    assert "frame-src 'self'" in strange
    assert "script-src *" not in strange


@pytest.mark.parametrize("url", ["http://a.example/pdf", "http://a.example/none"])
def test_what_is_no_text_is_named_and_not_shown(site: Site, url: str) -> None:
    page = site.get("/cached/archived", url=url).page
    assert not page.select("iframe")
    assert PAGES[url].mime in page.select(".notice")[0].text
    raw = site.get("/cached/raw", url=url)
    assert raw.status == 415
    assert raw.headers["content-security-policy"].startswith("sandbox")
    assert PAGES[url].body not in raw.body


def test_an_address_that_is_not_of_the_web_is_no_link(site: Site) -> None:
    page = site.get("/cached", url="javascript:alert(1)").page
    assert not page.select(".about a")
    assert "javascript:alert(1)" in page.select(".about")[0].text


@pytest.mark.parametrize("path", ["/cached", "/cached/archived", "/cached/raw", "/cached/versions", "/cached/changes"])
def test_what_was_never_archived_is_not_found(site: Site, path: str) -> None:
    answer = site.get(path, url="http://a.example/nowhere")
    assert answer.status == 404
    assert "No cached copy of this page." in answer.text
    assert site.get(path).status == 400
    assert site.get(path, url="x" * 5_000).status == 400


# --- the copy ---


def test_the_copy_is_guarded_by_its_own_headers(site: Site) -> None:
    answer = site.get("/cached/raw", url=ARCHIVED.url)
    policy = answer.headers["content-security-policy"].split("; ")
    assert {"sandbox", "default-src 'none'", "style-src 'unsafe-inline'", "img-src data:"} <= set(policy)
    assert {"form-action 'none'", "base-uri 'none'", "frame-ancestors 'self'"} <= set(policy)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "SAMEORIGIN"
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-robots-tag"] == "noindex, nofollow"


def test_text_is_shown_as_text(site: Site) -> None:
    answer = site.get("/cached/raw", url="http://a.example/text")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.body == b"<b>plain</b>"


def test_a_copy_opened_by_itself_gets_its_frame_back(site: Site) -> None:
    answer = site.get("/cached/raw", {"Sec-Fetch-Dest": "document"}, url=ARCHIVED.url)
    assert answer.status == 303
    assert site.get(answer.headers["location"]).page.select("iframe")
    assert site.get("/cached/raw", {"Sec-Fetch-Dest": "iframe"}, url=ARCHIVED.url).status == 200


@pytest.mark.parametrize(
    ("mime", "shown_as"),
    [
        ("text/html", "text/html; charset=utf-8"),
        ("application/xhtml+xml", "text/html; charset=utf-8"),
        ("text/plain", "text/plain; charset=utf-8"),
        ("text/xml", "text/plain; charset=utf-8"),
        ("text/javascript", "text/plain; charset=utf-8"),
        ("application/json", "text/plain; charset=utf-8"),
        ("image/svg+xml", ""),
        ("application/pdf", ""),
        ("application/octet-stream", ""),
        ("", ""),
    ],
)
def test_only_text_is_shown(mime: str, shown_as: str) -> None:
    assert media_type(mime) == shown_as


def html(body: bytes | str, charset: str = "utf-8") -> str:
    page = CachedPage("", 0, "text/html", body if isinstance(body, bytes) else body.encode(), charset)
    return sanitized(page).decode()


@pytest.mark.parametrize(
    ("charset", "body"),
    [
        ("utf-8", "Häfen".encode()),
        ("iso-8859-1", "Häfen".encode("latin-1")),
        ("windows-1252", b"H\xe4fen"),
        ("utf-8", "\ufeffHäfen".encode()),
        ("", b'<meta charset="latin1">H\xe4fen'),
        ("no-such-charset", "Häfen".encode()),
    ],
)
def test_a_copy_is_read_in_its_own_charset(charset: str, body: bytes) -> None:
    assert "Häfen" in html(body, charset)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<A HREF="http://x/" PING=y title="t">text</A>', '<a title="t">text</A>'),
        ("<map><area href=x></map>", "<map><area></map>"),
        ("<svg><a xlink:href=x>t</a></svg>u", "u"),
        ("<link rel=preconnect href=//x>t", "t"),
        ("<meta http-equiv=refresh content='0;url=x'><meta charset=utf-8>", "<meta charset=utf-8>"),
        ("<base href=//x>t", "t"),
        ("<script>a<b</script>t", "t"),
        ("<iframe src=x>i</iframe><object data=x>o</object><embed src=x>t", "t"),
        ("<noscript><a href=x>t</a></noscript>", "<x-noscript><a>t</a></x-noscript>"),
        ("<p style='color:red' class=a>&lt;a href=x&gt;", "<p style='color:red' class=a>&lt;a href=x&gt;"),
    ],
)
def test_what_leads_elsewhere_is_taken_out_and_the_rest_left_alone(before: str, after: str) -> None:
    assert html(before) == after


@given(st.binary() | st.text(st.sampled_from(list("<>/=\"' abhref!-svgmscript"))).map(str.encode))
def test_any_bytes_can_be_shown(body: bytes) -> None:
    html(body)


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["<a ", '<a href="', "<a href=x>", "<div>", "<!--", "<svg>", "<noscript", "</a", "&"])
def test_five_megabytes_of_anything_take_little_time(piece: str) -> None:
    html(piece * (5_000_000 // len(piece)))
