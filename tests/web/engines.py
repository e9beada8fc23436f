"""A fake search engine with fixed results for the tests of the site."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from periplus.model import CachedPage, Hit, Results

CRAWLED = 1_772_600_700.0  # 4 March 2026, 05:05 UTC

HARBOUR = Hit(
    url="https://harbours.example/mediterranean/ostia%20antica/?view=plan",
    title="Ostia: the harbour of Rome",
    snippet="Claudius had a new harbour dug north of the river mouth, and Trajan added a hexagonal basin to it.",
    highlights=((19, 26),),
    score=3.25,
    host="harbours.example",
    fetched_at=CRAWLED,
    mime="text/html",
    language="en",
    explain={"text": 2.0, "title_words": 1.0, "url_rank": 0.25},
)
ARCHIVED = CachedPage(HARBOUR.url, CRAWLED, "text/html", b"<!doctype html><title>Ostia</title><p>The harbour of Rome.")


@dataclass
class FakeEngine:
    """Returns the same hits for every query, and records the calls."""

    hits: Sequence[Hit] = (HARBOUR,)
    total: int | None = None
    exact: bool = True
    hints: tuple[str, ...] = ()
    understood: str | None = None
    excluded: tuple[str, ...] = ()
    archive: Mapping[str, CachedPage] = field(default_factory=lambda: {ARCHIVED.url: ARCHIVED})
    generation: int = 7
    documents: int = 12_345
    is_damaged: bool = False
    before: Callable[[], None] = lambda: None  # runs first: waits, or fails
    asked: list[dict[str, object]] = field(default_factory=list)

    def search(
        self, query: str, *, page: int = 1, size: int = 15, explain: bool = False, mode: str = "auto"
    ) -> Results:
        """A slice of the hits."""
        self.asked.append({"query": query, "page": page, "size": size, "explain": explain, "mode": mode})
        self.before()
        total = len(self.hits) if self.total is None else self.total
        shown = self.hits[(page - 1) * size : page * size]
        hits = tuple(hit if explain else dataclasses.replace(hit, explain={}) for hit in shown)
        understood = query if self.understood is None else self.understood
        steps = {"parse": 0.0002, "candidates": 0.0081, "odd name!": 0.001}
        told = (self.hints, steps, self.excluded)
        return Results(query, understood, total, self.exact, 0.0123, page, size, hits, *told)

    def cached(self, url: str) -> CachedPage | None:
        """The page, if it is in the archive."""
        self.before()
        return self.archive.get(url)
