from __future__ import annotations

import pytest

from parse.pdfs import pdf
from periplus.model import Reason
from periplus.parse.formats.pdf import MAX_PAGES, UnreadableError, read_pdf
from periplus.parse.limits import HEADINGS


def test_the_text_of_every_page_is_extracted_line_by_line() -> None:
    assert read_pdf(pdf("first line\nsecond (line)", "next sheet")).text == "first line\nsecond (line)\nnext sheet"


def test_the_title_comes_from_the_metadata() -> None:
    assert read_pdf(pdf("#Large letters\nsmall", info="/Title(  The  harbours )")).title == "The harbours"


@pytest.mark.parametrize(
    "made_up", ["", "untitled", "Microsoft Word - draft.doc", "report_final.pdf", "file:///tmp/x.html", "document.dvi"]
)
def test_a_placeholder_title_is_replaced_by_the_largest_text(made_up: str) -> None:
    document = read_pdf(pdf("Journal of Ports 12\n#Currents of the\n#Red Sea\nby A. Sailor", info=f"/Title({made_up})"))
    assert document.title == "Currents of the Red Sea"


def test_with_one_font_size_the_first_line_is_the_title() -> None:
    assert read_pdf(pdf("Minutes of the meeting\nPresent: all\nAbsent: none")).title == "Minutes of the meeting"


def test_dates_keywords_subject_and_language_are_kept() -> None:
    info = "/CreationDate(D:20240517093000+02'00')/ModDate(D:20240601)/Keywords(tide, wind)/Subject(On tides)"
    document = read_pdf(pdf("text", info=info, catalog="/Lang(el-GR)"))
    assert (document.published, document.modified) == (1715931000.0, 1717200000.0)
    assert (document.keywords, document.description, document.language) == ("tide, wind", "On tides", "el-GR")


@pytest.mark.parametrize("date", ["", "yesterday", "D:0000", "D:20241399", "D:19000101", "(" * 40])
def test_an_invalid_date_is_ignored(date: str) -> None:
    assert read_pdf(pdf("text", info=f"/CreationDate <{date.encode().hex()}>")).published is None


def test_bookmarks_are_headings_up_to_their_number() -> None:
    items = [
        f"{100 + number} 0 obj <</Title(Chapter {number})/Parent 5 0 R/Next {101 + number} 0 R>> endobj"
        for number in range(HEADINGS + 5)
    ]
    extra = "5 0 obj <</First 100 0 R/Last 160 0 R/Count 9>> endobj\n" + "\n".join(items)
    headings = read_pdf(pdf("text", catalog="/Outlines 5 0 R", extra=extra)).headings
    assert headings[:2] == ("Chapter 0", "Chapter 1")
    assert len(headings) == HEADINGS


def test_cyclic_bookmarks_end() -> None:
    extra = (
        "5 0 obj <</First 6 0 R/Last 6 0 R/Count 2>> endobj\n"
        "6 0 obj <</Title(Round)/Parent 5 0 R/Next 7 0 R>> endobj\n"
        "7 0 obj <</Title(And round)/Parent 5 0 R/Next 6 0 R>> endobj"
    )
    assert read_pdf(pdf("text", catalog="/Outlines 5 0 R", extra=extra)).headings == ("Round", "And round")


def test_links_have_the_text_under_them() -> None:
    link = "<</Type/Annot/Subtype/Link/Rect[0 750 590 790]/A<</S/URI/URI(http://example.org/tides)>> >>"
    inner = "<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/Dest[10 0 R/Fit]>>"
    document = read_pdf(pdf("table of tides\nno link", annotations=link + inner))
    assert document.links == (("http://example.org/tides", "table of tides"),)


def test_a_hyphenated_word_is_one_word() -> None:
    assert "\ufffe" not in read_pdf(pdf("the harbours of the Ery-\nthraean Sea")).text


def test_the_number_of_parsed_pages_is_limited() -> None:
    document = read_pdf(pdf(*["sheet"] * (MAX_PAGES + 3)))
    assert document.pages == MAX_PAGES + 3
    assert len(document.text.splitlines()) == MAX_PAGES


def test_a_broken_page_is_skipped() -> None:
    broken = pdf("one", "two", "three").replace(b"12 0 obj <</Type/Page/", b"12 0 obj <</Type/Bogus/")
    assert read_pdf(broken).text.splitlines()[0] == "one"


@pytest.mark.parametrize("body", [b"", b"%PDF-1.7", b"<html>not a PDF</html>", b"\0" * 500, pdf("x")[:100]])
def test_a_body_that_is_not_a_pdf_has_a_reason(body: bytes) -> None:
    with pytest.raises(UnreadableError) as caught:
        read_pdf(body)
    assert caught.value.reason is Reason.PDF_BROKEN


def test_the_error_does_not_depend_on_the_previous_document() -> None:
    locked = pdf("secret").replace(
        b"trailer <<",
        b"trailer <</ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/O<" + b"0" * 64 + b">/U<" + b"1" * 64 + b">/P -4>>",
    )
    with pytest.raises(UnreadableError) as caught:
        read_pdf(locked)
    assert caught.value.reason is Reason.PDF_LOCKED
    with pytest.raises(UnreadableError) as caught:
        read_pdf(b"%PDF-1.7 nothing")
    assert caught.value.reason is Reason.PDF_BROKEN
