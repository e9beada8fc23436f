"""The boxes of sums, units and definitions are readable by everyone, and hostile text in them stays text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import turbohtml

from periplus.model import FullText
from periplus.site.pages import Pages
from periplus.web import app
from periplus.web.boxes.box import Box, BoxMaker
from periplus.web.boxes.calculator import Calculator
from periplus.web.boxes.definition import Definition
from periplus.web.boxes.units import UnitConverter
from web.axe import SCHEMES, WIDTHS, Scheme, violations
from web.boxes.judged import made
from web.boxes.test_definition import MUTEX, at_once, defined
from web.engines import FakeEngine
from web.serving import searching
from web.test_hostile import PAYLOADS, assert_harmless

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGES = Pages(Path(app.__file__).parent / "templates", layout="page.html")
QUERIES: list[tuple[BoxMaker, str]] = [
    (Calculator(), "2^100 + 1"),
    (Calculator(), "1 / 0"),
    (UnitConverter(), "3 cups in ml"),
    (UnitConverter(), "180 cm"),
    (Definition(FakeEngine(texts=(MUTEX,)), at_once), "what is a mutex"),
]


def html(box: Box | None) -> str:
    assert box is not None
    return PAGES.render(box.template, box=box.values).decode()


def shown(box: Box | None) -> turbohtml.Document:
    return turbohtml.parse(html(box))


def text(page: turbohtml.Document, selector: str) -> str:
    return " ".join(page.select(selector)[0].text.split())


def test_a_sum_is_shown_with_its_result() -> None:
    page = shown(made(Calculator(), "15% of 80"))
    assert text(page, ".box-question") == "15% of 80 ="
    assert text(page, "output.box-result") == "12"
    assert page.select("section")[0].attrs["aria-label"] == "Calculator"


def test_a_sum_without_a_result_is_shown_with_a_sentence() -> None:
    page = shown(made(Calculator(), "1 / 0"))
    assert text(page, "output") == "Nothing can be divided by zero."


def test_a_quantity_is_shown_in_another_unit() -> None:
    page = shown(made(UnitConverter(), "3 cups in ml"))
    assert text(page, ".box-question") == "3 cups ≈"
    assert text(page, "output.box-result") == "709.7647 mL"
    assert text(page, ".box-note") == "US measures"


def test_common_conversions_stand_side_by_side() -> None:
    assert text(shown(made(UnitConverter(), "180 cm")), "output") == "70.86614 in or 5.905512 ft"


def test_a_definition_is_a_quotation_with_its_source() -> None:
    page = shown(defined("what is a mutex"))
    assert text(page, "blockquote").startswith("A mutex is a lock")
    assert page.select("blockquote")[0].attrs["lang"] == "en"
    (link,) = page.select("a")
    assert (link.attrs["href"], link.text, link.attrs["rel"]) == (MUTEX.url, MUTEX.title, ["noreferrer", "nofollow"])
    assert text(page, ".box-host") == MUTEX.host


def test_a_hostile_page_cannot_put_markup_into_a_definition() -> None:
    for payload in PAYLOADS:
        values: dict[str, Any] = dict.fromkeys(("term", "sentence", "title", "host", "language"), payload)
        page = shown(Box("boxes/definition.html", {**values, "link": ""}))
        assert_harmless(page)
        assert text(page, "blockquote").split() == payload.replace("\0", "").split()


def test_a_hostile_page_is_quoted_as_text() -> None:
    for payload in PAYLOADS:
        page = FullText(f"http://a.example/{payload}", payload, f"Mutex - {payload}", "en", MUTEX.text)
        assert_harmless(shown(defined("define mutex", page)))


def test_a_hostile_query_gets_no_box_or_a_harmless_one() -> None:
    makers: list[BoxMaker] = [Calculator(), UnitConverter(), Definition(FakeEngine(texts=(MUTEX,)), at_once)]
    for payload in PAYLOADS:
        for query in (payload, f"what is {payload[:60]}", f"2 + {payload}", f"10 km in {payload}"):
            for maker in makers:
                box = made(maker, query)
                if box is not None:
                    assert_harmless(shown(box))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_boxes_are_accessible_low_and_never_wider_than_the_page(
    browser: Browser, width: int, scheme: Scheme
) -> None:
    boxes = "".join(f'<div class="tried">{html(made(maker, query))}</div>' for maker, query in QUERIES)
    for number in range(len(QUERIES)):  # landmarks have different names on a real page: it shows one box
        boxes = boxes.replace('aria-label="Calculator"', f'aria-label="Sum {number}"', 1)
        boxes = boxes.replace('aria-label="Unit converter"', f'aria-label="Units {number}"', 1)
    with (
        searching(FakeEngine()) as site,
        browser.new_context(viewport={"width": width, "height": 860}, color_scheme=scheme, bypass_csp=True) as context,
    ):
        page = context.new_page()
        page.goto(f"{site.base}/search?q=mutex")
        page.evaluate("html => document.querySelector('ol.hits').insertAdjacentHTML('beforebegin', html)", boxes)
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        heights = page.evaluate("[...document.querySelectorAll('.tried')].map(box => box.offsetHeight)")
        assert max(heights) <= 190 if width == 360 else max(heights) <= 150, heights
