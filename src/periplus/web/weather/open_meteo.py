"""Fetches forecasts from Open-Meteo, or from a server with the same interface.

The answer is data of a stranger: it is limited in size, and its numbers and dates are checked. No text of it is shown.
"""

from __future__ import annotations

from datetime import date, datetime
from itertools import starmap
from typing import Annotated
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from periplus.fetch.web_service import WebService
from periplus.web.weather.forecast import Conditions, Forecast, ForecastDay

_DAYS = 7
_CURRENT = "temperature_2m apparent_temperature relative_humidity_2m wind_speed_10m weather_code is_day"
_DAILY = "weather_code temperature_2m_max temperature_2m_min precipitation_probability_max"

_Celsius = Annotated[float, Field(ge=-120, le=80)]
_Percent = Annotated[int, Field(ge=0, le=100)]
_Code = Annotated[int, Field(ge=0, le=99)]
_Minute = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d$")]
_Date = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)


class _Current(_Strict):
    time: _Minute
    temperature_2m: _Celsius
    apparent_temperature: _Celsius
    relative_humidity_2m: _Percent
    wind_speed_10m: Annotated[float, Field(ge=0, le=500)]
    weather_code: _Code
    is_day: Annotated[int, Field(ge=0, le=1)]


class _Daily(_Strict):
    time: list[_Date] = Field(min_length=1, max_length=16)
    weather_code: list[_Code]
    temperature_2m_max: list[_Celsius]
    temperature_2m_min: list[_Celsius]
    precipitation_probability_max: list[_Percent | None]


class _Answer(_Strict):
    current: _Current
    daily: _Daily


class OpenMeteo:
    """Asks one server for forecasts."""

    def __init__(self, service: WebService) -> None:
        """*service*: the server, at its address such as `https://api.open-meteo.com`."""
        self._service = service

    async def forecast(self, latitude: float, longitude: float) -> Forecast | None:
        """The forecast; None when the server fails, or answers something else."""
        fields = {
            "latitude": f"{latitude:.2f}",
            "longitude": f"{longitude:.2f}",
            "current": _CURRENT.replace(" ", ","),
            "daily": _DAILY.replace(" ", ","),
            "timezone": "auto",
            "forecast_days": _DAYS,
        }
        body = await self._service.get(f"/v1/forecast?{urlencode(fields, safe=',')}")
        return read_forecast(body) if body is not None else None


def read_forecast(body: bytes) -> Forecast | None:
    """Reads the JSON of an answer; None when it does not have the documented form."""
    try:
        answer = _Answer.model_validate_json(body)
        daily = answer.daily
        days = zip(
            daily.time,
            daily.weather_code,
            daily.temperature_2m_max,
            daily.temperature_2m_min,
            daily.precipitation_probability_max,
            strict=True,
        )
        return Forecast(_conditions(answer.current), tuple(starmap(_day, days))[:_DAYS])
    except (ValidationError, ValueError):
        return None


def _day(day: str, code: int, highest: float, lowest: float, rain: int | None) -> ForecastDay:
    return ForecastDay(date.fromisoformat(day), code, highest, lowest, rain)


def _conditions(current: _Current) -> Conditions:
    return Conditions(
        at=datetime.fromisoformat(current.time),
        celsius=current.temperature_2m,
        feels_celsius=current.apparent_temperature,
        humidity=current.relative_humidity_2m,
        wind=current.wind_speed_10m,
        code=current.weather_code,
        is_day=bool(current.is_day),
    )
