"""A fake search engine with fixed results for the tests of the site."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from periplus.config import Parsing
from periplus.inspector.page_records import (
    PageFacts,
    PageLink,
    PageRank,
    PageText,
    PageVersion,
    SiteFacts,
)
from periplus.model import (
    CachedPage,
    CollectionFacts,
    Explanation,
    FacetCounts,
    FeatureRow,
    FeatureTable,
    FullText,
    Hit,
    MediaHit,
    MediaResults,
    Results,
    SiteBoosts,
)
from periplus.parse.charset import decode
from periplus.parse.html.profiles import Profiles
from periplus.parse.html.reader_view import html_view, text_view
from periplus.search.missing_shards import note_missing
from periplus.search.suggest.completion import Suggestion
from periplus.web.engine_port import Engine

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
COLLECTION = CollectionFacts(12_345, 45, LANGUAGES, CRAWLED, CRAWLED + 86_400, "0.1.0", 7)


def explained(hit: Hit) -> Explanation:
    """The explanation of a hit: every feature has the weight 0.5."""
    return Explanation(
        url=hit.url,
        title=hit.title,
        score=hit.score,
        parts=hit.explain,
        features={name: 2 * part for name, part in hit.explain.items()},
        weights=dict.fromkeys(hit.explain, 0.5),
        words=4,
        words_in={"title": 3, "headings": 2, "anchors": 1, "url": 1, "body": 4, "page": 4},
        lower_ranks=0.974,
        same_content=hit.same_content,
    )


def _boosts(site_boosts: SiteBoosts) -> dict[str, object]:
    return {"site_boosts": site_boosts} if site_boosts else {}


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
    collection: CollectionFacts = COLLECTION
    generation: int = 7
    documents: int = 12_345
    is_damaged: bool = False
    fingerprint: str = ""  # the site stores no answers
    with_all_words: int | None = None  # None: all pages have them
    corrected: str = ""
    suggestion: str = ""
    left_out: tuple[str, ...] = ()
    missing_shards: tuple[int, ...] = ()  # of four, for `search` and `media`
    silent: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # shards that miss a call, by its name
    counts: FacetCounts = field(default_factory=FacetCounts)
    found_by: Mapping[str, int] = field(default_factory=dict)  # number of results by query, for `count`
    texts: Sequence[FullText] = ()
    words: Sequence[str] = ("ostia", "claudius")
    before: Callable[[], None] = lambda: None  # runs first: waits, or fails
    completions: Sequence[Suggestion] = ()
    related_searches: Sequence[str] = ()
    related_asked: list[tuple[str, list[str]]] = field(default_factory=list)
    before_completion: Callable[[], object] = lambda: None
    news_hits: Sequence[Hit] = ()
    images: Sequence[MediaHit] = ()
    videos: Sequence[MediaHit] = ()
    exact_media: bool = True
    tabs_asked: list[dict[str, object]] = field(default_factory=list)  # calls of `news`, `media` and their counts
    asked: list[dict[str, object]] = field(default_factory=list)
    table: FeatureTable | None = None

    def search(
        self,
        query: str,
        *,
        page: int = 1,
        size: int = 15,
        explain: bool = False,
        mode: str = "auto",
        verbatim: bool = False,
        site_boosts: SiteBoosts = (),
    ) -> Results:
        """A slice of the hits."""
        self.asked.append(
            {"query": query, "page": page, "size": size, "explain": explain, "mode": mode, "verbatim": verbatim}
            | _boosts(site_boosts)
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
            left_out=self.left_out,
            missing_shards=self.missing_shards,
            shards=4,
        )

    def facets(
        self, query: str, *, mode: str = "auto", dates: Sequence[str] = (), hosts: Sequence[str] = ()
    ) -> FacetCounts:
        """The fixed counts; those of dates are in the order of the dates."""
        self.asked.append({"facets": query, "mode": mode, "hosts": list(hosts)})
        self._miss("facets")
        newer = tuple((date, count) for date, (_, count) in zip(dates, self.counts.newer, strict=False))
        return dataclasses.replace(self.counts, newer=newer)

    def count(self, query: str, *, mode: str = "auto") -> int:
        """The number that is given for the query."""
        self.asked.append({"count": query, "mode": mode})
        self._miss("count")
        return self.found_by.get(query, 0)

    def news(self, query: str, *, page: int = 1, size: int = 15, mode: str = "auto", verbatim: bool = False) -> Results:
        """A slice of the news."""
        self.tabs_asked.append({"news": query, "page": page, "size": size, "mode": mode, "verbatim": verbatim})
        self.before()
        hits, total = tuple(self.news_hits[(page - 1) * size : page * size]), len(self.news_hits)
        return Results(query, query, total, True, 0.004, page, size, hits, with_all_words=total)

    def count_news(self, query: str, *, mode: str = "auto") -> int:
        """The number of news."""
        self.tabs_asked.append({"count_news": query, "mode": mode})
        self._miss("count_news")
        return len(self.news_hits)

    def media(self, query: str, kind: str, *, page: int = 1, size: int = 30, mode: str = "auto") -> MediaResults:
        """A slice of the images or videos."""
        self.tabs_asked.append({"media": query, "kind": kind, "page": page, "size": size, "mode": mode})
        self.before()
        found = {"image": self.images, "video": self.videos}[kind]
        shown = tuple(found[(page - 1) * size : page * size])
        return MediaResults(len(found), self.exact_media, 0.003, shown, self.missing_shards, 4)

    def count_media(self, query: str, kind: str, *, mode: str = "auto") -> int:
        """The number of images or videos."""
        self.tabs_asked.append({"count_media": query, "kind": kind, "mode": mode})
        self._miss("count_media")
        return len({"image": self.images, "video": self.videos}[kind])

    def explanation(
        self, query: str, url: str, *, mode: str = "auto", verbatim: bool = False, site_boosts: SiteBoosts = ()
    ) -> Explanation | None:
        """The parts of the score of a hit."""
        self.asked.append({"explained": query, "mode": mode, "verbatim": verbatim} | _boosts(site_boosts))
        hit = next((hit for hit in self.hits if hit.url == url), None)
        return explained(hit) if hit else None

    def page_words(self, url: str) -> list[str]:
        """The same words for every hit."""
        return list(self.words) if any(hit.url == url for hit in self.hits) else []

    def best_texts(self, query: str, most: int) -> list[FullText]:
        """The texts that the test gave."""
        self.asked.append({"texts": query, "most": most})
        self._miss("best_texts")
        return list(self.texts)[:most]

    def feature_table(
        self, query: str, most: int, *, mode: str = "auto", verbatim: bool = False, site_boosts: SiteBoosts = ()
    ) -> FeatureTable:
        """The table that the test gave, or the same three results."""
        self.asked.append({"query": query, "most": most, "mode": mode, "verbatim": verbatim} | _boosts(site_boosts))
        self._miss("feature_table")
        rows = [
            FeatureRow(HARBOUR.url, 2.0 - place, {"text": 1.0}, -1.0 * place, HARBOUR.title, HARBOUR.host, place)
            for place in range(3)
        ]
        return self.table or FeatureTable({"text": 2.0}, tuple(rows[:most]), 1.0, 1)

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
        self._miss("related")
        return list(self.related_searches)

    def facts(self) -> CollectionFacts:
        """The figures of the collection."""
        self._miss("facts")
        return self.collection

    def _miss(self, name: str) -> None:
        note_missing(self.silent.get(name, ()))


PROFILES = Profiles(Parsing().profiles)
FACTS = PageFacts(
    url=HARBOUR.url,
    host=HARBOUR.host,
    site_name="Harbours",
    title=HARBOUR.title,
    opening="Ostia was the harbour of Rome.",
    headings=("The basin", "Ships - and ropes"),
    mime="text/html",
    language="en",
    fetched_at=CRAWLED,
    published=CRAWLED - 86_400.0,
    modified=None,
    same_content=("https://mirror.example/ostia",),
    link_count=12,
    anchors=("ostia", "the harbour of rome"),
    rank=PageRank(0.000_123, 97.3, 1_234),
    versions=(PageVersion(CRAWLED - 172_800.0, CRAWLED - 86_400.0, 3, 900), PageVersion(CRAWLED, CRAWLED, 1, 12_345)),
)
SITE = SiteFacts(
    "harbours.example",
    "Harbours",
    42,
    PageLink(HARBOUR.url, HARBOUR.title),
    CRAWLED,
    (PageLink("https://harbours.example/", "Harbours"), PageLink("javascript:alert(1)", "Odd")),
)


@dataclass
class FakeLibrary:
    """Has the pages of a fake engine, and the versions and facts that a test gives it."""

    engine: Engine
    older: Mapping[float, CachedPage] = field(default_factory=dict)  # by time
    page_facts: Mapping[str, PageFacts] = field(default_factory=lambda: {FACTS.url: FACTS})
    sites: Mapping[str, SiteFacts] = field(default_factory=lambda: {SITE.host: SITE})
    history: tuple[PageVersion, ...] = FACTS.versions
    asked: list[tuple[object, ...]] = field(default_factory=list)

    def text(self, url: str, query: str = "", at: float | None = None) -> PageText | None:
        """The text of the page; the words of the query are marked."""
        self.asked.append((url, query, at))
        page = self.engine.cached(url) if at is None else self.version(url, at)
        if page is None:
            return None
        text = decode(page.body, page.charset)
        view = html_view(text, url, PROFILES) if page.mime == "text/html" else text_view(text, page.mime, ())
        words = "|".join(map(re.escape, query.split())) or "(?!)"
        spans = [tuple(found.span() for found in re.finditer(words, block.text)) for block in view.blocks]
        return PageText(page.url, page.fetched_at, page.mime, "en", view, tuple(spans) if query else ())

    def version(self, url: str, at: float) -> CachedPage | None:
        """The older page of that time."""
        page = self.older.get(at)
        return dataclasses.replace(page, url=url) if page is not None and self.engine.cached(url) else None

    def versions(self, url: str) -> tuple[PageVersion, ...]:
        """The same versions for every page."""
        return self.history if self.engine.cached(url) else ()

    def facts(self, url: str) -> PageFacts | None:
        """The facts, if the test gave any."""
        return self.page_facts.get(url)

    def site(self, host: str) -> SiteFacts | None:
        """The site, if the test gave one."""
        return self.sites.get(host)
