"""What a view can read: the catalog, its lists, the live state and the settings of one collection."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from periplus.config import Configuration, Settings, load
from periplus.control.state import CrawlState, crawl_state
from periplus.inspector.alerts import Alert
from periplus.inspector.crawl_figures import crawl_alerts
from periplus.model import Results
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.listings import Listings
from periplus.store.catalog.live_state import LiveState
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection, open_collection

Query = Mapping[str, str]  # the parameters of a request


class Ranker(Protocol):
    """Searches, so that the inspector can say at which place a page is. The search engine implements it."""

    def search(self, query: str, *, page: int = 1, size: int = 15) -> Results:
        """One page of results."""
        ...


class Reader:
    """The read access of one request; every file is opened when it is first used."""

    def __init__(self, home: Path, stack: ExitStack) -> None:
        self.home, self._stack = home, stack
        self.now = time.time()

    @cached_property
    def collection(self) -> Collection:
        """The folder of the collection."""
        return open_collection(self.home)

    @cached_property
    def configuration(self) -> Configuration:
        """The settings now, and where each value comes from."""
        return load(self.home)

    @property
    def settings(self) -> Settings:
        """The settings now."""
        return self.configuration.settings

    @cached_property
    def catalog(self) -> Catalog:
        """The database, for reading only."""
        catalog = open_catalog(self.collection, read_only=True)
        self._stack.callback(catalog.close)
        return catalog

    @cached_property
    def listings(self) -> Listings:
        """The lists of hosts, errors, refusals, seeds and traps."""
        listings = open_catalog(self.collection, Listings, read_only=True)
        self._stack.callback(listings.close)
        return listings

    @cached_property
    def state(self) -> CrawlState:
        """What runs now, and which commands are not carried out yet."""
        return crawl_state(self.collection)

    @cached_property
    def live(self) -> LiveState:
        """Processes, commands and samples."""
        live = open_catalog(self.collection, LiveState, read_only=True)
        self._stack.callback(live.close)
        return live


Alerts = Callable[[Reader], list[Alert]]


@dataclass(frozen=True, slots=True)
class Sources:
    """What the console shows and directs."""

    home: Path  # of the collection
    ranker: Ranker | None = None  # None: the console cannot search
    reload: Callable[[], None] = lambda: None  # makes the search site open the live generation
    alerts: Alerts = lambda reader: crawl_alerts(reader.collection, reader.settings.console)

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """Read access for one request."""
        with ExitStack() as stack:
            yield Reader(self.home, stack)


View = Callable[[Sources, Reader, Query], dict[str, Any]]
