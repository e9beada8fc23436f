"""A forecast is asked for once in 15 minutes, and a provider that fails is left alone for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from periplus.web.weather import stored
from periplus.web.weather.forecast import Forecast
from periplus.web.weather.stored import StoredWeather
from web.boxes.forecasts import FORECAST


class Provider:
    """Counts requests; fails while it is offline, and answers when the gate is open."""

    def __init__(self) -> None:
        self.asked: list[tuple[float, float]] = []
        self.is_offline = False
        self.gate = asyncio.Event()
        self.gate.set()

    async def forecast(self, latitude: float, longitude: float) -> Forecast | None:
        self.asked.append((latitude, longitude))
        await self.gate.wait()
        return None if self.is_offline else FORECAST


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def run(scenario: Callable[[Provider, Clock, StoredWeather], Awaitable[None]]) -> None:
    async def main() -> None:
        provider, clock = Provider(), Clock()
        await scenario(provider, clock, StoredWeather(provider, clock))

    asyncio.run(main())


def test_a_forecast_is_used_for_15_minutes() -> None:
    async def scenario(provider: Provider, clock: Clock, weather: StoredWeather) -> None:
        for moment in (0.0, 1.0, 899.0):
            clock.now = 1_000.0 + moment
            assert await weather.forecast(42.358_4, -71.06) is FORECAST
        assert provider.asked == [(42.36, -71.06)]
        clock.now = 1_900.0
        await weather.forecast(42.36, -71.06)
        assert len(provider.asked) == 2

    run(scenario)


def test_readers_at_once_share_one_request() -> None:
    async def scenario(provider: Provider, clock: Clock, weather: StoredWeather) -> None:
        found = await asyncio.gather(*(weather.forecast(1.0, 2.0) for _ in range(20)))
        assert (found, len(provider.asked)) == ([FORECAST] * 20, 1)

    run(scenario)


def test_a_request_goes_on_when_its_reader_stops_waiting() -> None:
    async def scenario(provider: Provider, clock: Clock, weather: StoredWeather) -> None:
        provider.gate.clear()
        reader = asyncio.create_task(weather.forecast(1.0, 2.0))
        await asyncio.sleep(0)
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)
        provider.gate.set()
        assert await weather.forecast(1.0, 2.0) is FORECAST
        assert len(provider.asked) == 1

    run(scenario)


def test_an_offline_site_does_not_ask_at_every_search() -> None:
    async def scenario(provider: Provider, clock: Clock, weather: StoredWeather) -> None:
        provider.is_offline = True
        for second in range(3_600):
            clock.now = 1_000.0 + second
            assert await weather.forecast(float(second % 90), 2.0) is None
        assert 8 <= len(provider.asked) <= 20
        provider.is_offline = False
        clock.now += 600
        assert await weather.forecast(1.0, 2.0) is FORECAST
        assert await weather.forecast(3.0, 4.0) is FORECAST

    run(scenario)


def test_a_stored_forecast_is_shown_while_the_provider_fails() -> None:
    async def scenario(provider: Provider, clock: Clock, weather: StoredWeather) -> None:
        await weather.forecast(1.0, 2.0)
        provider.is_offline = True
        assert await weather.forecast(3.0, 4.0) is None
        assert await weather.forecast(1.0, 2.0) is FORECAST

    run(scenario)


def test_requests_at_once_and_stored_places_are_limited() -> None:
    async def scenario(provider: Provider, clock: Clock, weather: StoredWeather) -> None:
        provider.gate.clear()
        readers = [asyncio.create_task(weather.forecast(float(number), 0.0)) for number in range(20)]
        for _ in range(5):
            await asyncio.sleep(0)
        assert len(provider.asked) == stored._MOST_REQUESTS
        provider.gate.set()
        assert sum(found is FORECAST for found in await asyncio.gather(*readers)) == stored._MOST_REQUESTS
        for number in range(stored._MOST_PLACES + 50):
            await weather.forecast(number / 100, 1.0)
        assert len(weather._stored) == stored._MOST_PLACES

    run(scenario)
