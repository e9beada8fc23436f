"""Language, simhash and quality are added to every page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from parse.documents import answer, parsed, parser
from parse.pdfs import pdf
from periplus.config import Parsing
from periplus.model import Reason
from periplus.parse.page import PageParser
from periplus.text.simhash import NEARLY_SAME, distance
from periplus.url import Canonicalizer

ENGLISH = "The harbour lies behind a long sandbank, and ships wait there for the flood before they enter it. "
GERMAN = "Der Hafen liegt hinter einer langen Sandbank, und die Schiffe warten dort, bis die Flut kommt. "
LATIN_SOUP = "1 2 3 xk zq 4"


def _only(*languages: str) -> PageParser:
    return PageParser(Canonicalizer(), links_per_page=10, settings=Parsing(languages=list(languages)))


def test_the_language_of_the_text_counts_not_the_declared_one() -> None:
    page = parsed(f"<html lang=en><p>{GERMAN * 3}")
    assert page.language == "de"
    assert page.language_certainty > 0.9


def test_a_page_in_another_language_is_kept_but_not_indexed() -> None:
    page = _only("en", "fr").parse(answer(f"<p>{GERMAN * 3}<a href=/en>English</a>"))
    assert page.noindex
    assert (page.problem, page.problem_detail) == (Reason.OTHER_LANGUAGE, "language: de")
    assert [link.target for link in page.links] == ["https://example.org/en"]


@pytest.mark.parametrize("html", [f"<p>{ENGLISH * 3}", f"<html lang=de><p>{LATIN_SOUP}", ""])
def test_a_page_in_a_wanted_or_unknown_language_is_indexed(html: str) -> None:
    page = _only("en").parse(answer(html))
    assert not page.noindex
    assert page.problem is None


def test_nearly_the_same_pages_have_nearly_the_same_signature() -> None:
    one = parsed(f"<title>a</title><main><p>{ENGLISH * 5}<p>{GERMAN * 5}</main>")
    other = parsed(f"<title>b</title><nav>menu</nav><main><p>{ENGLISH * 5}</p><p>{GERMAN * 5}</main>")
    assert distance(one.signature, other.signature) <= NEARLY_SAME
    assert distance(one.signature, parsed(f"<p>{GERMAN[::-1] * 9}").signature) > NEARLY_SAME


def test_a_pdf_is_a_page_like_any_other() -> None:
    link = "<</Type/Annot/Subtype/Link/Rect[0 700 590 790]/A<</S/URI/URI(/tides)>> >>"
    lines = ENGLISH.replace(", ", ",\n").strip()
    body = pdf(f"#Sailing\n{lines}", info="/CreationDate(D:20240517)", annotations=link)
    page = parsed(body, "application/pdf")
    assert (page.title, page.text, page.language) == ("Sailing", f"Sailing\n{lines}", "en")
    assert page.published == 1715904000.0
    assert [link.target for link in page.links] == ["https://example.org/tides"]
    assert page.quality.score > 0.4
    assert page.signature


def test_a_pdf_without_a_type_is_recognised() -> None:
    assert parsed(pdf("words in it"), "").text == "words in it"


def test_a_truncated_pdf_is_not_parsed() -> None:
    page = parser().parse(replace(answer(pdf("words"), "application/pdf"), truncated=True))
    assert (page.problem, page.noindex, page.text) == (Reason.PDF_CUT, True, "")


def test_an_unreadable_pdf_has_a_reason() -> None:
    page = parsed(b"%PDF-1.7 garbage", "application/pdf")
    assert (page.problem, page.noindex) == (Reason.PDF_BROKEN, True)
