"""In a real browser, a reader saves settings, sees their effect, and is forgotten again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from web.attacks import bare
from web.engines import HARBOUR, FakeEngine
from web.serving import Site, searching, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with searching(FakeEngine(hits=60 * [HARBOUR])) as served:
        yield served


def ground(page: Page) -> str:
    colour: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return colour


def scheme(page: Page) -> str:
    """The scheme of scroll bars and form controls."""
    found: str = page.evaluate("getComputedStyle(document.documentElement).colorScheme")
    return found


def focused(page: Page) -> bool:
    """Whether a result has the focus."""
    found: bool = page.evaluate("document.activeElement.matches('.hit h2 a')")
    return found


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_settings_are_saved_and_forgotten(browser: Browser, site: Site, scripts: bool) -> None:
    with browser.new_context(java_script_enabled=scripts, color_scheme="light") as context:
        page = context.new_page()
        page.goto(site.base)
        page.get_by_role("link", name="Settings").first.click()
        page.get_by_label("Dark").check()
        page.get_by_label("Results per page").select_option("20")
        page.get_by_label("Open results in a new tab").check()
        page.get_by_role("button", name="Save settings").click()
        page.wait_for_url("**/settings?saved=1")
        (cookie,) = context.cookies()
        assert (cookie["value"], cookie["httpOnly"], cookie["sameSite"]) == (
            "theme-dark.size-20.tab-new",
            True,
            "Strict",
        )
        assert page.get_by_label("Dark").is_checked()
        page.goto(f"{site.base}/search?q=harbour")
        assert page.locator("li.hit").count() == 20
        with context.expect_page() as opened:
            page.locator("li.hit h2 a").first.click()
        opened.value.close()

        page.goto(f"{site.base}/settings")
        page.get_by_role("button", name="Forget settings").click()
        page.wait_for_url("**/settings?forgotten=1")
        assert context.cookies() == []
        assert page.get_by_label("Like my system").is_checked()


@pytest.mark.parametrize("system", ["light", "dark"])
def test_the_chosen_theme_wins_over_that_of_the_system(browser: Browser, site: Site, system: str) -> None:
    seen = {}
    for theme in ("system", "light", "dark"):
        with browser.new_context(color_scheme=system) as context:  # type: ignore[arg-type]
            context.add_cookies([{"name": "settings", "value": f"theme-{theme}", "url": site.base}])
            page = context.new_page()
            page.goto(site.base)
            seen[theme] = (ground(page), scheme(page))
    assert seen["system"] == seen[system]
    assert seen["light"] == ("rgb(251, 250, 246)", "light")
    assert seen["dark"] == ("rgb(14, 24, 34)", "dark")


# --- keys ---


def test_keys_are_explained(visit: BrowserContext, site: Site) -> None:
    page = visit.new_page()
    page.goto(f"{site.base}/search?q=harbour")
    assert not page.get_by_text("go to the search box").is_visible()
    page.keyboard.press("?")
    assert page.get_by_text("go to the search box").is_visible()
    page.get_by_role("link", name="Switch these keys off").click()
    page.wait_for_url("**/settings")


def test_keys_can_be_switched_off_and_on(visit: BrowserContext, site: Site) -> None:
    page = visit.new_page()

    def press_all() -> tuple[bool, bool, bool]:
        """Whether j, / and ? have an effect."""
        page.goto(f"{site.base}/search?q=harbour")
        page.keyboard.press("j")
        moved = focused(page)
        page.keyboard.press("?")
        shown = page.get_by_text("next and previous result").is_visible()
        page.keyboard.press("/")
        return moved, page.locator("#q:focus").count() == 1, shown

    assert press_all() == (True, True, True)
    page.goto(f"{site.base}/settings")
    page.get_by_label("Use the keys").uncheck()
    page.get_by_role("button", name="Save settings").click()
    page.wait_for_url("**/settings?saved=1")
    assert press_all() == (False, False, False)
    assert page.locator("#keys").is_hidden()
    page.goto(f"{site.base}/settings")
    page.get_by_label("Use the keys").check()
    page.get_by_role("button", name="Save settings").click()
    page.wait_for_url("**/settings?saved=1")
    assert press_all() == (True, True, True)
    assert visit.cookies() == [], "settings that are all usual leave no cookie"


def test_completion_still_works_without_the_keys(visit: BrowserContext, site: Site) -> None:
    visit.add_cookies([{"name": "settings", "value": "keys-off", "url": site.base}])
    page = visit.new_page()
    page.goto(site.base)
    assert page.get_by_role("combobox", name="Search for").count() == 1


def test_another_site_cannot_change_the_settings(visit: BrowserContext, site: Site) -> None:
    form = f"<form method=post action={site.base}/settings><input name=theme value=dark><button>x</button></form>"
    page = visit.new_page()
    with serving(bare({"/": form})) as evil:
        page.goto(evil.base.replace("127.0.0.1", "localhost"))
        page.get_by_role("button").click()
        page.wait_for_url("**/settings")
        assert page.get_by_role("heading", name="Refused").is_visible()
    assert visit.cookies() == []
