"""In a real browser without scripts, a reader blocks a site, keeps the rule, and removes it again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from periplus.config import Serving
from periplus.inspector.page_library import PageLibrary
from periplus.search.reload import ReloadingEngine
from periplus.web.app import Sources, create_app
from periplus.web.bangs import Bang, Bangs
from search.library import Doc, index, settings, shelve
from web.axe import SCHEMES, WIDTHS, violations
from web.serving import Site, serving

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

DOCS = [
    Doc(f"http://{host}/{n}", f"Harbour {n}", f"A harbour with {n} quays, {host}.")
    for host in ("a.example", "b.example", "c.example")
    for n in range(4)
]
RULES = "raise:a.example,lower:b.example"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home: Path = tmp_path_factory.mktemp("home")
    collection, chosen = shelve(home, DOCS), settings()
    index(collection)
    bangs = Bangs(
        {"w": Bang("w", "https://w.example/{query}", "Wiki"), "x": Bang("x", "https://x.example/{query}", "X")}
    )
    with closing(ReloadingEngine(collection, chosen)) as engine:
        sources = Sources(engine, PageLibrary(collection, chosen, engine.live), bangs=bangs)
        with serving(create_app(sources, Serving())) as served:
            yield served


def hosts(page: Page) -> set[str]:
    return set(page.locator(".hit .where b").all_inner_texts())


def test_a_site_is_blocked_kept_and_unblocked(browser: Browser, site: Site, tmp_path: Path) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{site.base}/search?q=harbour&size=50")
        assert hosts(page) == {"a.example", "b.example", "c.example"}
        hit = page.locator(".hit", has_text="b.example").first
        hit.locator("summary").click()
        hit.get_by_role("button", name="Block").click()
        page.wait_for_url("**/search?q=harbour&size=50&sites=block%3Ab.example")
        assert hosts(page) == {"a.example", "c.example"}
        assert page.locator(".summary").inner_text().startswith("8 results")
        assert context.cookies() == [], "nothing is saved yet"

        page.get_by_role("link", name="Save", exact=True).click()
        page.get_by_role("button", name="Save these rules").click()
        page.wait_for_url("**/settings?saved=1")
        page.goto(f"{site.base}/search?q=harbour&size=50")
        assert hosts(page) == {"a.example", "c.example"}
        page.get_by_role("link", name="Show all sites").click()
        assert len(hosts(page)) == 3

        page.goto(f"{site.base}/settings")
        with page.expect_download() as download:
            page.get_by_role("link", name="Export as a text file").click()
        saved = tmp_path / "sites.txt"
        download.value.save_as(saved)
        page.get_by_role("button", name="Remove the rule for b.example").click()
        page.wait_for_url("**/settings?saved=1")
        assert context.cookies() == []
        page.get_by_label("Text file").set_input_files(saved)
        page.get_by_role("button", name="Import").click()
        page.get_by_role("button", name="Remove the rule for b.example").wait_for()
        page.get_by_label("Site", exact=True).fill("https://www.c.example/x")
        page.get_by_role("combobox", name="Rule").select_option("lower")
        page.get_by_role("button", name="Add").click()
        page.get_by_text("www.c.example").wait_for()
        assert context.cookies()[0]["value"] == "~block:b.example~lower:www.c.example"


def test_pages_with_rules_and_bangs_are_accessible_and_fit(browser: Browser, site: Site) -> None:
    views = (f"/search?q=!none+harbour&sites={RULES}", "/settings?sites=block:c.example", "/help")
    for scheme in SCHEMES:
        with browser.new_context(color_scheme=scheme, bypass_csp=True) as context:
            cookie = "~" + RULES.replace(",", "~")
            context.add_cookies([{"name": "settings", "value": cookie, "url": site.base}])
            page = context.new_page()
            for view in views:
                page.goto(site.base + view)
                page.evaluate(
                    "[...document.querySelectorAll('.hit details')].slice(0, 2).forEach(one => one.open = true)"
                )
                for width in WIDTHS if view != "/help" else WIDTHS[:1]:
                    page.set_viewport_size({"width": width, "height": 860})
                    assert violations(page) == [], (view, width, scheme)
                    assert page.evaluate("document.documentElement.scrollWidth") <= width
