"""In a real browser, the panel shows facts about the result under the pointer or the focus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from web.engines import FACTS, HARBOUR, FakeEngine, FakeLibrary
from web.serving import Site, searching

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

FRONT = replace(HARBOUR, url="https://harbours.example/", title="Harbours", explain={"site": 1.0})
HITS = [FRONT, *(replace(HARBOUR, url=f"https://a.example/{n}", title=f"Page {n}") for n in range(8))]


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    engine = FakeEngine(hits=HITS)
    facts = {hit.url: replace(FACTS, url=hit.url, title=f"About {hit.title}") for hit in HITS}
    with searching(engine, library=FakeLibrary(engine, page_facts=facts)) as served:
        yield served


def results(browser: Browser, site: Site, width: int = 1280) -> Iterator[tuple[Page, list[str]]]:
    with browser.new_context(viewport={"width": width, "height": 900}) as context:
        page = context.new_page()
        asked: list[str] = []
        page.on(
            "request",
            lambda request: asked.append(request.url) if "/panel?" in request.url or "/panel/" in request.url else None,
        )
        page.goto(f"{site.base}/search?q=harbours")
        yield page, asked


@pytest.fixture
def wide(browser: Browser, site: Site) -> Iterator[tuple[Page, list[str]]]:
    yield from results(browser, site)


@pytest.fixture
def narrow(browser: Browser, site: Site) -> Iterator[tuple[Page, list[str]]]:
    yield from results(browser, site, 1_000)


def test_a_query_that_names_a_site_opens_the_panel_of_the_site(wide: tuple[Page, list[str]]) -> None:
    page, asked = wide
    page.locator("#panel").get_by_text("42 pages").wait_for()
    assert len(asked) == 1


def test_the_panel_follows_the_focus_and_the_pointer(wide: tuple[Page, list[str]]) -> None:
    page, _ = wide
    page.locator("#panel").get_by_text("42 pages").wait_for()
    for _ in range(2):
        page.keyboard.press("j")
    page.locator("#panel").get_by_role("heading", name="About Page 0").wait_for()
    page.locator("li.hit").nth(3).hover()
    page.locator("#panel").get_by_role("heading", name="About Page 2").wait_for()


def test_a_pointer_that_passes_loads_nothing_and_a_known_page_is_not_loaded_again(
    wide: tuple[Page, list[str]],
) -> None:
    page, asked = wide
    page.locator("#panel").get_by_text("42 pages").wait_for()
    for place in (1, 2, 3, 4):
        page.locator("li.hit h2 a").nth(place).dispatch_event("pointerover")
    page.locator("#panel").get_by_role("heading", name="About Page 3").wait_for()
    assert len(asked) == 2, "only the last of four results was asked for"
    page.locator("li.hit h2 a").nth(1).dispatch_event("pointerover")
    page.locator("#panel").get_by_role("heading", name="About Page 0").wait_for()
    page.locator("li.hit h2 a").nth(4).dispatch_event("pointerover")
    page.locator("#panel").get_by_role("heading", name="About Page 3").wait_for()
    assert len(asked) == 3


def test_a_narrow_screen_has_no_panel(narrow: tuple[Page, list[str]]) -> None:
    page, asked = narrow
    page.locator("li.hit h2 a").nth(1).focus()
    page.wait_for_timeout(400)
    assert not page.locator("#panel").is_visible()
    assert asked == []


def test_without_scripts_a_link_leads_to_the_same_facts(browser: Browser, site: Site) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{site.base}/search?q=harbours")
        page.locator('summary[aria-label="More about Page 0"]').click()
        page.get_by_role("link", name="About this page").first.click()
        assert page.get_by_role("heading", level=1).inner_text() == "About Page 0"
