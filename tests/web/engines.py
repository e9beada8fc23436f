"""A fake search engine with fixed results for the tests of the site."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from periplus.model import CachedPage, CollectionFacts, FeatureRow, FeatureTable, Hit, Results
from periplus.search.completion import Suggestion

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
    explain={"text": 2.0, "title": 1.0, "url_tail": 0.0, "rank": 0.25},
)
ARCHIVED = CachedPage(HARBOUR.url, CRAWLED, "text/html", b"<!doctype html><title>Ostia</title><p>The harbour of Rome.")

LANGUAGES = {"en": 9_000, "de": 3_000, "zh": 300, "other": 45}
FACTS = CollectionFacts(12_345, 45, LANGUAGES, CRAWLED, CRAWLED + 86_400, "0.1.0", 7)


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
    collection: CollectionFacts = FACTS
    generation: int = 7
    documents: int = 12_345
    is_damaged: bool = False
    fingerprint: str = ""  # the site stores no answers
    with_all_words: int | None = None  # None: all pages have them
    corrected: str = ""
    suggestion: str = ""
    before: Callable[[], None] = lambda: None  # runs first: waits, or fails
    completions: Sequence[Suggestion] = ()
    related_searches: Sequence[str] = ()
    related_asked: list[tuple[str, list[str]]] = field(default_factory=list)
    before_completion: Callable[[], object] = lambda: None
    asked: list[dict[str, object]] = field(default_factory=list)

    def search(
        self,
        query: str,
        *,
        page: int = 1,
        size: int = 15,
        explain: bool = False,
        mode: str = "auto",
        verbatim: bool = False,
    ) -> Results:
        """A slice of the hits."""
        self.asked.append(
            {"query": query, "page": page, "size": size, "explain": explain, "mode": mode, "verbatim": verbatim}
        )
        self.before()
        total = len(self.hits) if self.total is None else self.total
        shown = self.hits[(page - 1) * size : page * size]
        hits = tuple(hit if explain else dataclasses.replace(hit, explain={}) for hit in shown)
        return Results(
            query=query,
            understood=query if self.understood is None else self.understood,
            total=total,
            total_is_exact=self.exact,
            seconds=0.0123,
            page=page,
            size=size,
            hits=hits,
            hints=self.hints,
            steps={"parse": 0.0002, "candidates": 0.0081, "odd name!": 0.001},
            excluded=self.excluded,
            with_all_words=total if self.with_all_words is None else self.with_all_words,
            corrected="" if verbatim else self.corrected,
            suggestion="" if verbatim else self.suggestion,
        )

    def feature_table(self, query: str, most: int, *, mode: str = "auto", verbatim: bool = False) -> FeatureTable:
        """The same three results."""
        self.asked.append({"query": query, "most": most, "mode": mode, "verbatim": verbatim})
        rows = [FeatureRow(HARBOUR.url, 2.0 - number, {"text": 1.0}, -1.0 * number) for number in range(3)]
        return FeatureTable({"text": 2.0}, tuple(rows[:most]))

    def cached(self, url: str) -> CachedPage | None:
        """The page, if it is in the archive."""
        self.before()
        return self.archive.get(url)

    def complete(self, typed: str, most: int = 8) -> list[Suggestion]:
        """The same completions."""
        self.asked.append({"typed": typed, "most": most})
        self.before_completion()
        return list(self.completions)[:most]

    def related(self, query: str, urls: Sequence[str]) -> list[str]:
        """The same related searches."""
        self.related_asked.append((query, list(urls)))
        return list(self.related_searches)

    def facts(self) -> CollectionFacts:
        """The figures of the collection."""
        return self.collection
