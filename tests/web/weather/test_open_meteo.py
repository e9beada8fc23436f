"""The forecast of Open-Meteo is read strictly: anything unexpected is no forecast."""

from __future__ import annotations

import asyncio
import json
from datetime import date, datetime
from typing import Any

import pytest

from periplus.fetch.web_service import WebService
from periplus.web.weather.codes import sky
from periplus.web.weather.forecast import Forecast, ForecastDay
from periplus.web.weather.open_meteo import OpenMeteo, read_forecast
from web.boxes.open_meteo import ANSWER, OpenMeteoTwin, changed, weather_server


def ask(twin: OpenMeteoTwin) -> Forecast | None:
    with weather_server(twin):
        return asyncio.run(OpenMeteo(WebService(twin.address, 5.0)).forecast(42.358_43, -71.059_77))


def test_a_forecast_has_the_weather_now_and_of_a_week() -> None:
    twin = OpenMeteoTwin()
    found = ask(twin)
    assert found is not None
    assert (found.now.at, found.now.celsius, found.now.feels_celsius) == (datetime(2026, 11, 16, 14, 15), 8.4, 5.0)  # noqa: DTZ001
    assert (found.now.humidity, found.now.wind, found.now.code, found.now.is_day) == (71, 16.1, 61, True)
    assert found.days[0] == ForecastDay(date(2026, 11, 16), 61, 9.6, 3.1, 85)
    assert (len(found.days), found.days[6].rain_percent) == (7, None)


def test_only_the_coordinates_of_the_city_are_sent() -> None:
    twin = OpenMeteoTwin()
    ask(twin)
    (asked,) = twin.asked
    assert (asked["latitude"], asked["longitude"]) == ("42.36", "-71.06")
    assert (asked["timezone"], asked["forecast_days"]) == ("auto", "7")
    assert {*asked} == {"latitude", "longitude", "current", "daily", "timezone", "forecast_days"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("current", None),
        ("current", []),
        ("current.time", "<script>alert(1)</script>"),
        ("current.time", "2026-13-45T99:99"),
        ("current.time", 1),
        ("current.temperature_2m", "8"),
        ("current.temperature_2m", None),
        ("current.temperature_2m", 1e9),
        ("current.temperature_2m", True),
        ("current.weather_code", -1),
        ("current.weather_code", 1.5),
        ("current.relative_humidity_2m", 101),
        ("current.wind_speed_10m", -1),
        ("current.is_day", 2),
        ("daily", {}),
        ("daily.time", []),
        ("daily.time", ["2026-02-31"] * 7),
        ("daily.time", ["2026-11-16"] * 17),
        ("daily.weather_code", [1, 2]),
        ("daily.temperature_2m_max", ["1"] * 7),
        ("daily.temperature_2m_min", None),
        ("daily.precipitation_probability_max", [101] * 7),
    ],
)
def test_an_answer_of_another_form_is_no_forecast(path: str, value: Any) -> None:
    assert read_forecast(json.dumps(changed(path, value)).encode()) is None


@pytest.mark.parametrize(
    "body", [b"", b"{", b"null", b"[]", b"<html>", b"\xff", b'{"current":NaN}', b"[" * 50_000, b'{"error":true}']
)
def test_what_is_not_the_expected_json_is_no_forecast(body: bytes) -> None:
    assert read_forecast(body) is None


def test_a_number_that_is_not_finite_is_no_forecast() -> None:
    assert read_forecast(json.dumps(changed("current.temperature_2m", float("nan"))).encode()) is None
    assert read_forecast(json.dumps(changed("current.wind_speed_10m", float("inf"))).encode()) is None


def test_more_fields_do_not_matter() -> None:
    assert read_forecast(json.dumps(ANSWER | {"new": 1}).encode()) is not None


@pytest.mark.parametrize(
    "twin", [OpenMeteoTwin(status=429), OpenMeteoTwin(status=500), OpenMeteoTwin(body=b"x" * 99_999)]
)
def test_a_server_that_fails_gives_no_forecast(twin: OpenMeteoTwin) -> None:
    assert ask(twin) is None


def test_every_weather_code_has_words_and_an_icon() -> None:
    assert sky(0).icon == "sun"
    assert sky(0, is_day=False).icon == "moon"
    assert sky(61) == sky(61, is_day=False)
    assert sky(42).words == "Unknown"
