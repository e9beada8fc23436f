"""Keeps forecasts for 15 minutes, asks once per place at a time, and stops asking for a while after a failure."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable

from periplus.web.weather.forecast import Forecast, Weather

LIFETIME = 900.0  # seconds that a forecast is used
_MOST_PLACES = 1_000
_MOST_REQUESTS = 4  # at once
_FIRST_PAUSE, _LONGEST_PAUSE = 2.0, 600.0  # seconds without requests after one failure, and after many
_Key = tuple[float, float]


class StoredWeather:
    """A provider with a memory. A request goes on when its caller stops waiting, and its answer is stored."""

    def __init__(self, provider: Weather, clock: Callable[[], float] = time.monotonic) -> None:
        self._provider, self._clock = provider, clock
        self._stored: OrderedDict[_Key, tuple[float, Forecast]] = OrderedDict()  # with its time
        self._running: dict[_Key, asyncio.Task[Forecast | None]] = {}
        self._pause, self._paused_until = 0.0, 0.0

    async def forecast(self, latitude: float, longitude: float) -> Forecast | None:
        """The forecast, at most 15 minutes old."""
        key = round(latitude, 2), round(longitude, 2)
        stored = self._stored.get(key)
        if stored and self._clock() - stored[0] < LIFETIME:
            return stored[1]
        task = self._running.get(key)
        if task is None:
            if self._clock() < self._paused_until or len(self._running) >= _MOST_REQUESTS:
                return None
            task = self._running[key] = asyncio.create_task(self._request(key))
        return await asyncio.shield(task)

    async def _request(self, key: _Key) -> Forecast | None:
        try:
            found = await self._provider.forecast(*key)
        finally:
            del self._running[key]
        if found is None:
            self._pause = min(max(2 * self._pause, _FIRST_PAUSE), _LONGEST_PAUSE)
            self._paused_until = self._clock() + self._pause
        else:
            self._pause = 0.0
            self._store(key, found)
        return found

    def _store(self, key: _Key, forecast: Forecast) -> None:
        self._stored.pop(key, None)
        self._stored[key] = self._clock(), forecast
        if len(self._stored) > _MOST_PLACES:
            self._stored.popitem(last=False)
