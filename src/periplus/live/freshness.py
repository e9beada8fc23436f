"""How long does a page take from its fetch until it can be searched, and which pages still wait?"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from collections.abc import Collection as Names
from contextlib import closing
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from pyarrow import ArrowException, parquet

from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.queries import Queries
from periplus.store.collection import Collection

_RECENT = 20_000  # pages whose times are kept


@dataclass(frozen=True, slots=True)
class Freshness:
    """The state of the pages at one time."""

    waiting: int = 0  # acknowledged pages that cannot be searched yet
    sealed: int = 0  # those of them that are in segments
    oldest_age: float = 0.0  # seconds since the first of them was fetched; 0: none waits
    p95: float = 0.0  # seconds from fetch to searchable, of pages that became searchable recently
    newest: float = 0.0  # when the newest searchable page was fetched; 0: not known


@dataclass(frozen=True, slots=True)
class _Published:
    """Pages of a generation that the site may not have opened yet."""

    generation: int
    fetched: NDArray[np.float64]
    at: float  # when it was published


class FreshnessMeter:
    """Knows which segments are searchable; may be used from several threads."""

    def __init__(self, collection: Collection, since: float, served: Callable[[], int | None]) -> None:
        """*since*: pages fetched before are not counted in p95. *served*: the generation of the site; None: no site."""
        self._collection, self._since, self._served = collection, since, served
        self._lock = Lock()
        self._searchable: frozenset[str] = frozenset()
        self._published: deque[_Published] = deque()
        self._seconds: deque[float] = deque(maxlen=_RECENT)
        self._newest = 0.0
        self._times: dict[str, NDArray[np.float64]] = {}  # by segment, while its pages wait

    @property
    def searchable(self) -> frozenset[str]:
        """The names of the segments whose pages can be searched."""
        return self._searchable

    def indexed(self, names: Names[str], generation: int) -> int:
        """The pages of these segments are in a published generation; returns how many are new there."""
        with self._lock:
            new = [self._times_of(name) for name in set(names) - self._searchable]
            self._searchable = frozenset(names)
            fetched = np.concatenate([*new, np.empty(0)])
            self._published.append(_Published(generation, fetched, time.time()))
        return len(fetched)

    def merged(self, names: Names[str]) -> None:
        """The searchable pages are in segments with other names now."""
        with self._lock:
            self._searchable = frozenset(names)

    def measure(self) -> Freshness:
        """Count the pages that wait."""
        with closing(open_catalog(self._collection, Queries, read_only=True)) as catalog:
            segments = catalog.segments("pages")
            unsealed, first = catalog.unsealed_pages()
        with self._lock:
            self._note_served()
            new = [segment for segment in segments if segment.name not in self._searchable]
            self._times = {segment.name: self._times_of(segment.name) for segment in new}
            firsts = [times.min() for times in self._times.values() if len(times)]
            oldest = min([*firsts, *([first] if first is not None else [])], default=None)
            sealed = sum(segment.rows for segment in new)
            p95 = float(np.percentile(np.array(self._seconds), 95)) if self._seconds else 0.0
        age = max(time.time() - oldest, 0.0) if oldest is not None else 0.0
        return Freshness(sealed + unsealed, sealed, age, p95, self._newest)

    def _note_served(self) -> None:
        """Note how long the pages took of the generations that the site has opened since the last call."""
        served = self._served() if self._published else None
        while self._published and (served is None or served >= self._published[0].generation):
            one = self._published.popleft()
            at = time.time() if served is not None else one.at
            recent = one.fetched[one.fetched >= self._since]
            self._seconds.extend((at - recent).tolist())
            self._newest = max(self._newest, float(one.fetched.max(initial=0.0)))

    def _times_of(self, name: str) -> NDArray[np.float64]:
        """When the pages of a segment were fetched; empty when the segment was replaced meanwhile."""
        if name not in self._times:
            try:
                table = parquet.read_table(self._collection.segments / name, columns=["fetched_at"])
            except (ArrowException, OSError):
                return np.empty(0)
            return np.asarray(table["fetched_at"].to_numpy(), np.float64)
        return self._times[name]
