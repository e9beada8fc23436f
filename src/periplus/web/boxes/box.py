"""The interface of the boxes above the results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Question:
    """A search that a box may answer."""

    query: str  # as typed
    imperial: bool = False  # the reader prefers imperial units


@dataclass(frozen=True, slots=True)
class Box:
    """A box of the result page."""

    template: str  # such as boxes/weather.html
    values: Mapping[str, Any]  # of the template, as `box`
    lifetime: float | None = None  # seconds that a page with this box may be stored; None: as long as its results


class BoxMaker(Protocol):
    """Makes one kind of box; called once per search, concurrently with it, on its first page.

    An error or a late answer leaves the box out.
    """

    name: str  # as in the setting `serve.boxes`

    async def make(self, question: Question) -> Box | None:
        """The box for a search; None for most searches."""
        ...
