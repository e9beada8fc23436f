"""Finds the place of a query; a thread reads the table of places when the first query comes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from periplus.web.places.recognition import PlaceQuestion, recognise
from periplus.web.places.table import PlaceTable, place_table


class PlaceFinder:
    """Shared by the boxes about places."""

    def __init__(self, load: Callable[[], PlaceTable] = place_table) -> None:
        self._load = load
        self._loading: asyncio.Future[PlaceTable] | None = None

    async def find(self, query: str) -> PlaceQuestion | None:
        """The place that the whole query is about; None for most queries.

        The table is read once, also when the first caller stops waiting.
        """
        if self._loading is None:
            self._loading = asyncio.ensure_future(asyncio.to_thread(self._load))
        return recognise(query, await asyncio.shield(self._loading))
