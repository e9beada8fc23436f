"""Finds the place of a query; reads the table of places in a thread when the first query comes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from periplus.web.places.recognition import PlaceQuestion, recognise
from periplus.web.places.table import PlaceTable, place_table


class PlaceFinder:
    """Shared by the boxes about places."""

    def __init__(self, load: Callable[[], PlaceTable] = place_table) -> None:
        self._load = load
        self._table: PlaceTable | None = None

    async def find(self, query: str) -> PlaceQuestion | None:
        """The place that the whole query is about; None for most queries."""
        if self._table is None:
            self._table = await asyncio.to_thread(self._load)
        return recognise(query, self._table)
