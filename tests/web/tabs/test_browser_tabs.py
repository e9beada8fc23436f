"""In a real browser: everybody can use the tabs, no other site learns of it, and crawled text runs no script."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from periplus.config import Serving
from web.axe import SCHEMES, WIDTHS, Scheme, violations_of
from web.engines import HARBOUR, FakeEngine
from web.serving import Site, searching, serving
from web.tabs.media import IMAGES, PLAN, engine
from web.test_browser_attacks import page as page
from web.test_browser_attacks import ran
from web.test_hostile import PAYLOADS, poisoned

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

VIEWS = {
    "images": "/search?q=harbour&tab=images&size=8",
    "videos": "/search?q=harbour&tab=videos&lang=de",
    "news": "/search?q=harbour&tab=news&size=4",
    "beyond": "/search?q=harbour&tab=images&page=9&lang=de",
}
_OVERFLOW = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
_PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc000000301010018dd8db0"
    "0000000049454e44ae426082"
)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with searching(engine()) as served:
        yield served


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_no_violation_on_a_tab(browser: Browser, site: Site, width: int, scheme: Scheme) -> None:
    assert violations_of(browser, site.base, VIEWS, width, scheme) == {}


def test_no_tab_scrolls_sideways_on_a_small_screen(browser: Browser, site: Site) -> None:
    with browser.new_context(viewport={"width": 360, "height": 800}) as context:
        found = context.new_page()
        for path in VIEWS.values():
            found.goto(site.base + path)
            assert not found.evaluate(_OVERFLOW), path


def test_no_request_goes_to_another_site(browser: Browser, site: Site) -> None:
    with browser.new_context() as context:
        found, asked = context.new_page(), list[str]()
        context.on("request", lambda request: asked.append(request.url))
        for path in VIEWS.values():
            found.goto(site.base + path, wait_until="networkidle")
    assert len(asked) > len(VIEWS)
    assert [url for url in asked if not url.startswith(f"{site.base}/")] == []


def test_allowed_images_are_loaded_without_cookies_and_referrer(browser: Browser) -> None:
    seen: list[dict[bytes, bytes]] = []

    async def pictures(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(dict(scope["headers"]))
        await Response(_PNG, media_type="image/png")(scope, receive, send)

    with serving(pictures) as other:
        images = [replace(PLAN, url=f"{other.base}/{n}.png") for n in range(30)]
        with searching(engine(images=images), Serving(load_images=True)) as served:
            path = "/search?q=harbour&tab=images"
            with browser.new_context(viewport={"width": 360, "height": 640}) as context:
                context.add_cookies([{"name": "settings", "value": "keys-off", "url": other.base}])
                found = context.new_page()
                found.goto(served.base + path)
                found.wait_for_function("document.querySelector('.picture img').naturalWidth === 1")
                box = found.locator(".picture .frame").first.bounding_box()
            assert violations_of(browser, served.base, {"loaded": path}, 360, "light") == {}
    assert seen
    assert not any(header in headers for headers in seen for header in (b"cookie", b"referer"))
    assert box is not None
    assert box["height"] == 120, "the place is kept before the image is there"


def test_a_reader_without_scripts_goes_through_the_tabs_and_back(browser: Browser, site: Site) -> None:
    with browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 860}) as context:
        found = context.new_page()
        found.goto(f"{site.base}/search?q=harbour&lang=de")
        found.get_by_role("link", name="Images").click()
        assert found.locator(".picture").count() == 30
        found.get_by_role("link", name="Next").click()
        assert found.url.endswith("/search?q=harbour&tab=images&lang=de&page=2")
        found.get_by_label("Search for").fill("mole")
        found.get_by_role("button", name="Search").click()
        assert found.url.endswith("/search?q=mole&tab=images&lang=de")
        found.locator(".filters summary", has_text="Time").click()
        found.get_by_role("link", name="Past week").click()
        assert "tab=images&time=week&lang=de" in found.url
        found.get_by_role("link", name="News").click()
        assert found.locator(".hit h2").first.inner_text() == "Story 0"
        found.go_back()
        assert found.locator(".picture").count() == 30


def test_tabs_and_images_are_reached_with_the_keyboard(browser: Browser, site: Site) -> None:
    with browser.new_context() as context:
        found = context.new_page()
        found.goto(f"{site.base}/search?q=harbour")
        found.get_by_role("link", name="Web", exact=False).first.focus()
        found.keyboard.press("Tab")
        found.keyboard.press("Enter")
        found.wait_for_url("**tab=images")
        found.keyboard.press("j")
        found.keyboard.press("j")
        assert found.evaluate("document.activeElement.textContent") == IMAGES[1].page_title


def _poisoned_engine() -> FakeEngine:
    hits = [
        replace(PLAN, url=text, words=text, context=text, page_url=text, page_title=text, host=text)
        for text in PAYLOADS
    ]
    return engine(images=hits, videos=hits, news_hits=[poisoned(text) for text in PAYLOADS], hits=[HARBOUR])


def test_no_payload_on_a_tab_runs(page: Page) -> None:
    with searching(_poisoned_engine()) as served:
        for tab in ("images", "videos", "news"):
            for number in range(1, len(PAYLOADS) // 100 + 1):
                page.goto(f"{served.base}/search?q=x&tab={tab}&size=100&page={number}")
                assert page.locator("li.hit").count() == 100
                assert ran(page) == []
