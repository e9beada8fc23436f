"""A PDF becomes a page."""

from __future__ import annotations

from periplus.parse.extraction import Extraction
from periplus.parse.formats.pdf_page import DocumentText, page_of
from periplus.parse.limits import ADDRESS
from periplus.url import Canonicalizer

URL = "https://example.org/docs/tides.pdf"


def test_the_fields_of_a_document_are_kept() -> None:
    document = DocumentText("Tides", "On tides", "sea", ("One", "Two"), "words", "en", 1.5, 2.5)
    page = page_of(document, URL, Canonicalizer(), 10, Extraction(URL))
    assert (page.title, page.description, page.keywords, page.headings) == ("Tides", "On tides", "sea", ("One", "Two"))
    assert (page.text, page.language, page.published, page.modified) == ("words", "en", 1.5, 2.5)


def test_links_are_resolved_against_the_document_each_target_once() -> None:
    links = (("wind.pdf", ""), ("wind.pdf#page=2", "On winds"), ("mailto:a@b", "mail"), ("x" * (ADDRESS + 1), "long"))
    page = page_of(DocumentText(links=links), URL, Canonicalizer(), 10, Extraction(URL))
    assert [(link.target, link.anchor) for link in page.links] == [("https://example.org/docs/wind.pdf", "On winds")]


def test_links_past_the_cap_are_counted() -> None:
    links = tuple((f"{number}.pdf", "x") for number in range(15))
    page = page_of(DocumentText(links=links), URL, Canonicalizer(), 10, Extraction(URL))
    assert (len(page.links), page.links_dropped) == (10, 5)
