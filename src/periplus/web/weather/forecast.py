"""The interface that the weather box needs from a provider."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Conditions:
    """The weather now."""

    at: datetime  # local time of the place
    celsius: float
    feels_celsius: float
    humidity: int  # percent
    wind: float  # kilometres per hour
    code: int  # WMO weather code
    is_day: bool


@dataclass(frozen=True, slots=True)
class ForecastDay:
    """The weather of one day."""

    date: date
    code: int  # WMO weather code
    highest: float  # degrees Celsius
    lowest: float
    rain_percent: int | None  # probability of precipitation; None: not known


@dataclass(frozen=True, slots=True)
class Forecast:
    """The weather now and in the next days."""

    now: Conditions
    days: tuple[ForecastDay, ...]


class Weather(Protocol):
    """Called by the weather box; None leaves the box out."""

    async def forecast(self, latitude: float, longitude: float) -> Forecast | None:
        """The forecast for a place; never raises."""
        ...
