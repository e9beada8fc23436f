"""A person logs in to the console in a real browser, with and without scripts, and logs out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from access_checks import GuardedSite
from guarded_console import PASSWORD, StandIn, guarded
from web.axe import SCHEMES, WIDTHS, Scheme, violations, violations_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def console() -> StandIn:
    return StandIn()


@pytest.fixture(scope="module")
def site(console: StandIn) -> Iterator[GuardedSite]:
    with guarded(console) as served:
        yield served


@pytest.fixture(params=["scripts", "no scripts"])
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    with browser.new_context(java_script_enabled=request.param == "scripts") as context:
        yield context.new_page()


def log_in(page: Page, password: str) -> None:
    page.get_by_label("Password of the console").fill(password)
    page.get_by_role("button", name="Log in").click()


def test_from_a_page_of_the_console_through_the_login_and_back(page: Page, site: GuardedSite, console: StandIn) -> None:
    base = site.site.base
    page.goto(f"{base}/console/hosts/a.example?q=1")
    assert page.url.startswith(f"{base}/console/login?next=")
    log_in(page, "not the password")
    assert page.get_by_role("alert").inner_text() == "This is not the password."
    log_in(page, PASSWORD)
    assert page.url == f"{base}/console/hosts/a.example?q=1"
    page.get_by_label("Seed").fill("http://a.example/")
    page.get_by_role("button", name="Add").click()
    assert page.url == f"{base}/console/"
    kind, request, body = console.done[-1]
    assert (kind, request) == ("session", "POST /console/seeds")
    assert body.startswith(b"seed=http%3A%2F%2Fa.example%2F&token=")
    page.get_by_role("button", name="Log out").click()
    assert page.url == f"{base}/console/login"
    assert page.context.cookies() == []
    page.goto(f"{base}/console/")
    assert page.url == f"{base}/console/login?next=/console/"


def test_scripts_cannot_read_the_cookie(browser: Browser, site: GuardedSite) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{site.site.base}/console/")
        log_in(page, PASSWORD)
        [cookie] = context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/console")
        assert page.evaluate("document.cookie") == ""


def test_a_form_of_another_site_changes_nothing(browser: Browser, site: GuardedSite, console: StandIn) -> None:
    """The other site even knows the form token; the browser is logged in."""
    before = len(console.done)
    with browser.new_context(bypass_csp=True) as context, guarded(StandIn("")) as other:
        page = context.new_page()
        page.goto(f"{site.site.base}/console/")
        log_in(page, PASSWORD)
        token = page.locator("input[name=token]").first.get_attribute("value")
        page.goto(other.site.base.replace("127.0.0.1", "localhost") + "/login")
        action = f"{site.site.base}/console/seeds"
        page.set_content(f'<form method="post" action="{action}"><input name="token" value="{token}"></form>')
        page.locator("form").evaluate("form => form.submit()")
        page.wait_for_url(action)
        assert page.locator("input[type=password]").count() == 1, "without the cookie, the form is from a stranger"
    assert len(console.done) == before


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_login_page_is_accessible(browser: Browser, site: GuardedSite, width: int, scheme: Scheme) -> None:
    views = {"login": "/console/login?next=/console/seeds"}
    assert violations_of(browser, site.site.base, views, width, scheme) == {}
    with browser.new_context(viewport={"width": width, "height": 860}, color_scheme=scheme, bypass_csp=True) as context:
        page = context.new_page()
        page.goto(f"{site.site.base}/console/login")
        log_in(page, "wrong again")
        assert page.get_by_role("alert").is_visible()
        assert violations(page) == []
        site.options.state.succeeded("127.0.0.1")  # so that the other widths may try, too
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is cut off"
