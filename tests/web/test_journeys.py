"""A user with a real browser can search, with scripts and without."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from periplus.model import CachedPage, FacetCounts, Results
from web.attacks import poisoned_report
from web.engines import ARCHIVED, FACTS, HARBOUR, FakeEngine, FakeLibrary
from web.serving import Site, searching

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = pytest.mark.slow

LONG = "Averyverylongwordwithoutanyplacetobreakwhichmustnotmakethepagescrollsidewaysonasmallscreen"
HITS = [
    HARBOUR,
    replace(HARBOUR, url=f"https://{'long-name.' * 8}example/{LONG}/{LONG}", title=LONG, snippet=LONG, highlights=()),
    replace(HARBOUR, mime="application/pdf", same_content=tuple(f"https://m{n}.example/{LONG}" for n in range(12))),
    replace(
        HARBOUR, title="ميناء الإسكندرية", snippet="كان ميناء الإسكندرية من أكبر الموانئ", highlights=(), language="ar"
    ),
    replace(HARBOUR, all_words=False, explain={f"a_signal_with_a_long_name_{n}": 0.1 for n in range(12)}),
]


COUNTS = FacetCounts(
    languages=(("en", 30), ("de", 12)),
    types=(("html", 40), ("pdf", 10)),
    sites=((f"{'long-name.' * 8}example", 40), ("b.example", 2)),
    newer=(("day", 1), ("week", 2), ("month", 3), ("year", 42)),
    hosts={HARBOUR.host: 40},
)


class Engine(FakeEngine):
    """Finds nothing for the query "nothing", and corrects the query "harbuor"."""

    def search(self, query: str, **options: Any) -> Results:
        hits = [] if "nothing" in query else 10 * HITS
        hints = ("A quotation mark is not closed; it was ignored.",) if '"' in query else ()
        corrected = f"harbour {LONG}" if "harbuor" in query else ""
        left_out, excluded = (("how", "to"), ("car",)) if "harbour" in query else ((), ())
        fake = FakeEngine(hits=hits, hints=hints, corrected=corrected, left_out=left_out, excluded=excluded)
        return fake.search(query, **options)


COPY = quote(ARCHIVED.url, safe="")
EARLIER = CachedPage(ARCHIVED.url, FACTS.versions[0].at, "text/html", f"<p>The mole of Rome. <pre>{LONG}".encode())
VIEWS = {
    "home": "/",
    "results": "/search?q=%22harbour",
    "corrected": f"/search?q=harbuor+{LONG}",
    "last": "/search?q=harbour&page=5",
    "filtered": "/search?q=harbour&lang=de&type=pdf&site=a.example&time=week",
    "why": f"/why?q=harbour&url={quote(HARBOUR.url)}",
    "unexplained": "/why?q=harbour&url=https://nowhere.example/",
    "beyond": "/search?q=harbour&page=99",
    "empty": f"/search?q=nothing+{LONG}",
    "cached": f"/cached?url={COPY}&q=harbour",
    "archived": f"/cached/archived?url={COPY}",
    "versions": f"/cached/versions?url={COPY}",
    "changes": f"/cached/changes?url={COPY}&from=20260302050500",
    "earlier": f"/cached?url={COPY}&at=20260302050500",
    "page": f"/page?url={COPY}",
    "form": "/inspect",
    "inspect": "/inspect?url=http://a.example/3",
    "unshown": "/cached?url=https://a.example/pdf",
    "error": f"/{LONG}",
    "mistake": "/search?q=x&page=two",
    "help": "/help",
    "about": "/about",
    "settings": "/settings?saved=1",
}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    pdf = CachedPage("https://a.example/pdf", 0, "application/pdf", b"")
    archive = {ARCHIVED.url: ARCHIVED, pdf.url: pdf}
    engine = Engine(hits=HITS, archive=archive, counts=COUNTS, found_by={"nothing": 3})
    library = FakeLibrary(engine, older={EARLIER.fetched_at: EARLIER})
    with searching(engine, library=library, report=poisoned_report) as served:
        yield served


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_from_the_box_to_the_copy_of_a_page(browser: Browser, site: Site, scripts: bool) -> None:
    with browser.new_context(java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto(site.base)
        page.locator("input:focus").wait_for()  # the box has the focus without a click
        page.keyboard.type("harbour rome")
        page.keyboard.press("Enter")
        page.wait_for_url("**/search?q=harbour+rome")
        assert page.get_by_label("Search for").input_value() == "harbour rome"
        assert page.get_by_role("heading", level=2).count() == 10

        page.locator(f'summary[aria-label="More about {HARBOUR.title}"]').first.click()
        page.get_by_role("link", name="Why this result?").locator("visible=true").first.click()
        page.get_by_role("row", name="Score 3.2500").first.wait_for()
        if not scripts:
            page.get_by_role("link", name="Back to the results").click()
        page.get_by_role("link", name="Next").click()
        page.wait_for_url("**/search?q=harbour+rome&page=2")
        page.go_back()
        page.wait_for_url("**/search?q=harbour+rome")

        if not page.get_by_role("link", name="Cached copy").first.is_visible():
            page.locator(f'summary[aria-label="More about {HARBOUR.title}"]').first.click()
        page.get_by_role("link", name="Cached copy").first.click()
        assert page.locator("article.reader mark").first.inner_text() == "harbour"
        page.get_by_role("link", name="As archived").click()
        assert page.frame_locator("iframe").get_by_text("The harbour of Rome.").is_visible()
        assert page.get_by_text("4 March 2026 at 05:05 UTC").is_visible()


def test_every_view_is_what_its_name_says(site: Site) -> None:
    status = {name: site.get(path).status for name, path in VIEWS.items()}
    assert status == dict.fromkeys(VIEWS, 200) | {"error": 404, "unexplained": 404, "mistake": 400}


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_scrolls_sideways(browser: Browser, site: Site, width: int, scheme: str) -> None:
    theme = "dark" if scheme == "dark" else "light"
    with browser.new_context(viewport={"width": width, "height": 740}, color_scheme=theme) as context:  # type: ignore[arg-type]
        page = context.new_page()
        for name, path in VIEWS.items():
            page.goto(site.base + path)
            page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name


@pytest.mark.parametrize("name", VIEWS)
def test_no_page_requests_another_site_or_violates_the_policy(visit: BrowserContext, site: Site, name: str) -> None:
    asked: list[str] = []
    said: list[str] = []
    visit.on("request", lambda request: asked.append(request.url))
    page = visit.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(site.base + VIEWS[name])
    page.wait_for_load_state("networkidle")
    assert [url for url in asked if not url.startswith(site.base)] == []
    assert [text for text in said if "status of 404" not in text and "status of 400" not in text] == []
    assert visit.cookies() == []


def test_no_referer_is_sent(visit: BrowserContext, site: Site) -> None:
    visit.route("**/mediterranean/**", lambda route: route.fulfill(body="there", content_type="text/html"))
    page = visit.new_page()
    page.goto(f"{site.base}/search?q=private+thoughts")
    with page.expect_request("**/mediterranean/**") as request:
        page.get_by_role("link", name=HARBOUR.title).first.click()
    assert "referer" not in request.value.all_headers()


# --- keys ---


@pytest.fixture
def results(visit: BrowserContext, site: Site) -> Page:
    page = visit.new_page()
    page.goto(f"{site.base}/search?q=harbour")
    return page


def focused(page: Page) -> int:
    """The place of the focused result, -1 if none has the focus."""
    place: int = page.evaluate("[...document.querySelectorAll('.hit h2 a')].indexOf(document.activeElement)")
    return place


def test_j_and_k_go_along_the_results(results: Page) -> None:
    places = []
    for key in "jjjkkk":
        results.keyboard.press(key)
        places.append(focused(results))
    assert places == [0, 1, 2, 1, 0, 0]


def test_j_goes_on_from_the_result_that_the_tab_key_has_reached(results: Page) -> None:
    for key in ("j", "j", "Tab", "j"):
        results.keyboard.press(key)
    assert focused(results) == 2, "the Tab key led to the menu of the second result"
    results.keyboard.press("Tab")
    results.keyboard.press("k")
    assert focused(results) == 1


def test_a_slash_focuses_the_box_where_keys_are_typed(results: Page) -> None:
    results.keyboard.press("/")
    results.keyboard.type("jk/?")
    assert results.get_by_label("Search for").input_value() == "jk/?"
    results.keyboard.press("Escape")
    results.keyboard.press("j")
    assert focused(results) == 0


def test_with_the_tab_key_everything_can_be_reached(results: Page) -> None:
    results.keyboard.press("Tab")
    assert results.evaluate("document.activeElement.textContent") == "Skip to the content"
    results.keyboard.press("Enter")
    results.keyboard.press("Tab")
    assert results.evaluate("document.activeElement.textContent.trim()").startswith("Web"), "the tabs come first"
    for _ in range(5):
        results.keyboard.press("Tab")
    assert results.evaluate("document.activeElement.textContent") == "Time", "then the filters"
    for _ in COUNTS.languages * 2:
        results.keyboard.press("Tab")
    assert focused(results) == 0


# --- menus ---


def test_a_menu_closes_on_escape_and_on_a_click_outside(results: Page) -> None:
    menu = results.locator(".hit details.menu").first
    menu.locator("summary").click()
    menu.get_by_role("link", name="Cached copy").focus()
    results.keyboard.press("Escape")
    assert menu.get_attribute("open") is None
    assert menu.locator("summary").evaluate("summary => summary === document.activeElement")
    menu.locator("summary").click()
    other = results.locator(".filters details.menu").first
    other.locator("summary").click()
    assert (menu.get_attribute("open"), other.get_attribute("open")) == (None, "")
    results.locator(".summary").click()
    assert other.get_attribute("open") is None


def test_the_reasons_open_below_the_result_and_close_again(results: Page) -> None:
    for expected in (1, 0):
        results.locator(".hit details.menu summary").first.click()
        results.get_by_role("link", name="Why this result?").first.click()
        if expected:
            results.locator(".hit .explained .why").wait_for()
        assert results.locator(".hit .explained").count() == expected
    assert results.url.endswith("/search?q=harbour")


def test_reasons_that_cannot_be_loaded_open_as_a_page(visit: BrowserContext, site: Site) -> None:
    page = visit.new_page()
    page.goto(f"{site.base}/search?q=harbour")
    page.locator("a[data-why]").first.evaluate("link => { link.href = '/why?q=harbour&url=https://nowhere.example/' }")
    page.locator(".hit details.menu summary").first.click()
    page.get_by_role("link", name="Why this result?").first.click()
    page.get_by_text("This page is not among the results of the query.").wait_for()
