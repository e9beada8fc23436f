"""The time in the place that a search names."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from periplus.web.boxes.box import Box, Question
from periplus.web.boxes.weather_box import other_places
from periplus.web.display import visible
from periplus.web.places.finder import PlaceFinder

_LIFETIME = 30.0  # seconds


class TimeBox:
    """Shows time, date and the difference to UTC."""

    name = "time"

    def __init__(self, places: PlaceFinder, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._places, self._now = places, now

    async def make(self, question: Question) -> Box | None:
        """The box of a search such as `time in tokyo`; None also when the machine does not know the time zone."""
        asked = await self._places.find(question.query)
        if asked is None or asked.topic != "time":
            return None
        place = asked.place
        try:
            here = self._now().astimezone(ZoneInfo(place.zone))
        except (ZoneInfoNotFoundError, ValueError):
            return None
        offset = here.utcoffset() or timedelta()
        values = {
            "place": visible(place.label),
            "country": visible(place.country) if place.region else "",
            "clock": f"{here:%H:%M}",
            "moment": here.isoformat(timespec="minutes"),
            "day": f"{here:%A}, {here.day} {here:%B %Y}",
            "offset": _offset(offset),
            "difference": _difference(offset),
            "others": other_places("time", asked.others),
        }
        return Box("boxes/time.html", values, _LIFETIME)


def _offset(offset: timedelta) -> str:
    """Such as `UTC+5:30`."""
    minutes = int(offset.total_seconds() // 60)
    hours, rest = divmod(abs(minutes), 60)
    sign = "\N{MINUS SIGN}" if minutes < 0 else "+"
    return f"UTC{sign}{hours}{f':{rest:02}' if rest else ''}" if minutes else "UTC"


def _difference(offset: timedelta) -> str:
    """Such as `5.5 hours ahead of UTC`; empty for UTC itself."""
    hours = offset.total_seconds() / 3600
    if not hours:
        return ""
    unit = "hour" if abs(hours) == 1 else "hours"
    return f"{abs(hours):g} {unit} {'ahead of' if hours > 0 else 'behind'} UTC"
