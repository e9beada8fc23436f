"""How does a crawl begin, continue and end?

Why did a crawl lead nowhere?
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from periplus.config import Settings
from periplus.crawl.assignment import Assignment, Budget, Ending, RecrawlPolicy, Report
from periplus.crawl.clock import Clock, SteadyClock
from periplus.crawl.shared_state import Metric, SharedState
from periplus.crawl.supervisor import load_worker, run_workers
from periplus.errors import NoCollection, NothingToCrawl, UsageError
from periplus.fetch.certificates import certificate_authorities
from periplus.fetch.ip_limits import AddressTable
from periplus.model import Decision, UrlState
from periplus.store.catalog import Catalog
from periplus.store.cleanup import remove_unacknowledged
from periplus.store.collection import Collection, create_collection, open_collection
from periplus.store.run_summary import RunCounters, sum_of_rounds, sum_of_workers
from periplus.url import Canonicalizer, host_of, parse


def nothing_fetched(catalog: Catalog, seeds: Sequence[str], refusals: dict[str, Decision]) -> NothingToCrawl | None:
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


@dataclass(frozen=True, slots=True)
class Request:
    """What a crawl is asked to do."""

    home: Path
    settings: Settings
    seeds: Sequence[str] = ()
    budget: Budget = field(default_factory=Budget)
    workers: int = 1
    arguments: dict[str, Any] = field(default_factory=dict)  # as typed, kept with the run
    sitemaps: Sequence[str] = ()
    entries: Sequence[str] = ()  # addresses to ask again whenever nothing is left
    rounds: int | None = None  # None: links are followed as they are found
    agenda: RecrawlPolicy = field(default_factory=RecrawlPolicy)
    apart: bool = False  # a single worker, too, is a process of its own, so that a page cannot take the crawl down

    def canonical(self, canonicalizer: Canonicalizer) -> _Beginnings:
        """The addresses it names, each in its one spelling."""
        seeds, sitemaps, entries = (
            [parse(url, canonicalizer).text for url in urls] for urls in (self.seeds, self.sitemaps, self.entries)
        )
        return _Beginnings(seeds, sitemaps, entries)


@dataclass(frozen=True, slots=True)
class _Beginnings:
    """Where a crawl begins."""

    seeds: Sequence[str] = ()
    sitemaps: Sequence[str] = ()
    entries: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self.seeds or self.sitemaps or self.entries)


@dataclass(frozen=True, slots=True)
class Progress:
    """What a display may show while the crawl goes on."""

    summary: dict[str, Any]
    under_way: int  # requests
    buffered: int  # URLs that wait in memory
    hosts: int  # that have something waiting, or rest
    left: float | None = None  # seconds until a budget is spent, at the rate so far
    round: int | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """How a crawl ended."""

    ending: Ending
    summary: dict[str, Any]
    failure: NothingToCrawl | None  # when no seed led to a page
    kept: Sequence[Path] = ()  # files with pages of the archive that this catalog, an older copy, does not know


def crawl(request: Request, watch: Callable[[Progress], None] = lambda _: None, clock: Clock | None = None) -> Result:
    """Crawl until done, a budget is spent, or interrupted; everything acknowledged is kept in any case."""
    beginnings = request.canonical(Canonicalizer.of(request.settings.addresses))
    certificate_authorities(request.settings.fetch.ca_file)  # a file that is none is told before anything is made
    _require_sense(request)
    if not beginnings:
        _require_seeds(request.home)
    collection = create_collection(request.home)
    with collection.locked():
        return _Voyage(request, beginnings, collection, watch, clock or SteadyClock()).sail()


def _require_sense(request: Request) -> None:
    agenda = request.agenda
    if request.rounds and request.entries:
        raise UsageError("rounds and an entry do not go together", "an entry begins anew within the same round")
    if request.rounds and agenda.continuous:
        raise UsageError("rounds and a continuous crawl do not go together", "a continuous crawl has no last round")
    if agenda.new_only and (agenda.only or agenda.continuous):
        what = f"the class {agenda.only}" if agenda.only else "a continuous crawl"
        raise UsageError(f"only new pages and {what} do not go together", "no page would be asked for again")


def _require_seeds(home: Path) -> None:
    """Nothing is made in a folder for a crawl that has nowhere to begin."""
    try:
        open_collection(home)
    except NoCollection:
        raise _no_seed() from None


def _no_seed() -> UsageError:
    return UsageError("nothing to crawl", "no seed was given, now or before", "Name a URL: periplus crawl URL")


@dataclass(frozen=True, slots=True)
class _Leg:
    """One round of a run, or all of it."""

    ending: Ending
    summary: dict[str, Any]
    refusals: dict[str, Decision]  # of what it was to begin at
    known: int  # URLs of the collection when it ended
    fresh: int  # those that were new

    def report(self, number: int) -> dict[str, Any]:
        figures = {"fetched": self.summary["fetched"], "seconds": self.summary["seconds"]}
        return {"round": number, "known": self.known, "fresh": self.fresh, **figures}


class _Voyage:
    """One run: begun, sailed by its workers in one leg or several, ended."""

    def __init__(
        self,
        request: Request,
        beginnings: _Beginnings,
        collection: Collection,
        watch: Callable[[Progress], None],
        clock: Clock,
    ) -> None:
        self._request, self._beginnings = request, beginnings
        self._collection, self._watch = collection, watch
        self._clock = clock
        self._addresses = AddressTable(request.settings.politeness, request.workers)  # of all legs: delays go on
        self._legs: list[_Leg] = []
        self._kept: Sequence[Path] = ()

    def sail(self) -> Result:
        """Crawl to the end of the run."""
        with self._catalog() as catalog:
            if not self._beginnings and not catalog.seeds():
                raise _no_seed()
            self._begin(catalog)
        for number in range(self._request.rounds or 1):
            self._legs.append(self._sail_leg(self._beginnings if number == 0 else _Beginnings()))
            if self._legs[-1].ending is not Ending.DONE or not self._is_more_to_come(number + 1):
                break
        with self._catalog() as catalog:
            return self._end(catalog)

    def _begin(self, catalog: Catalog) -> None:
        self._kept = remove_unacknowledged(self._collection, catalog)
        previous = catalog.last_run()
        self._was_stopped = previous is not None and previous["outcome"] in ("running", Ending.INTERRUPTED)
        self._run_id = catalog.begin_run(self._request.arguments | {"rounds": self._request.rounds})
        if previous is not None and previous["arguments"].get("rounds"):
            catalog.release_held()
        catalog.pack_seen()
        was_done = previous is not None and previous["outcome"] == Ending.DONE  # else the same command just goes on
        catalog.requeue(self._beginnings.seeds, done_too=was_done)
        catalog.requeue_sitemaps(self._beginnings.sitemaps)
        if not self._request.settings.frontier.trap_fetches:
            catalog.requeue_trapped()
        counters = catalog.counters()
        self._budget = self._request.budget.for_collection(counters["fetched"], counters["bytes"])
        self._known = counters["known"]

    def _sail_leg(self, beginnings: _Beginnings) -> _Leg:
        started, done = self._clock.now(), self._so_far()
        request = self._request
        budget = self._budget.after(done["fetched"], done["bytes"], done["seconds"])
        assignment = Assignment(
            self._collection,
            request.settings,
            self._run_id,
            started,
            beginnings.seeds,
            beginnings.sitemaps,
            beginnings.entries,
            hold=request.rounds is not None,
            budget=budget,
            after_kill=self._was_stopped and not self._legs,
            agenda=request.agenda,
            clock=self._clock,
            addresses=self._addresses,
        )
        with closing(SharedState(request.workers, budget.pages)) as board:
            reports = self._crawl(assignment, board)
        with self._catalog() as catalog:
            known = catalog.counters()["known"]
        ending = max((report.ending for report in reports), key=list(Ending).index)
        refusals = {seed: refusal for report in reports for seed, refusal in report.refusals.items()}
        fresh, self._known = known - self._known, known
        return _Leg(ending, sum_of_workers([report.summary for report in reports]), refusals, known, fresh)

    def _crawl(self, assignment: Assignment, board: SharedState) -> list[Report]:
        def look() -> None:
            self._watch(self._progress(assignment, board))

        if board.workers == 1 and not self._request.apart:
            work = load_worker()
            return [work(assignment, board, 0, look)]
        return run_workers(assignment, board, look)

    def _is_more_to_come(self, rounds: int) -> bool:
        """Whether another round follows: one is left, and has something to fetch."""
        if rounds == (self._request.rounds or 1):
            return False
        with self._catalog() as catalog:
            catalog.end_round(self._run_id, self._so_far() | {"rounds": self._rounds()})
            return catalog.release_held() > 0

    def _end(self, catalog: Catalog) -> Result:
        counters = catalog.counters()
        summary = self._so_far() | {"known_urls": counters["known"], "queued": counters["queued"]}
        ending = self._legs[-1].ending
        if self._request.rounds is not None:
            summary["rounds"] = self._rounds()
            if ending is Ending.DONE and len(self._legs) == self._request.rounds and self._legs[-1].fresh:
                ending = Ending.BUDGET  # what the last round found waits for another run
        failure = None
        if not summary["fetched"] and ending is Ending.DONE:
            named = [*self._beginnings.seeds, *self._beginnings.sitemaps, *self._beginnings.entries]
            failure = nothing_fetched(catalog, named or catalog.seeds(), self._legs[0].refusals)
        catalog.end_run(self._run_id, "failed" if failure else ending.value, summary)
        return Result(ending, summary, failure, self._kept)

    def _rounds(self) -> list[dict[str, Any]]:
        return [leg.report(number) for number, leg in enumerate(self._legs, 1)]

    def _so_far(self) -> dict[str, Any]:
        """What the legs that have ended did together."""
        nothing = RunCounters(self._run_id, 0.0).summary(0.0)
        return sum_of_rounds([leg.summary for leg in self._legs]) if self._legs else nothing

    def _progress(self, assignment: Assignment, board: SharedState) -> Progress:
        done, now = self._so_far(), self._clock.now()
        seconds = max(now - assignment.started + done["seconds"], 1e-9)
        fetched = board.total(Metric.FETCHED) + done["fetched"]
        with self._catalog() as catalog:
            summary = RunCounters(self._run_id, assignment.started).summary(now) | catalog.progress(self._run_id)
        size = board.total(Metric.BYTES) + done["bytes"]
        summary |= {"fetched": fetched, "bytes": size, "seconds": round(seconds, 3)}
        summary["pages_per_second"] = round(fetched / seconds, 2)
        return Progress(
            summary,
            board.total(Metric.UNDER_WAY),
            board.total(Metric.BUFFERED),
            board.total(Metric.HOSTS),
            self._budget.left(fetched, size, seconds),
            len(self._legs) + 1 if self._request.rounds else None,
        )

    def _catalog(self) -> closing[Catalog]:
        """A connection for a moment: none is open when workers part from this process."""
        return closing(Catalog(self._collection.catalog, create=True))
