"""In a real browser, sliders order the results exactly as the server does, and crawled text runs no script."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from periplus.model import FeatureRow, FeatureTable
from periplus.search.reload import ReloadingEngine
from periplus.search.scoring.rerank import LARGEST_WEIGHT, needed_weights, rerank, weights_of
from periplus.search.scoring.score import FEATURES
from search.library import Doc, index, settings, shelve
from web.axe import SCHEMES, WIDTHS, Scheme, violations_of
from web.engines import FakeEngine
from web.owning import owned, owner_files
from web.serving import Site, searching
from web.test_browser_attacks import CANARY, ran
from web.test_hostile import PAYLOADS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

QUERIES = ("harbour", "old harbour", "harbour light 7", "light site:big.test", "site:big.test")
VECTORS = 50
LIVE = "#weights[data-live]"
RANK = """async ([address, vectors]) => {
  const { rank } = await import(document.querySelector("script[src*=playground]").src);
  const data = await (await fetch(address)).json();
  return vectors.map((weights) => rank(data, weights).map((one) => [one.result.number, one.score, one.crowding]));
}"""


def docs() -> Iterator[Doc]:
    """Pages of one large host and some small ones; several are equal but for their URLs."""
    for number in range(130):
        host = "big.test" if number % 3 else f"h{number % 7}.test"
        title = f"Old harbour {number % 11}" if number % 5 == 0 else "Light"
        yield Doc(f"http://{host}/{number}", title, f"A harbour and a light. {'More words. ' * (number % 13)}")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReloadingEngine]:
    home: Path = tmp_path_factory.mktemp("home")
    collection = shelve(home, docs())
    index(collection)
    with closing(ReloadingEngine(collection, settings(ranking__candidates=40))) as found:
        yield found


@pytest.fixture(scope="module")
def site(engine: ReloadingEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with owned(owner_files(tmp_path_factory.mktemp("owner")), engine) as served:
        yield served


def vectors() -> Iterator[dict[str, float]]:
    """Random weights and the largest; some of them are equal or 0, so that there are ties."""
    chance = random.Random(7)
    for number in range(VECTORS):
        digits = number % 4
        weights = {name: round(chance.uniform(-5, 10), digits) for name in FEATURES}
        yield weights | {"crowding": round(chance.uniform(0, 2), 2), "per_host": chance.randint(1, 4)}
    for extreme in (LARGEST_WEIGHT, -LARGEST_WEIGHT, 1e-7, 0.0):
        yield dict.fromkeys(FEATURES, extreme) | {"crowding": LARGEST_WEIGHT, "per_host": 1}


def test_the_browser_computes_the_scores_and_the_order_of_the_server(
    browser: Browser, site: Site, engine: ReloadingEngine
) -> None:
    tried = list(vectors())
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{site.base}/playground?q=harbour")
        for query in QUERIES:
            table = engine.feature_table(query, 200)
            address = f"/api/v1/playground?q={query.replace(' ', '+')}"
            found: Any = page.evaluate(RANK, [address, tried])
            for weights, rows in zip(tried, found, strict=True):
                placed = rerank(table, weights_of(table).model_copy(update=weights))
                assert [number for number, _, _ in rows] == [one.row.number for one in placed]
                assert max(abs(row[1] - one.score) for row, one in zip(rows, placed, strict=True)) <= 1e-6
                assert max(abs(row[2] - one.crowding) for row, one in zip(rows, placed, strict=True)) <= 1e-6
            assert len(table.rows) > 80


def test_with_the_weights_of_the_site_the_browser_shows_the_results_of_the_search(browser: Browser, site: Site) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        for query in QUERIES:
            hits = site.get("/api/v1/search", q=query, size=100, explain=1).json["results"]
            page.goto(f"{site.base}/playground?q={query.replace(' ', '+')}&all=1")
            page.wait_for_selector(LIVE)
            scores = page.locator(".places .score").all_inner_texts()[: len(hits)]
            links = page.locator(".places h2 a").evaluate_all("links => links.map(link => link.href)")[: len(hits)]
            assert links == [hit["url"] for hit in hits]
            assert scores == [f"{hit['score']:.4f}" for hit in hits]


def test_the_playground_asks_no_other_site(browser: Browser, site: Site) -> None:
    with browser.new_context() as context:
        page, asked = context.new_page(), list[str]()
        context.on("request", lambda request: asked.append(request.url))
        page.goto(f"{site.base}/playground?q=old+harbour", wait_until="networkidle")
        page.locator("#w_title").fill("5")
        page.locator("a.need:visible").first.click()
        page.wait_for_selector("#needs")
    assert len(asked) > 3
    assert [url for url in asked if not url.startswith(f"{site.base}/")] == []


def titles(page: Page) -> list[str]:
    return page.locator(".places li:not([hidden])").all_inner_texts()


def test_a_slider_moves_the_results_and_the_link_shows_the_same_without_scripts(browser: Browser, site: Site) -> None:
    with browser.new_context() as context, browser.new_context(java_script_enabled=False) as plain:
        page, other = context.new_page(), plain.new_page()
        page.goto(f"{site.base}/playground?q=old+harbour")
        page.wait_for_selector(LIVE)
        usual = titles(page)
        slider = page.get_by_role("slider", name="Words in the title: slider")
        slider.focus()
        for _ in range(3):
            page.keyboard.press("PageUp")
        page.get_by_role("slider", name="Length: slider").press("Home")
        assert titles(page) != usual
        assert page.locator("#changes").inner_text().startswith("2 weights changed")
        assert page.locator("#w_length").input_value() == "-5"
        page.wait_for_url("**w=title:*length:-5")
        other.goto(page.url)
        assert titles(other) == titles(page)
        assert other.locator("#changes").inner_text() == page.locator("#changes").inner_text()
        assert page.locator("#save input[name=w]").input_value() in page.url
        page.get_by_role("link", name="Reset").click()
        assert titles(page) == usual
        other.get_by_label("Length", exact=True).fill("2.5")
        other.get_by_role("button", name="Order the results").click()
        assert "length:2.5" in other.url


def test_what_a_page_needs_is_shown_below_it(browser: Browser, site: Site, engine: ReloadingEngine) -> None:
    table = engine.feature_table("old harbour light", 200)
    weights = weights_of(table).model_copy(update={"title": 0.0})
    liftable = (one.row.number for one in rerank(table, weights)[5:] if needed_weights(table, weights, one.row.number))
    number = str(next(liftable))
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{site.base}/playground?q=old+harbour+light&w=title:0")
        page.wait_for_selector(LIVE)
        row = page.locator(f".places > li[data-number='{number}']")
        title = row.locator("h2").inner_text()
        row.locator("a.need").click()
        needs = row.locator("#needs")
        assert title in needs.locator("h2").inner_text()
        needs.locator(".needed a").first.click()
        page.wait_for_selector(LIVE)
        order = page.locator(".places > li").evaluate_all("rows => rows.map(row => row.dataset.number)")
        assert number in order[:3]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_playground_is_accessible_and_fits(browser: Browser, tmp_path: Path, width: int, scheme: Scheme) -> None:
    rows = [
        FeatureRow(
            f"http://{place}.test/", 0.0, {"text": 1.0, "title": 1.0 / (place + 1)}, 0.0, f"Page {place}", "", place
        )
        for place in range(7)
    ]
    engine = FakeEngine(table=FeatureTable({"text": 1.0}, tuple(rows), 0.1, 1))
    with owned(owner_files(tmp_path), engine) as site:
        views = {"moved": "/playground?q=harbour&w=title:-2&need=http://0.test/"}
        if (width, scheme) == (360, "light"):
            views["start"] = "/playground"
        assert violations_of(browser, site.base, views, width, scheme) == {}
        if scheme == "dark":
            return  # the same layout
        with browser.new_context(viewport={"width": width, "height": 860}) as context:
            page = context.new_page()
            page.goto(site.base + views["moved"])
            page.wait_for_selector(LIVE)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.get_by_role("slider").first.is_visible() == (width >= 992)


def test_no_payload_in_titles_addresses_or_the_query_runs(browser: Browser) -> None:
    half = len(PAYLOADS) // 2
    for payloads in (PAYLOADS[:half], PAYLOADS[half:]):
        rows = [
            FeatureRow(text, 0.0, {"text": 1.0 / (1 + place)}, 0.0, text, text, place)
            for place, text in enumerate(payloads)
        ]
        engine = FakeEngine(table=FeatureTable({"text": 1.0}, tuple(rows), 0.1, 1))
        with searching(engine) as site, browser.new_context() as context:
            context.add_init_script(CANARY)
            page = context.new_page()
            page.goto(
                f"{site.base}/playground?q=%3Cscript%3Ealert(1)%3C/script%3E%22%3E%3Cimg+src=x:+onerror=alert(1)%3E"
            )
            page.wait_for_selector(LIVE)
            page.locator("#w_text").fill("-3")
            page.locator("a.need:visible").nth(5).click()
            page.wait_for_selector("#needs")
            assert page.locator(".places > li").count() == len(payloads)
            assert ran(page) == []
