"""What does this site allow us, and since when do we know?"""

from __future__ import annotations

from collections import OrderedDict

from periplus.fetch.robots import Robots
from periplus.model import Response, RobotsFile
from periplus.store.catalog import Catalog

_REMEMBERED = 20_000


class RobotsShelf:
    """robots.txt files in memory, in front of those in the catalog; none is used past its age."""

    def __init__(self, catalog: Catalog, age: float) -> None:
        self._catalog = catalog
        self._age = age
        self._shelf: OrderedDict[str, tuple[float, Robots]] = OrderedDict()

    def find(self, origin: str, now: float) -> Robots | None:
        """The rules of an origin, or None when its robots.txt has to be fetched."""
        entry = self._shelf.get(origin)
        if entry is None:
            stored = self._catalog.robots(origin)
            # An unreachable robots.txt is asked for again by every run.
            if stored is None or is_unreachable(stored.status):
                return None
            entry = self._keep(stored)
        expires, rules = entry
        return rules if now < expires else None

    def put(self, origin: str, response: Response) -> tuple[RobotsFile, Robots]:
        """Keep what was fetched."""
        status = 0 if response.failure is not None else response.status  # half a file is none
        file = RobotsFile(origin, response.fetched_at, status, response.body)
        return file, self._keep(file)[1]

    def forget(self, origin: str) -> None:
        """Ask for the file again at the next occasion."""
        self._shelf.pop(origin, None)

    def _keep(self, file: RobotsFile) -> tuple[float, Robots]:
        entry = (file.fetched_at + self._age, Robots.for_status(file.status, file.body))
        self._shelf[file.origin] = entry
        if len(self._shelf) > _REMEMBERED:
            self._shelf.popitem(last=False)
        return entry


def is_unreachable(status: int) -> bool:
    """Whether an answer to the question for robots.txt leaves open what is allowed; 0 means that there was none."""
    return status in {0, 429} or status >= 500
