"""In a real browser, crawled text runs no script on the pages of the site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from periplus.site.app import build
from periplus.site.pages import Pages
from periplus.web import app as web
from web.attacks import (
    GROUPS,
    PoisonedLibrary,
    bare,
    poisoned_paths,
    poisoned_report,
    poisoned_url,
    together,
)
from web.engines import HARBOUR, FakeEngine
from web.serving import searching, serving
from web.test_hostile import AT_ONCE, PAYLOADS, poisoned

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = pytest.mark.slow

CANARY = """
window.ran = [];
for (const name of ["alert", "prompt", "confirm", "print", "open"]) {
  window[name] = (text) => { window.ran.push(`${name}(${text})`); };
}
document.addEventListener("securitypolicyviolation", (event) => window.ran.push(event.violatedDirective));
"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context() as context:
        context.add_init_script(CANARY)
        watched = context.new_page()
        watched.on("dialog", lambda dialog: dialog.dismiss())
        yield watched


def ran(page: Page) -> list[str]:
    """What has run, or has tried to and was stopped by the policy."""
    page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    found: list[str] = page.evaluate("new Promise(done => setTimeout(() => done(window.ran), 30))")
    return found


def test_the_canary_sings(page: Page) -> None:
    with serving(bare({"/": "<img src=x: onerror=alert(1)><script>prompt(2)</script>"})) as site:
        page.goto(site.base)
        assert sorted(ran(page)) == ["alert(1)", "prompt(2)"]


@pytest.mark.parametrize("start", range(0, len(PAYLOADS), AT_ONCE))
def test_no_payload_in_a_result_runs(page: Page, start: int) -> None:
    payloads = PAYLOADS[start : start + AT_ONCE]
    engine = FakeEngine(hits=[poisoned(payload) for payload in payloads], related_searches=payloads)
    with searching(engine) as site:
        page.goto(f"{site.base}/search?q=x&size={AT_ONCE}")
        assert page.locator("li.hit").count() == page.locator(".related li").count() == len(engine.hits)
        assert ran(page) == []


def test_no_payload_in_a_query_runs(page: Page) -> None:
    with searching(FakeEngine(hits=[])) as site:
        for group in GROUPS:
            page.goto(f"{site.base}/search?{urlencode({'q': ' '.join(group)})}")
            assert page.get_by_label("Search for").input_value() == " ".join(group)
            assert ran(page) == []


def test_no_payload_on_a_page_about_a_page_runs(page: Page) -> None:
    library = PoisonedLibrary()
    with searching(library.engine, library=library, report=poisoned_report) as site:
        for path in poisoned_paths():
            page.goto(site.base + path)
            assert page.evaluate("window.ran") == [], path
        assert ran(page) == []


def test_no_payload_in_the_panel_of_a_result_runs(page: Page) -> None:
    library = PoisonedLibrary()
    hits = [replace(HARBOUR, url=poisoned_url(number)) for number in range(len(GROUPS))]
    with searching(FakeEngine(hits=hits), library=library, report=poisoned_report) as site:
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(f"{site.base}/search?q=x&size=100")
        for number in range(len(GROUPS)):
            with page.expect_response(re.compile(rf"/panel\?url=.*[^0-9]{number}&q=x$")):
                page.locator("li.hit h2 a").nth(number).focus()
            page.locator("#panel a[href^='/page?']").wait_for()
            assert ran(page) == []


def test_even_without_escaping_the_policy_would_stop_them(page: Page) -> None:
    pages = Pages(Path(web.__file__).parent / "templates", layout="page.html")

    async def unescaped(request: Request) -> Response:
        return Response(together(GROUPS[int(request.query_params["group"])]), media_type="text/html")

    stopped = 0
    with serving(build([Route("/", unescaped)], pages)) as site:
        for number in range(len(GROUPS)):
            page.goto(f"{site.base}/?group={number}")
            deeds = ran(page)
            assert [deed for deed in deeds if "(" in deed] == []
            stopped += len(deeds)
    assert stopped > len(PAYLOADS) / 2, "they were tried"


def test_no_other_site_can_frame_ours(visit: BrowserContext) -> None:
    with searching(FakeEngine()) as site, serving(bare({"/": f"<iframe src='{site.base}/'></iframe>"})) as evil:
        page = visit.new_page()
        page.goto(evil.base)
        page.wait_for_timeout(300)
        assert "Periplus" not in page.frames[1].content()
