"""How does a crawl begin, continue and end?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvloop

from periplus.config import Settings
from periplus.crawl.assembly import Assignment, Report, canonicalizer_of, work
from periplus.crawl.board import Board, Figure
from periplus.crawl.budget import Budget
from periplus.crawl.clock import SteadyClock
from periplus.crawl.recovery import clear_leftovers
from periplus.crawl.tally import Tally
from periplus.crawl.team import crawl_together
from periplus.crawl.worker import Ending
from periplus.errors import NoCollection, NothingToCrawl, UsageError
from periplus.fetch.addresses import AddressTable
from periplus.fetch.trust import certificate_authorities
from periplus.model import Decision, UrlState
from periplus.store.catalog import Catalog
from periplus.store.collection import Collection, create_collection, open_collection
from periplus.store.summaries import joined
from periplus.url import host_of, parse


@dataclass(frozen=True, slots=True)
class Request:
    """What a crawl is asked to do."""

    home: Path
    settings: Settings
    seeds: Sequence[str] = ()
    budget: Budget = field(default_factory=Budget)
    workers: int = 1
    arguments: dict[str, Any] = field(default_factory=dict)  # as typed, kept with the run


@dataclass(frozen=True, slots=True)
class Progress:
    """What a display may show while the crawl goes on."""

    summary: dict[str, Any]
    under_way: int
    buffered: int


@dataclass(frozen=True, slots=True)
class Result:
    """How a crawl ended."""

    ending: Ending
    summary: dict[str, Any]
    failure: NothingToCrawl | None  # when no seed led to a page


def crawl(request: Request, watch: Callable[[Progress], None] = lambda _: None) -> Result:
    """Crawl until done, a budget is spent, or interrupted; everything acknowledged is kept in any case."""
    canonicalizer = canonicalizer_of(request.settings)
    seeds = [parse(seed, canonicalizer).text for seed in request.seeds]
    certificate_authorities(request.settings.fetch.ca_file)  # a file that is none is told before anything is made
    if not seeds:
        _require_seeds(request.home)
    collection = create_collection(request.home)
    with collection.locked(), closing(Board(request.workers, request.budget.pages)) as board:
        return _Voyage(request, collection, seeds, board, watch).sail()


def _require_seeds(home: Path) -> None:
    """Nothing is made in a folder for a crawl that has nowhere to begin."""
    try:
        open_collection(home)
    except NoCollection:
        raise _no_seed() from None


def _no_seed() -> UsageError:
    return UsageError("nothing to crawl", "no seed was given, now or before", "Name a URL: periplus crawl URL")


class _Voyage:
    """One run: begun, sailed by its workers, ended."""

    def __init__(
        self,
        request: Request,
        collection: Collection,
        seeds: list[str],
        board: Board,
        watch: Callable[[Progress], None],
    ) -> None:
        self._request, self._collection, self._seeds = request, collection, seeds
        self._board, self._watch = board, watch
        self._clock = SteadyClock()

    def sail(self) -> Result:
        """Crawl to the end of the run."""
        started = self._clock.now()
        with self._catalog() as catalog:
            if not self._seeds and not catalog.seeds():
                raise _no_seed()
            assignment = self._begin(catalog, started)
        reports = self._crawl(assignment)
        with self._catalog() as catalog:
            return self._end(catalog, assignment.run_id, reports)

    def _begin(self, catalog: Catalog, started: float) -> Assignment:
        clear_leftovers(self._collection, catalog)
        previous = catalog.last_run()
        was_stopped = previous is not None and previous["outcome"] in ("running", Ending.INTERRUPTED)
        run_id = catalog.begin_run(self._request.arguments)
        catalog.pack_seen()
        was_done = previous is not None and previous["outcome"] == Ending.DONE  # else the same command just goes on
        catalog.requeue(self._seeds, done_too=was_done)
        request = self._request
        return Assignment(
            self._collection,
            request.settings,
            run_id,
            started,
            self._seeds,
            request.budget,
            after_kill=was_stopped,
            addresses=AddressTable(request.settings.politeness, request.workers),
        )

    def _crawl(self, assignment: Assignment) -> list[Report]:
        def look() -> None:
            self._watch(self._progress(assignment))

        if self._board.workers == 1:
            return [uvloop.run(work(assignment, self._board, 0, look))]
        return crawl_together(assignment, self._board, look)

    def _end(self, catalog: Catalog, run_id: int, reports: list[Report]) -> Result:
        ending = max((report.ending for report in reports), key=list(Ending).index)
        refusals = {seed: refusal for report in reports for seed, refusal in report.refusals.items()}
        counters = catalog.counters()
        summary = joined([report.summary for report in reports])
        summary |= {"known_urls": counters["known"], "queued": counters["queued"]}
        failure = None
        if not summary["fetched"] and ending is Ending.DONE:
            failure = _failure(catalog, self._seeds or catalog.seeds(), refusals)
        catalog.end_run(run_id, "failed" if failure else ending.value, summary)
        return Result(ending, summary, failure)

    def _progress(self, assignment: Assignment) -> Progress:
        board, seconds = self._board, max(self._clock.now() - assignment.started, 1e-9)
        fetched = board.total(Figure.FETCHED)
        with self._catalog() as catalog:
            summary = Tally(assignment.run_id, assignment.started).summary(self._clock.now())
            summary |= catalog.progress(assignment.run_id)
        summary |= {"fetched": fetched, "bytes": board.total(Figure.BYTES), "seconds": round(seconds, 3)}
        summary["pages_per_second"] = round(fetched / seconds, 2)
        return Progress(summary, board.total(Figure.UNDER_WAY), board.total(Figure.BUFFERED))

    @contextmanager
    def _catalog(self) -> Iterator[Catalog]:
        """A connection for a moment: none is open when workers part from this process."""
        catalog = Catalog(self._collection.catalog, create=True)
        try:
            yield catalog
        finally:
            catalog.close()


def _failure(catalog: Catalog, seeds: Sequence[str], refusals: dict[str, Decision]) -> NothingToCrawl | None:
    """What to say when nothing was fetched: whether any seed leads anywhere."""
    reasons = [(seed, reason) for seed in seeds if (reason := _obstacle(catalog, seed, refusals.get(seed)))]
    if len(reasons) < len(seeds) and catalog.counters()["fetched"]:
        return None
    why = "; ".join(f"{seed}: {reason}" for seed, reason in reasons[:3]) or "no seed led to a page"
    return NothingToCrawl("nothing was crawled", why, "`periplus inspect url URL` tells more.")


def _obstacle(catalog: Catalog, seed: str, refusal: Decision | None) -> str:
    """What keeps a seed from being fetched; empty when nothing does."""
    if refusal is not None:
        return f"refused by {refusal.reason} ({refusal.detail})"
    row = catalog.url(seed)
    if row is None or row["state"] == UrlState.DONE:
        return ""
    if row["state"] == UrlState.QUEUED:
        policy = catalog.policy(host_of(seed))
        return f"unreachable ({policy.why})" if policy and policy.why else "still queued"
    kind = "refused by" if row["state"] == UrlState.REFUSED else "failed with"
    return f"{kind} {row['reason']} ({row['detail']})"
