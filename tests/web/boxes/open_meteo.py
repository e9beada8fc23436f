"""A weather server on this machine with the interface of Open-Meteo, which can also misbehave."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from periplus.config import Serving
from web.serving import serving

FIRST = date(2026, 11, 16)
ANSWER: dict[str, Any] = {
    "latitude": 42.36,
    "longitude": -71.06,
    "generationtime_ms": 0.1,
    "utc_offset_seconds": -18_000,
    "timezone": "America/New_York",
    "timezone_abbreviation": "GMT-5",
    "elevation": 14.0,
    "current_units": {
        "time": "iso8601",
        "interval": "seconds",
        "temperature_2m": "°C",
        "apparent_temperature": "°C",
        "relative_humidity_2m": "%",
        "wind_speed_10m": "km/h",
        "weather_code": "wmo code",
        "is_day": "",
    },
    "current": {
        "time": "2026-11-16T14:15",
        "interval": 900,
        "temperature_2m": 8.4,
        "apparent_temperature": 5,
        "relative_humidity_2m": 71,
        "wind_speed_10m": 16.1,
        "weather_code": 61,
        "is_day": 1,
    },
    "daily_units": {"time": "iso8601", "weather_code": "wmo code", "temperature_2m_max": "°C"},
    "daily": {
        "time": [(FIRST + timedelta(day)).isoformat() for day in range(7)],
        "weather_code": [61, 3, 2, 0, 73, 95, 45],
        "temperature_2m_max": [9.6, 11.2, 13.0, 7.5, 1.4, 4.0, 6.1],
        "temperature_2m_min": [3.1, 4.5, 5.0, -0.6, -4.2, -1.0, 0.4],
        "precipitation_probability_max": [85, 20, 5, 0, 70, 55, None],
    },
}


def changed(path: str, value: Any) -> dict[str, Any]:
    """The usual answer with another value at a path such as `current.time`."""
    answer = deepcopy(ANSWER)
    *parents, last = path.split(".")
    part: Any = answer
    for parent in parents:
        part = part[parent]
    part[last] = value
    return answer


@dataclass
class OpenMeteoTwin:
    """What the server answers, and what it was asked."""

    answer: Any = field(default_factory=lambda: deepcopy(ANSWER))
    status: int = 200
    body: bytes | None = None  # instead of the JSON of `answer`
    seconds: float = 0.0  # until it answers
    redirect: str = ""
    address: str = ""
    asked: list[dict[str, str]] = field(default_factory=list)

    async def forecast(self, request: Request) -> Response:
        """One answer."""
        self.asked.append(dict(request.query_params))
        await asyncio.sleep(self.seconds)
        if self.redirect:
            return RedirectResponse(self.redirect)
        if self.status != 200:
            return JSONResponse({"error": True, "reason": "Minutely API request limit exceeded."}, self.status)
        body = json.dumps(self.answer).encode() if self.body is None else self.body
        return Response(body, media_type="application/json; charset=utf-8")

    def settings(self, **others: Any) -> Serving:
        """Settings of a site that asks this server."""
        return Serving(weather_address=self.address, **others)


@contextmanager
def weather_server(twin: OpenMeteoTwin | None = None) -> Iterator[OpenMeteoTwin]:
    """Runs the server."""
    twin = twin or OpenMeteoTwin()
    with serving(Starlette(routes=[Route("/v1/forecast", twin.forecast)])) as site:
        twin.address = site.base
        yield twin
