"""A search that names a place shows its weather, and works as before when the weather does not come."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest
import turbohtml

from periplus.config import Serving
from periplus.web.boxes.box import Box, Question
from periplus.web.boxes.weather_box import WeatherBox
from periplus.web.weather.forecast import Forecast
from web.boxes.forecasts import FORECAST
from web.boxes.open_meteo import OpenMeteoTwin, changed, weather_server
from web.boxes.places import finder
from web.boxes.waiting import boxed
from web.engines import FakeEngine
from web.serving import Answer, Site, searching
from web.test_hostile import PAYLOADS


@pytest.fixture(scope="module")
def twin() -> Iterator[OpenMeteoTwin]:
    with weather_server() as server:
        yield server


@pytest.fixture(scope="module")
def site(twin: OpenMeteoTwin) -> Iterator[Site]:
    with searching(FakeEngine(fingerprint="one"), twin.settings()) as served:
        boxed(served, "weather paris")
        yield served


def boxes_of(answer: Answer) -> list[turbohtml.Element]:
    return answer.page.select("section.instant")


def test_a_search_for_the_weather_of_a_place_shows_it(site: Site) -> None:
    (box,) = boxes_of(boxed(site, "weather paris"))
    text = " ".join(box.text.split())
    assert box.attrs["aria-label"] == "Weather in Paris, France"
    for part in ("8°", "Light rain", "feels like 5°", "wind 16 km/h", "humidity 71 %", "14:15 local time"):
        assert part in text
    assert " ".join(item.select("time")[0].text for item in box.select("li")) == "Mon Tue Wed Thu Fri Sat Sun"
    assert "10° 3°" in " ".join(box.select("li")[0].text.split())


def test_the_source_of_the_weather_is_named(site: Site) -> None:
    (box,) = boxes_of(boxed(site, "weather paris"))
    (link,) = box.select("a[href^=http]")
    assert (link.text, link.attrs["href"]) == ("Weather data by Open-Meteo.com", "https://open-meteo.com/")


def test_other_places_of_the_name_are_one_click_away(site: Site) -> None:
    (box,) = boxes_of(boxed(site, "weather paris"))
    (link,) = [link for link in box.select("a") if "Texas" in link.text]
    (other,) = boxes_of(boxed(site, str(link.attrs["href"])))
    assert other.attrs["aria-label"] == "Weather in Paris, Texas"
    assert "United States" in other.text


def test_one_link_changes_the_units(site: Site) -> None:
    (box,) = boxes_of(boxed(site, "weather paris"))
    (link,) = box.select(".weather-units a")
    (imperial,) = boxes_of(boxed(site, str(link.attrs["href"])))
    assert "47°" in imperial.text
    assert "10 mph" in imperial.text
    (back,) = imperial.select(".weather-units a")
    assert str(back.attrs["href"]).endswith("units=metric")


def test_a_reader_who_prefers_imperial_units_gets_them(site: Site) -> None:
    cookie = {"Cookie": "settings=units-imperial"}
    assert "47°" in boxes_of(boxed(site, "weather paris", cookie))[0].text
    assert "8°" in boxes_of(boxed(site, "/search?q=weather+paris&units=metric", cookie))[0].text


def test_a_reader_can_hide_boxes(site: Site) -> None:
    assert not boxes_of(site.get("/search", {"Cookie": "settings=boxes-off"}, q="weather paris"))
    page = site.get("/settings", {"Cookie": "settings=boxes-off.units-imperial"}).page
    assert "checked" in page.select("input[name=boxes]")[0].attrs
    assert [option.text for option in page.select("#units option[selected]")] == ["Imperial: °F, mph"]


@pytest.mark.parametrize(
    "query",
    [
        "weather+paris&page=2",
        "weather+paris&lang=en",
        "weather+paris+site:example.org",
        "paris+agreement",
    ],
)
def test_other_pages_and_searches_have_no_box(site: Site, query: str) -> None:
    answer = site.get(f"/search?q={query}")
    assert not boxes_of(answer)
    assert answer.headers["cache-control"] == "private, no-cache"
    assert "etag" in answer.headers


def test_a_page_with_the_weather_is_neither_stored_nor_answered_from_memory(site: Site) -> None:
    for _ in range(3):
        answer = boxed(site, "weather paris")
        assert answer.headers["cache-control"] == "private, no-store"
        assert "etag" not in answer.headers
        assert "memory" not in answer.headers["server-timing"]


def test_the_api_asks_nobody(site: Site, twin: OpenMeteoTwin) -> None:
    asked = len(twin.asked)
    site.get("/api/search", q="weather lyon")
    site.get("/search.rss", q="weather lyon")
    assert len(twin.asked) == asked


@pytest.mark.parametrize(
    "settings", [{"boxes": []}, {"boxes": ["time"]}, {"weather_address": ""}], ids=["none", "time", "address"]
)
def test_the_owner_can_switch_the_weather_off(twin: OpenMeteoTwin, settings: dict[str, object]) -> None:
    asked = len(twin.asked)
    with searching(FakeEngine(), Serving.model_validate({"weather_address": twin.address} | settings)) as site:
        answers = [site.get("/search", q="weather oslo") for _ in range(3)]
    assert not any(boxes_of(answer) for answer in answers)
    assert len(twin.asked) == asked


@pytest.mark.parametrize(
    "twin",
    [
        OpenMeteoTwin(status=500),
        OpenMeteoTwin(status=429),
        OpenMeteoTwin(body=b"<html>"),
        OpenMeteoTwin(body=b"x" * 200_000),
        OpenMeteoTwin(answer=changed("current.time", PAYLOADS[0])),
        OpenMeteoTwin(redirect="/v1/forecast"),
        OpenMeteoTwin(seconds=1.5),
    ],
    ids=["error", "limit", "html", "huge", "hostile", "redirect", "slow"],
)
def test_without_weather_the_page_comes_at_once_and_without_a_box(twin: OpenMeteoTwin) -> None:
    with weather_server(twin), searching(FakeEngine(fingerprint="one"), twin.settings()) as site:
        seconds = []
        for _ in range(4):
            begun = time.monotonic()
            answer = site.get("/search", q="weather boston")
            seconds.append(time.monotonic() - begun)
            assert answer.status == 200
            assert answer.page.select(".hit")
            assert not boxes_of(answer)
            assert answer.headers["cache-control"] == "private, no-store"
        assert min(seconds) < 1.0  # the machine may be busy


def test_an_offline_site_answers_as_before() -> None:
    with weather_server() as gone:
        pass
    with searching(FakeEngine(), gone.settings()) as site:
        for _ in range(3):
            answer = site.get("/search", q="weather boston")
            assert (answer.status, boxes_of(answer)) == (200, [])


class Always:
    """Has the same forecast for every place."""

    async def forecast(self, latitude: float, longitude: float) -> Forecast | None:
        return FORECAST


def made(query: str, *places: str) -> Box | None:
    return asyncio.run(WeatherBox(finder(*places), Always()).make(Question(query)))


def test_a_question_about_the_time_gets_no_weather() -> None:
    assert made("time in aaa", "Aaa") is None
    assert made("weather in aaa", "Aaa") is not None


def test_a_place_name_loses_what_changes_the_direction_of_text() -> None:
    box = made("weather in a b", "A\u202eb")
    assert box is not None
    assert box.values["place"] == "Ab, Nowhere"
