"""Any body gives a page or a reason, within the limits; the test id holds the seed of a failure."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest

from parse.documents import answer, assert_bounded, parsed, parser
from parse.mutation import files, mutations, pages, pdfs
from periplus.model import Page
from periplus.parse.charset import decode

PARTS, AT_ONCE = 4, 500  # at the gate: 2,000 of each
LONG_PARTS = 10_000  # in `make long`
SECONDS = 5.0
LABELS = ["", "text/html", "a; charset=utf-8", "a; charset=shift_jis", "a;charset='x", "a;charset=utf-16"]


def _page(body: bytes, mime: str) -> Page:
    started = time.process_time()
    page = parsed(body, mime)
    assert time.process_time() - started < SECONDS
    assert_bounded(page)
    return page


def _fuzz_html(seed: int, count: int = AT_ONCE) -> None:
    chooser = random.Random(seed)
    for body in mutations(pages(), seed, count):
        mime = chooser.choice(("text/html", "", "application/xhtml+xml", "text/xml", "text/plain"))
        page = _page(body, mime)
        if chooser.random() < 0.05:
            assert parser().parse(answer(body, mime)) == page, "another reader reads the same"


def _fuzz_pdf(seed: int, count: int = AT_ONCE) -> None:
    for body in mutations(pdfs(), seed, count):
        page = _page(body, "application/pdf")
        assert page.problem is None or (page.noindex and page.problem_detail)


def _fuzz_charset(seed: int, count: int = AT_ONCE) -> None:
    chooser = random.Random(seed)
    for body in mutations([*pages(), bytes(range(256)) * 4, "港は長い砂州".encode("iso-2022-jp")], seed, count):
        text = decode(body[:20_000], chooser.choice(LABELS))
        text.encode("utf-8")  # no lone surrogate


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(PARTS))
def test_damaged_html_is_a_page(seed: int) -> None:
    _fuzz_html(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(PARTS))
def test_damaged_pdf_is_a_page_or_has_a_reason(seed: int) -> None:
    _fuzz_pdf(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(PARTS))
def test_any_bytes_can_be_decoded(seed: int) -> None:
    _fuzz_charset(seed)


@pytest.mark.long
@pytest.mark.parametrize("fuzz", [_fuzz_html, _fuzz_pdf, _fuzz_charset])
def test_the_same_for_hours(fuzz: Callable[[int], None]) -> None:
    for seed in range(PARTS, PARTS + LONG_PARTS):
        fuzz(seed)


@pytest.mark.slow
def test_real_pdfs_give_text_or_a_reason_and_the_same_every_time() -> None:
    bodies = files("pdf/samples.tar.xz", 1 << 30)
    assert len(bodies) == 456
    first = [_page(body, "application/pdf") for body in bodies]
    again = parser()
    assert [again.parse(answer(body, "application/pdf")) for body in reversed(bodies)] == first[::-1]
    assert sum(page.problem is None for page in first) >= 440
    assert sum(bool(page.text) for page in first) >= 250
