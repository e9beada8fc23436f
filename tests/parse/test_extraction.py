"""An extractor that fails leaves its field empty, and the page is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parse.documents import URL, answer, assert_bounded, parser
from parse.pdfs import pdf
from periplus.model import Page, Reason
from periplus.parse import directives, language
from periplus.parse import page as reading
from periplus.parse import quality as finish
from periplus.parse.extraction import Extraction
from periplus.parse.formats import pdf_page
from periplus.parse.formats.pdf import read_pdf
from periplus.parse.glance import absent
from periplus.parse.html import facts, html_reader, outline, profiles
from periplus.parse.html.links import LinkCollector
from periplus.parse.main_text.line_scores import BodyReader

WORDS = "Ships wait in the roads until the flood carries them over the bar and into the harbour. " * 4
HTML = (
    "<!doctype html><html lang=en><head><title>Muziris</title><meta name=description content='A port'>"
    "<meta property=article:published_time content=2024-05-17><meta name=generator content='MediaWiki 1.4'>"
    "<link rel=canonical href=/canonical></head>"
    f"<body><h1>Port</h1><p>{WORDS}</p><a href=/next>next</a><img src=/ship.png alt=ship><video src=/a.mp4></video>"
)
READER = parser()

BAD_ADDRESSES = [
    "http://",
    "http://[host]/",
    "http://[::1",
    "http://a.test:port/",
    "http://a.test:99999/",
    "http://1.2.3.4.5/",
    "http://%/",
    "http://@/",
    "http://\0/",
    "http://\U0001fffe/",
    "//[",
    "//a:b",
    "\\\\[",
    "\U0010ffff",
    "https:;sid=1",
    "/..;sid=1//",
]
PLACES = [
    '<meta http-equiv=refresh content="5;url={}">',
    '<base href="{}"><a href=x>y</a><meta http-equiv=refresh content="1;url=z">',
    '<link rel=canonical href="{}">',
    '<link rel=next href="{}">',
    '<meta property=og:url content="{}"><meta property=og:image content="{}"><meta property=og:video content="{}">',
    '<img alt=ship src="{}"><img alt=boat data-src="{}">',
    '<a href="{}">there</a><area href="{}">',
    '<video src="{}"></video><iframe src="{}"></iframe>',
    '<frameset><frame src="{}"></frameset>',
    '<script type=application/ld+json>{{"@type":"VideoObject","contentUrl":"{}"}}</script>',
]
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)  # all planes, NUL and lone surrogates too


@contextmanager
def as_a_tree() -> Iterator[None]:
    """Pages are parsed quickly without the compiled scanner."""
    with mock.patch.object(html_reader, "glance", absent.glance):
        yield


def readings(body: str) -> list[Page]:
    """A page parsed in all three ways."""
    response = answer(body.encode("utf-8", "surrogatepass"))
    with as_a_tree():
        tree = READER.skim(response)
    return [READER.skim(response), tree, READER.parse(response)]


def broken(*_arguments: Any, **_options: Any) -> NoReturn:
    raise IndexError("list index out of range")


@pytest.mark.parametrize("address", BAD_ADDRESSES)
@pytest.mark.parametrize("place", PLACES)
def test_an_invalid_url_does_not_fail_the_page(place: str, address: str) -> None:
    for page in readings(f"<title>Port</title>{place.replace('{}', address)}<p>{WORDS}"):
        assert (page.title, page.problem, page.failed_extractors) == ("Port", None, ())
        assert_bounded(page)
        assert "frameset" in place or WORDS.strip() in page.text


def test_a_good_refresh_is_still_a_link() -> None:
    for page in readings("<meta http-equiv=refresh content='0;url=/moved'>"):
        assert [link.target for link in page.links] == ["https://example.org/moved"]


@pytest.mark.parametrize("plane", range(17))
def test_characters_of_every_plane_do_not_fail_the_page(plane: int) -> None:
    ends = [chr(plane << 16 | low) for low in (0x0, 0xFDD0, 0xFDEF, 0xFFFD, 0xFFFE, 0xFFFF)]
    for character in ends:
        for page in readings(f"<title>Port</title><p>{WORDS[:60]}{character} {WORDS}"):
            assert (page.title, page.problem, page.failed_extractors) == ("Port", None, ())
            assert_bounded(page)
    assert page.language == "en"


@pytest.mark.slow
@given(ANY_TEXT, ANY_TEXT)
@settings(max_examples=150)
def test_any_text_in_any_place_is_a_page(address: str, words: str) -> None:
    for place in PLACES:
        written = place.replace("{}", address.replace('"', "'"))
        for page in readings(f"<title>{words}</title><meta name=keywords content='{words}'>{written}<p>{words}{WORDS}"):
            assert (page.problem, page.failed_extractors) == (None, ())
            assert_bounded(page)


# -- an extractor that fails -----------------------------------------------------------------------------------------

SKIMMED: list[tuple[object, str, str]] = [
    (directives, "header_words", "header directives"),
    (directives, "noindex", "directives"),
    (outline.Outline, "_walk", "outline"),
    (html_reader.HtmlReader, "_joined", "canonical"),
    (html_reader, "_visible_text", "text"),
    (html_reader, "_language", "declared language"),
    (LinkCollector, "add_anchors", "links"),
]
CLOSELY: list[tuple[object, str, str]] = [
    *(case for case in SKIMMED if case[2] != "text"),
    (html_reader, "read_facts", "facts"),
    (facts, "epoch", "meta"),
    (facts, "read_image", "img"),
    (facts, "read_player", "video"),
    (profiles.Profiles, "find", "profile"),
    (profiles.Excerpt, "read", "profile"),
    (html_reader.HtmlReader, "_images", "images"),
    (html_reader.HtmlReader, "_videos", "videos"),
    (language, "detect", "language"),
    (finish, "simhash", "signature"),
    (finish, "assess", "quality"),
    (reading, "epoch", "last-modified"),
]


def named(place: object, function: str) -> Any:
    return mock.patch.object(place, function, broken)


def response_with_headers() -> Any:
    return answer(HTML, x_robots_tag="noarchive", last_modified="Fri, 17 May 2024 09:30:00 GMT")


@pytest.mark.parametrize(("place", "function", "name"), SKIMMED)
def test_a_failing_extractor_is_left_out_of_a_quickly_parsed_page(place: object, function: str, name: str) -> None:
    with as_a_tree(), named(place, function):
        page = parser().skim(response_with_headers())
    assert page.problem is None
    assert name in page.failed_extractors
    assert name == "text" or WORDS.strip() in page.text
    assert name == "outline" or page.title == "Muziris"
    assert name == "links" or "https://example.org/next" in [link.target for link in page.links]


@pytest.mark.parametrize(("place", "function", "name"), CLOSELY)
def test_a_failing_extractor_is_left_out_of_a_fully_parsed_page(place: object, function: str, name: str) -> None:
    with named(place, function):
        page = parser().parse(response_with_headers())
    assert page.problem is None
    assert name in page.failed_extractors
    assert WORDS.strip() in page.text
    assert name == "outline" or page.title == "Muziris"
    assert name == "links" or "https://example.org/next" in [link.target for link in page.links]
    assert name == "language" or page.language == "en"
    assert_bounded(page)


def test_without_its_main_text_a_page_has_all_its_text() -> None:
    with named(BodyReader, "read"):
        page = parser().parse(answer(HTML.replace("MediaWiki", "Made")))
    assert page.failed_extractors == ("main text",)
    assert WORDS.strip() in page.text
    assert page.main == ()


def test_where_the_compiled_reader_fails_the_tree_is_read() -> None:
    with named(html_reader, "glance"):
        page = parser().skim(answer(HTML))
    assert page == parser().skim(answer(HTML))._replace(failed_extractors=("glance",))


def test_bytes_of_unknown_encoding_are_decoded_as_utf_8() -> None:
    with named(reading, "as_utf8"), named(reading, "decode"):
        for page in (parser().skim(answer(HTML)), parser().parse(answer(HTML))):
            assert (page.title, page.failed_extractors) == ("Muziris", ("charset",))


def test_one_failing_element_does_not_hide_the_others() -> None:
    original = outline.Outline._read_link

    def fails_once(self: outline.Outline, element: Any) -> None:
        if element.attr("href") == "/bad":
            raise KeyError("bad")
        original(self, element)

    body = "<link rel=next href=/bad><link rel=next href=/good><title>Port</title>"
    with mock.patch.dict(outline._READERS, {"link": fails_once}):
        for page in readings(body):
            assert (page.title, page.failed_extractors) == ("Port", ("link",))
            assert [link.target for link in page.links] == ["https://example.org/good"]


def test_the_links_of_a_pdf_may_fail_without_it() -> None:
    inside = reading.PageParser(
        READER._canonicalizer, links_per_page=10, read_pdf=read_pdf
    )  # as in the sandbox: this process reads the PDF itself
    with named(pdf_page, "_links"):
        page = inside.parse(answer(pdf("#Port\nsome words"), "application/pdf"))
    assert (page.title, page.failed_extractors, page.problem) == ("Port", ("links",), None)


def test_failed_extractors_are_reported_from_the_sandbox() -> None:
    from periplus.parse.sandbox.protocol import RESPONSE, ParseResponse

    sent = RESPONSE.dump_json(ParseResponse(Page(title="Port", failed_extractors=("facts",))))
    assert RESPONSE.validate_json(sent).page == Page(title="Port", failed_extractors=("facts",))
    assert json.loads(sent)["page"]


@pytest.mark.parametrize("error", [MemoryError(), KeyboardInterrupt(), SystemExit()])
def test_other_exceptions_are_not_caught(error: BaseException) -> None:
    def fails() -> int:
        raise error

    extraction = Extraction(URL)
    with pytest.raises(type(error)):
        extraction.run("facts", 0, fails)
    assert extraction.failed_extractors == ()


def test_a_page_without_memory_for_a_field_has_that_reason() -> None:
    with mock.patch.object(html_reader, "read_facts", mock.Mock(side_effect=MemoryError)):
        assert parser().parse(answer(HTML)).problem is Reason.PARSE_MEMORY


def test_an_extractor_that_fails_is_logged_with_its_page(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "periplus.parse")
    failing: Callable[[], int] = broken
    assert Extraction(URL).run("facts", 7, failing) == 7
    assert f"the facts of {URL}" in caplog.text
    assert "IndexError" in caplog.text
