"""In a real browser every view is readable, accessible and safe, with scripts and without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from console.filled import ALERTS, VIEWS, Filling, fill, showing
from web.axe import SCHEMES, WIDTHS, Scheme, violations_of
from web.serving import Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

pytestmark = pytest.mark.slow

FORMS = {"confirm": ("hosts", ".acts button:has-text('Block')"), "scope change": ("scope", "button:has-text('Try it')")}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("views") / "home"
    fill(home, Filling(reports_for=7_200))
    with showing(home, ALERTS) as served:
        yield served


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_view_violates_a_rule_of_accessibility(browser: Browser, site: Site, width: int, scheme: Scheme) -> None:
    assert violations_of(browser, site.base, VIEWS, width, scheme) == {}


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
def test_no_view_scrolls_sideways(browser: Browser, site: Site, width: int) -> None:
    with browser.new_context(viewport={"width": width, "height": 740}) as context:
        page = context.new_page()
        for name, path in VIEWS.items():
            page.goto(site.base + path)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        for name, (view, button) in FORMS.items():
            page.goto(site.base + VIEWS[view])
            with page.expect_navigation():
                page.locator(button).first.click()
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name


def test_no_view_violates_the_policy_or_asks_another_site(browser: Browser, site: Site) -> None:
    said: list[str] = []
    asked: list[str] = []
    with browser.new_context() as context:
        context.on("request", lambda request: asked.append(request.url))
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text) if "400" not in message.text else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        for name, path in VIEWS.items():
            if name != "missing":
                page.goto(site.base + path)
        page.goto(site.base + "/console/")
        page.locator(".chart canvas").first.wait_for()
    assert said == []
    assert {url.split("/")[2] for url in asked} == {f"{site.host}:{site.port}"}


def test_the_overview_draws_charts_and_follows_the_crawl(browser: Browser, site: Site) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        held: list[Route] = []

        def hold(route: Route) -> None:
            held.append(route)

        page.route("**/console/events*", hold)
        with page.expect_request("**/console/events*"):
            page.goto(site.base + "/console/")
        page.locator(".chart canvas").nth(5).wait_for()
        assert page.locator(".chart svg").count() == 0
        page.evaluate("document.querySelector('#live-state').textContent = 'old'")
        held[0].continue_()  # only the first event has every part; later ones have those that changed
        page.get_by_text("running, 2 workers").wait_for()


def test_without_scripts_every_view_has_its_content(browser: Browser, site: Site) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(site.base + "/console/")
        assert page.locator(".chart svg polyline").count() == 8
        page.get_by_role("link", name="Workers").click()
        assert page.get_by_role("row", name="https://h009.example.org/api/9").is_visible()
        page.get_by_role("button", name="Stop on alexandria").click()
        page.get_by_text("End the crawl on alexandria at once?").wait_for()
        page.get_by_role("link", name="Do nothing").click()
        page.wait_for_url("**/console/workers")


def test_a_keyboard_reaches_the_view_at_once(browser: Browser, site: Site) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(site.base + "/console/hosts")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
