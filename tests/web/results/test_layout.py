"""In a real browser: enough results are visible at once, and everybody can read every page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from web.attacks import bare
from web.axe import SCHEMES, WIDTHS, Scheme, violations_of
from web.engines import HARBOUR, FakeEngine
from web.serving import Site, searching, serving
from web.test_journeys import COUNTS, VIEWS
from web.test_journeys import site as site

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

_SNIPPET = (
    HARBOUR.snippet + " Ships were towed up the river to the warehouses below the hill, where grain and oil lay. "
)
_HOSTS = ("harbours.example", "quays.example", "harbours.example", "moles.example", "docks.example")
_WHOLE = """[...document.querySelectorAll('.hit')].filter(hit => {
  const box = hit.getBoundingClientRect();
  return box.top >= 0 && box.bottom <= innerHeight;
}).length"""


@pytest.fixture(scope="module")
def typical() -> Iterator[Site]:
    """Ten results with full snippets; some of one host, some partial, some dated."""
    hits = [
        replace(
            HARBOUR,
            url=f"https://{_HOSTS[number % 5]}/mediterranean/harbours/{number}.html",
            host=_HOSTS[number % 5],
            snippet=(_SNIPPET * 2)[:260],
            score=9.0 - number / 20,
            all_words=number % 4 != 1,
            missing=("rome",) if number % 4 == 1 else (),
            date=1_442_880_000.0 if number % 3 == 0 else None,
        )
        for number in range(10)
    ]
    engine = FakeEngine(hits=hits, total=1_234, with_all_words=120, counts=COUNTS, left_out=("the", "of"))
    with searching(engine) as served:
        yield served


@pytest.mark.parametrize(("width", "height", "least"), [(1280, 860, 5), (360, 800, 2)])
def test_enough_results_are_visible_at_once(
    browser: Browser, typical: Site, width: int, height: int, least: int
) -> None:
    with browser.new_context(viewport={"width": width, "height": height}) as context:
        page = context.new_page()
        page.goto(f"{typical.base}/search?q=the+harbour+of+rome")
        assert page.evaluate(_WHOLE) >= least


def test_the_name_of_the_site_keeps_its_distance_from_the_box(browser: Browser, typical: Site) -> None:
    with browser.new_context(viewport={"width": 1280, "height": 860}) as context:
        page = context.new_page()
        page.goto(f"{typical.base}/search?q=harbour")
        text = page.evaluate(
            "(() => { const range = document.createRange(); range.selectNodeContents(document.querySelector('.brand'));"
            " return range.getBoundingClientRect().right })()"
        )
        box = page.locator(".box").bounding_box()
        assert box is not None
        assert box["x"] - text >= 16


def test_the_panel_takes_a_second_column_only_when_it_has_something(browser: Browser, typical: Site) -> None:
    with browser.new_context(viewport={"width": 1280, "height": 860}) as context:
        page = context.new_page()
        page.goto(f"{typical.base}/search?q=harbour")
        panel = page.locator("#panel")
        assert not panel.is_visible()
        panel.evaluate("panel => { panel.textContent = 'About a page'; panel.hidden = false }")
        beside, hits = panel.bounding_box(), page.locator(".hits").bounding_box()
        assert beside is not None
        assert hits is not None
        assert beside["x"] >= hits["x"] + hits["width"]
        assert beside["y"] < 200


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_no_violation(browser: Browser, site: Site, width: int, scheme: Scheme) -> None:
    assert violations_of(browser, site.base, VIEWS, width, scheme) == {}


def test_axe_would_find_a_violation(browser: Browser) -> None:
    with serving(bare({"/": "<!doctype html><title>Bad</title><img src=x.png>"})) as served:
        assert "image-alt" in str(violations_of(browser, served.base, {"bad": "/"}, 360, "light"))
