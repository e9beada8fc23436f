"""In a real browser, boxes leave room for the results, can be read by everybody, and run no script."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from periplus.config import Serving
from periplus.model import FullText
from periplus.site.pages import Pages
from periplus.web import app as web
from periplus.web.boxes.box import Box, BoxMaker, Question
from periplus.web.boxes.calculator import Calculator
from periplus.web.boxes.definition import Definition
from periplus.web.boxes.time_box import TimeBox
from periplus.web.boxes.units import UnitConverter
from periplus.web.boxes.weather_box import WeatherBox
from periplus.web.weather.forecast import Forecast
from web.attacks import bare
from web.axe import SCHEMES, WIDTHS, Scheme, violations
from web.boxes.forecasts import FORECAST
from web.boxes.places import finder
from web.engines import HARBOUR, FakeEngine
from web.serving import Site, searching, serving
from web.test_browser_attacks import page as page
from web.test_browser_attacks import ran
from web.test_hostile import PAYLOADS
from web.test_journeys import COUNTS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

LONG = "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch"
KEEL = FullText(  # as long as a definition can be
    "https://ships.example/keel",
    "ships.example",
    "Keel - " + "A page with a long title " * 8,
    "en",
    f"A keel is a beam {'that runs along the bottom of a ship ' * 8}and bears it.",
)
VIEWS = {
    "weather": "/search?q=weather+in+paris",
    "time": "/search?q=time+in+paris",
    "calculator": "/search?q=2%5E100+%2B+1",
    "no result": "/search?q=1+/+0",
    "units": "/search?q=3+cups+in+ml",
    "definition": "/search?q=what+is+a+keel",
}
FOREVER = 3_600.0  # seconds
SCREENS = [(360, 640), (768, 1024), (1280, 720)]


class Always:
    """Has the same forecast for every place."""

    async def forecast(self, latitude: float, longitude: float) -> Forecast | None:
        return FORECAST


def makers(*names: str, **fields: str) -> list[BoxMaker]:
    places = finder(*names, **fields)
    return [TimeBox(places), WeatherBox(places, Always())]


def serve(monkeypatch: pytest.MonkeyPatch, found: list[BoxMaker]) -> None:
    monkeypatch.setattr(web, "box_makers", lambda settings, engine, queue: found)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    hits = [replace(HARBOUR, url=f"https://{number}.example/", host=f"{number}.example") for number in range(10)]
    engine = FakeEngine(
        hits=hits, total=1_234, counts=COUNTS, suggestion="weather in pairs", left_out=("in",), texts=(KEEL,)
    )
    places = makers("Paris", country=LONG, region="A region with a long name")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            web,
            "box_makers",
            lambda settings, engine, queue: [
                *places,
                Calculator(),
                UnitConverter(),
                Definition(engine, queue.work_if_free),
            ],
        )
        with searching(engine) as served:
            yield served


@pytest.mark.parametrize(("width", "height"), SCREENS)
def test_the_first_result_is_on_the_screen_below_every_box(
    browser: Browser, site: Site, width: int, height: int
) -> None:
    with browser.new_context(viewport={"width": width, "height": height}) as context:
        page = context.new_page()
        for name, path in VIEWS.items():
            page.goto(site.base + path)
            box = page.locator(".instant").bounding_box()
            title = page.locator(".hit h2").first.bounding_box()
            assert box is not None
            assert title is not None
            assert box["height"] <= 200, name
            assert title["y"] + title["height"] <= height, name
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name


@pytest.mark.parametrize("scheme", SCHEMES)
def test_everybody_can_read_the_boxes(browser: Browser, site: Site, scheme: Scheme) -> None:
    with browser.new_context(color_scheme=scheme, bypass_csp=True) as context:
        page = context.new_page()
        for path in VIEWS.values():
            page.goto(site.base + path)
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 860})
                assert violations(page, ".instant") == [], (path, width)


def test_no_box_makes_the_browser_ask_another_site(browser: Browser, site: Site) -> None:
    with browser.new_context() as context:
        page, asked = context.new_page(), list[str]()
        context.on("request", lambda request: asked.append(request.url))
        for path in VIEWS.values():
            page.goto(site.base + path, wait_until="networkidle")
            assert page.locator(".instant").count() == 1
    assert [url for url in asked if not url.startswith(f"{site.base}/")] == []


def _poisoned(values: Mapping[str, Any], payload: str) -> dict[str, Any]:
    kept = ("icon", "units")
    inner = {name: _poisoned(value, payload) for name, value in values.items() if isinstance(value, dict)}
    texts = {name: payload for name, value in values.items() if isinstance(value, str) and name not in kept}
    days = {"days": [_poisoned(day, payload) for day in values["days"]]} if "days" in values else {}
    others = {"others": [(f"/search?q={payload}", payload)]} if "others" in values else {}
    return {**values, **inner, **texts, **days, **others, "switch": f"/search?q={payload}"}


def made(maker: BoxMaker, query: str) -> Box:
    """The box of a query, made in a thread, because the browser occupies the event loop of this one."""
    with ThreadPoolExecutor(1) as pool:
        box = pool.submit(lambda: asyncio.run(maker.make(Question(query)))).result()
    assert box is not None
    return box


def poisoned_boxes() -> str:
    """Every box with every payload in every text."""
    pages, found = Pages(Path(web.__file__).parent / "templates"), []
    for maker, query in zip(makers("Aaa"), ("time in aaa", "weather in aaa"), strict=True):
        box = made(maker, query)
        found += [pages.render(box.template, box=_poisoned(box.values, payload)).decode() for payload in PAYLOADS]
    return "<!doctype html>" + "".join(found)


def test_no_payload_in_a_box_runs(page: Page) -> None:
    with serving(bare({"/": poisoned_boxes()})) as site:  # without the policy that would stop scripts
        page.goto(site.base)
        assert page.locator("section.instant").count() == 2 * len(PAYLOADS)
        assert page.locator("section.instant script, section.instant [onerror], section.instant svg").count() == 0
        assert ran(page) == []


class Late:
    """Is too late for the page, and ready for the script when the test says so."""

    name = "weather"

    def __init__(self) -> None:
        self.calls, self.ready = 0, threading.Event()

    async def make(self, question: Question) -> Box | None:
        """The box, at the second call."""
        self.calls += 1
        if self.calls == 1:
            await asyncio.sleep(FOREVER)
        await asyncio.to_thread(self.ready.wait, 5)
        return await makers("Paris")[1].make(Question("weather in paris"))


def test_a_late_box_is_added_when_it_is_ready(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    late = Late()
    late.ready.set()
    serve(monkeypatch, [late])
    with searching(FakeEngine()) as site:
        page.goto(f"{site.base}/search?q=weather+paris")
        page.locator("section.instant").wait_for(timeout=20_000)
        assert page.locator("section.instant").get_attribute("aria-label") == "Weather in Paris, Nowhere"
        assert ran(page) == []


def test_a_late_box_is_not_added_under_the_hands_of_a_reader(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    late = Late()
    serve(monkeypatch, [late])
    with searching(FakeEngine()) as site:
        page.goto(f"{site.base}/search?q=weather+paris")
        page.keyboard.press("j")
        late.ready.set()
        page.wait_for_timeout(300)
        assert page.locator("section.instant").count() == 0


def test_without_a_box_no_script_waits_for_one() -> None:
    with searching(FakeEngine(), Serving(boxes=[])) as site:
        assert "latebox" not in site.get("/search?q=weather+boston").text
        assert site.get("/box?q=weather+boston").status == 204
