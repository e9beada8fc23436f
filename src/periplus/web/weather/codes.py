"""Words and icons of the WMO weather codes that Open-Meteo uses."""

from __future__ import annotations

from typing import NamedTuple


class Sky(NamedTuple):
    """What a weather code means."""

    words: str
    icon: str  # a static file, without `weather-` and `.svg`


_UNKNOWN = Sky("Unknown", "cloud")
_BY_NIGHT = {"sun": "moon", "sun-cloud": "moon-cloud"}
_SKIES = {
    0: Sky("Clear", "sun"),
    1: Sky("Mainly clear", "sun"),
    2: Sky("Partly cloudy", "sun-cloud"),
    3: Sky("Overcast", "cloud"),
    45: Sky("Fog", "fog"),
    48: Sky("Freezing fog", "fog"),
    51: Sky("Light drizzle", "drizzle"),
    53: Sky("Drizzle", "drizzle"),
    55: Sky("Heavy drizzle", "drizzle"),
    56: Sky("Light freezing drizzle", "sleet"),
    57: Sky("Freezing drizzle", "sleet"),
    61: Sky("Light rain", "rain"),
    63: Sky("Rain", "rain"),
    65: Sky("Heavy rain", "rain"),
    66: Sky("Light freezing rain", "sleet"),
    67: Sky("Freezing rain", "sleet"),
    71: Sky("Light snow", "snow"),
    73: Sky("Snow", "snow"),
    75: Sky("Heavy snow", "snow"),
    77: Sky("Snow grains", "snow"),
    80: Sky("Light showers", "rain"),
    81: Sky("Showers", "rain"),
    82: Sky("Heavy showers", "rain"),
    85: Sky("Light snow showers", "snow"),
    86: Sky("Snow showers", "snow"),
    95: Sky("Thunderstorm", "thunder"),
    96: Sky("Thunderstorm with hail", "thunder"),
    99: Sky("Thunderstorm with heavy hail", "thunder"),
}


def sky(code: int, *, is_day: bool = True) -> Sky:
    """The words and the icon of a code."""
    found = _SKIES.get(code, _UNKNOWN)
    return found if is_day else Sky(found.words, _BY_NIGHT.get(found.icon, found.icon))
