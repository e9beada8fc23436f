"""Has the user told the supervisor to start the crawl again?"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field

from periplus.errors import PeriplusError
from periplus.store.catalog.live_state import Action, LiveState
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection


@dataclass(slots=True)
class StartOrders:
    """Reads the commands since `periplus up` began: the last of start, drain and stop counts."""

    collection: Collection
    is_wanted: bool = False
    _last: int = field(init=False)

    def __post_init__(self) -> None:
        with closing(open_catalog(self.collection, LiveState)) as live:
            self._last = live.last_command()

    def is_start_wanted(self) -> bool:
        """Whether the crawl is to start again as soon as it has ended."""
        try:
            with closing(open_catalog(self.collection, LiveState, read_only=True)) as live:
                given = live.commands_after(self._last)
        except PeriplusError:  # the catalog cannot be read now; the crawl says why
            return False
        for command in given:
            self._last = command.command_id
            if command.node in ("", self.collection.node) and command.action in (
                Action.START,
                Action.DRAIN,
                Action.STOP,
            ):
                self.is_wanted = command.action is Action.START
        return self.is_wanted
