"""The table of places is read once, beside the answers to other readers."""

from __future__ import annotations

import asyncio
import threading

from periplus.web.places.finder import PlaceFinder
from periplus.web.places.table import PlaceTable
from web.boxes.places import small_table


def test_readers_at_once_read_the_table_once() -> None:
    threads: list[threading.Thread] = []

    def load() -> PlaceTable:
        threads.append(threading.current_thread())
        return small_table("Aaa")

    async def main() -> None:
        finder = PlaceFinder(load)
        found = await asyncio.gather(*(finder.find("weather in aaa") for _ in range(5)))
        assert all(one is not None and one.place.name == "Aaa" for one in found)

    asyncio.run(main())
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()


def test_a_reader_who_stops_waiting_does_not_stop_the_reading() -> None:
    go_on = threading.Event()

    def load() -> PlaceTable:
        go_on.wait(5)
        return small_table("Aaa")

    async def main() -> None:
        finder = PlaceFinder(load)
        reader = asyncio.create_task(finder.find("aaa"))
        await asyncio.sleep(0)
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)
        go_on.set()
        assert await finder.find("weather in aaa") is not None

    asyncio.run(main())
