"""The weather of the place that a search names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from periplus.web.boxes.box import Box, Question
from periplus.web.boxes.boxes import Unavailable
from periplus.web.display import visible
from periplus.web.parameters import SearchParameters
from periplus.web.places.finder import PlaceFinder
from periplus.web.places.table import Place
from periplus.web.weather.codes import sky
from periplus.web.weather.forecast import Conditions, ForecastDay, Weather
from periplus.web.weather.stored import LIFETIME

_KM_PER_MILE = 1.609344


class WeatherBox:
    """Shows the weather now and in the next days."""

    name = "weather"

    def __init__(self, places: PlaceFinder, weather: Weather) -> None:
        self._places, self._weather = places, weather

    async def make(self, question: Question) -> Box | None:
        """The box of a search such as `weather boston` or `boston`."""
        asked = await self._places.find(question.query)
        if asked is None or asked.topic == "time":
            return None
        place = asked.place
        found = await self._weather.forecast(place.latitude, place.longitude)
        if found is None:
            raise Unavailable(place.name)
        imperial = question.imperial
        values = {
            "place": visible(place.label),
            "country": visible(place.country) if place.region else "",
            "now": _now(found.now, imperial=imperial),
            "days": [_day(day, imperial=imperial) for day in found.days],
            "others": other_places("weather", asked.others, imperial=imperial),
            "switch": _link(question.query, imperial=not imperial),
            "units": "imperial" if imperial else "metric",
        }
        return Box("boxes/weather.html", values, LIFETIME)


def other_places(word: str, places: Sequence[Place], *, imperial: bool = False) -> list[tuple[str, str]]:
    """Link and text of searches for the other places of the same name."""
    return [(_link(f"{word} {place.label}", imperial=imperial), visible(place.label)) for place in places]


def _link(query: str, *, imperial: bool) -> str:
    return f"{SearchParameters(query).link()}&units={'imperial' if imperial else 'metric'}"


def _now(now: Conditions, *, imperial: bool) -> dict[str, Any]:
    look = sky(now.code, is_day=now.is_day)
    wind = f"{now.wind / _KM_PER_MILE:.0f} mph" if imperial else f"{now.wind:.0f} km/h"
    return {
        "degrees": _degrees(now.celsius, imperial=imperial),
        "feels": _degrees(now.feels_celsius, imperial=imperial),
        "humidity": now.humidity,
        "wind": wind,
        "words": look.words,
        "icon": look.icon,
        "clock": f"{now.at:%H:%M}",
        "moment": f"{now.at:%Y-%m-%dT%H:%M}",
    }


def _day(day: ForecastDay, *, imperial: bool) -> dict[str, Any]:
    look = sky(day.code)
    return {
        "name": f"{day.date:%a}",
        "date": day.date.isoformat(),
        "words": look.words,
        "icon": look.icon,
        "highest": _degrees(day.highest, imperial=imperial),
        "lowest": _degrees(day.lowest, imperial=imperial),
        "rain": day.rain_percent,
    }


def _degrees(celsius: float, *, imperial: bool) -> str:
    """Whole degrees, with a real minus sign."""
    return f"{round(celsius * 1.8 + 32) if imperial else round(celsius)}".replace("-", "\N{MINUS SIGN}")
