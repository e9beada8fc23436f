"""Runs a crawl from its request to its result: begins the run in the catalog, crawls its rounds, ends the run.

`nothing_fetched` explains a crawl that fetched no page.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from periplus.config import Settings
from periplus.crawl.assignment import Assignment, Budget, Ending, RecrawlPolicy, Report
from periplus.crawl.clock import Clock, SteadyClock
from periplus.crawl.coordination.fleet_coordination import Target, coordination_of
from periplus.crawl.coordination.shared_state import Metric, SharedState
from periplus.crawl.workers.supervisor import load_worker, pause_after, run_workers
from periplus.errors import DatabaseUnavailable, NoCollection, NothingToCrawl, UsageError
from periplus.fetch.certificates import certificate_authorities
from periplus.fetch.ip_limits import AddressTable
from periplus.model import Decision, Reason, UrlState
from periplus.store.block_list import BlockList
from periplus.store.catalog.batch import ForwardedUrl
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.live_state import LiveState, Role
from periplus.store.catalog.open_catalog import block_list_of, open_catalog, require_sound
from periplus.store.catalog.run_summary import RunCounters, sum_of_rounds, sum_of_workers
from periplus.store.catalog.user_changes import UserChanges
from periplus.store.cleanup import remove_unacknowledged
from periplus.store.collection import Collection, create_collection, open_collection
from periplus.store.shares import share_of
from periplus.url import Canonicalizer, host_of, parse

logger = logging.getLogger("periplus.crawl")

_Result = TypeVar("_Result")
_BEGIN_SECONDS = 60.0  # to wait for the database of the fleet at the start of a node
_END_SECONDS = 600.0  # at its end, when all pages are acknowledged


def require_contact(settings: Settings, remedy: str) -> None:
    """Refuse to crawl public hosts without a contact."""
    if not settings.identity.contact and not settings.fetch.allow_private:
        raise UsageError("no contact is set", "sites must be able to reach the person who crawls them", remedy)


def nothing_fetched(catalog: Catalog, seeds: Sequence[str], refusals: dict[str, Decision]) -> NothingToCrawl | None:
    """The error of a crawl that fetched nothing; None when an earlier crawl has pages and some seed is usable."""
    reasons = [(seed, reason) for seed in seeds if (reason := _obstacle(catalog, seed, refusals.get(seed)))]
    if len(reasons) < len(seeds) and catalog.counters()["fetched"]:
        return None
    why = "; ".join(f"{seed}: {reason}" for seed, reason in reasons[:3]) or "no seed led to a page"
    return NothingToCrawl("nothing was crawled", why, "Run `periplus inspect url URL` for details.")


def _obstacle(catalog: Catalog, seed: str, refusal: Decision | None) -> str:
    """Why a seed was not fetched; empty when it was, or is not known yet."""
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
    """What a crawl has to do."""

    home: Path
    settings: Settings
    seeds: Sequence[str] = ()
    budget: Budget = field(default_factory=Budget)
    workers: int = 1
    arguments: dict[str, Any] = field(default_factory=dict)  # of the command line, recorded with the run
    sitemaps: Sequence[str] = ()
    entries: Sequence[str] = ()  # URLs to fetch again for new links whenever the queue is empty
    rounds: int | None = None  # None: links are followed as they are found
    recrawl: RecrawlPolicy = field(default_factory=RecrawlPolicy)
    waits: bool = False  # for seeds that another node of the fleet adds
    own_process: bool = (
        False  # run a single worker in a process of its own as well, so that a page cannot end the crawl
    )

    def named_urls(self, canonicalizer: Canonicalizer) -> _NamedUrls:
        """The URLs of the request in canonical form."""
        seeds, sitemaps, entries = (
            [parse(url, canonicalizer).text for url in urls] for urls in (self.seeds, self.sitemaps, self.entries)
        )
        return _NamedUrls(seeds, sitemaps, entries)


@dataclass(frozen=True, slots=True)
class _NamedUrls:
    """The URLs that the user named."""

    seeds: Sequence[str] = ()
    sitemaps: Sequence[str] = ()
    entries: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self.seeds or self.sitemaps or self.entries)


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a running crawl, for a progress display."""

    summary: dict[str, Any]
    under_way: int  # requests
    buffered: int  # URLs queued in memory
    hosts: int  # hosts with queued URLs
    left: float | None = None  # seconds until a limit of the budget is reached, at the rate so far
    round: int | None = None
    is_paused: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """How a crawl ended."""

    ending: Ending
    summary: dict[str, Any]
    failure: NothingToCrawl | None  # when no seed led to a page
    kept: Sequence[Path] = ()  # archived pages that the catalog, an older copy, does not know were moved here


def crawl(
    request: Request, on_progress: Callable[[Progress], None] = lambda _: None, clock: Clock | None = None
) -> Result:
    """Crawl until done, a limit is reached, or interrupted; acknowledged pages are kept in any case."""
    named = request.named_urls(Canonicalizer.of(request.settings.addresses))
    configured = [parse(url, Canonicalizer.of(request.settings.addresses)).text for url in request.settings.scope.seeds]
    certificate_authorities(request.settings.fetch.ca_file)  # reports an invalid file before any file is created
    _check_options(request)
    if not named and not configured and not request.waits:
        _require_collection(request.home)
    collection = create_collection(request.home)
    with ExitStack() as stack:
        _persistently(collection, lambda: stack.enter_context(collection.locked()))
        require_sound(collection)
        named = _persistently(collection, lambda: _prepared(collection, named, configured))
        return _Run(request, named, collection, on_progress, clock or SteadyClock()).crawl()


def _prepared(collection: Collection, named: _NamedUrls, configured: Sequence[str]) -> _NamedUrls:
    """The URLs of the request that this node admits itself; those of a fleet are forwarded to their owners."""
    blocked = block_list_of(collection)
    _require_allowed(blocked, named)
    named = _with_new_seeds(collection, named, [url for url in configured if not blocked.blocks(url)])
    return _forwarded(collection, named) if collection.database else named


def _persistently(collection: Collection, act: Callable[[], _Result], patience: float = _BEGIN_SECONDS) -> _Result:
    """Repeat an act while the database of the fleet does not answer, as the workers do; it has answered before."""
    outages, end = 0, time.monotonic() + (patience if collection.database else 0.0)
    while True:
        try:
            return act()
        except DatabaseUnavailable as error:
            if time.monotonic() >= end:
                raise
            if not outages:
                logger.warning("%s; trying again for %.0f s", error.sentence, patience)
            outages += 1
            time.sleep(pause_after(outages))


def _with_new_seeds(collection: Collection, named: _NamedUrls, configured: Sequence[str]) -> _NamedUrls:
    """The URLs of the request, and those of `scope.seeds` that were no seeds before; the others are not named again."""
    if not configured:
        return named
    with closing(open_catalog(collection, create=True)) as catalog:
        before = {*catalog.seeds(), *named.seeds}
    return replace(named, seeds=[*named.seeds, *(url for url in configured if url not in before)])


def _forwarded(collection: Collection, named: _NamedUrls) -> _NamedUrls:
    """Forward named URLs to the workers of the fleet that own their domains; returns the others."""
    kinds = ((named.seeds, Reason.SEED), (named.sitemaps, Reason.SITEMAP))
    if urls := [ForwardedUrl(share_of(host_of(url)), url, 0, kind, "", 0) for some, kind in kinds for url in some]:
        with closing(open_catalog(collection, UserChanges, create=True)) as catalog:
            catalog.add_seeds(urls, "cli")
    return _NamedUrls(entries=named.entries)


def _require_allowed(blocked: BlockList, named: _NamedUrls) -> None:
    """Refuse a URL that was removed with `periplus forget`."""
    for url in (*named.seeds, *named.sitemaps, *named.entries):
        if blocked.blocks(url):
            hint = "`periplus forget --allow URL` or `--allow HOST` lifts the block."
            raise UsageError(f"{url} is blocked", "it was removed with `periplus forget`", hint)


def _check_options(request: Request) -> None:
    recrawl = request.recrawl
    if request.rounds and request.entries:
        raise UsageError("rounds and an entry cannot be combined", "an entry begins again within the same round")
    if request.rounds and recrawl.continuous:
        raise UsageError("rounds and a continuous crawl cannot be combined", "a continuous crawl has no last round")
    if recrawl.new_only and (recrawl.only or recrawl.continuous):
        what = f"the class {recrawl.only}" if recrawl.only else "a continuous crawl"
        raise UsageError(f"only new pages and {what} cannot be combined", "no page would be recrawled")


def _require_collection(home: Path) -> None:
    """Without a seed there must be a collection: a crawl that cannot begin creates no files."""
    try:
        open_collection(home)
    except NoCollection:
        raise _no_seed() from None


def _no_seed() -> UsageError:
    return UsageError("nothing to crawl", "no seed was given, now or before", "Name a URL: periplus crawl URL")


@dataclass(frozen=True, slots=True)
class _Round:
    """The result of one round; a run without `rounds` has a single one."""

    ending: Ending
    summary: dict[str, Any]
    refusals: dict[str, Decision]  # by seed
    known: int  # URLs of the collection at the end
    fresh: int  # those that were new

    def report(self, number: int) -> dict[str, Any]:
        figures = {"fetched": self.summary["fetched"], "seconds": self.summary["seconds"]}
        return {"round": number, "known": self.known, "fresh": self.fresh, **figures}


class _Run:
    """One run of a crawl, in one round or several."""

    def __init__(
        self,
        request: Request,
        named: _NamedUrls,
        collection: Collection,
        on_progress: Callable[[Progress], None],
        clock: Clock,
    ) -> None:
        self._request, self._named = request, named
        self._collection, self._on_progress = collection, on_progress
        self._clock = clock
        self._addresses = AddressTable(request.settings.politeness, request.workers)  # kept over rounds, as delays are
        self._rounds: list[_Round] = []  # those that have ended
        self._kept: list[Path] = []
        self._previous: dict[str, Any] | None = None  # the latest run before this one

    def crawl(self) -> Result:
        """Crawl all rounds to the end of the run."""
        _persistently(self._collection, self._begin)
        _persistently(self._collection, self._requeue)
        for number in range(self._request.rounds or 1):
            self._rounds.append(self._crawl_round(self._named if number == 0 else _NamedUrls()))
            if self._rounds[-1].ending is not Ending.DONE or not self._release_next_round(number + 1):
                break
        is_stopped = self._rounds[-1].ending is Ending.INTERRUPTED  # the user waits
        return _persistently(self._collection, self._end_in_catalog, 0.0 if is_stopped else _END_SECONDS)

    def _end_in_catalog(self) -> Result:
        with self._catalog() as catalog:
            return self._end(catalog)

    def _known_urls(self) -> int:
        with self._catalog() as catalog:
            return catalog.counters()["known"]

    def _begin(self) -> None:
        """Clean the folder and begin the run, as the last step: after an error it can be repeated."""
        with self._catalog() as catalog:
            if not self._named and not catalog.seeds() and not self._request.waits:
                raise _no_seed()
            self._kept += remove_unacknowledged(self._collection, catalog)
            self._previous = catalog.last_run()
            with closing(open_catalog(self._collection, LiveState)) as live:
                live.remove_all(self._collection.node, Role.CRAWL)  # of a crawl that was killed: this one has the lock
                self._first_command = live.last_command()
            self._run_id = catalog.begin_run(self._request.arguments | {"rounds": self._request.rounds})

    def _requeue(self) -> None:
        """Requeue what the run fetches again."""
        with self._catalog() as catalog:
            previous = self._previous
            if previous is not None and previous["arguments"].get("rounds") and not self._collection.database:
                catalog.release_held()
            catalog.pack_seen()
            was_done = previous is not None and previous["outcome"] == Ending.DONE  # else this command continues it
            catalog.requeue(self._named.seeds, done_too=was_done)
            catalog.requeue_sitemaps(self._named.sitemaps)
            if not self._request.settings.frontier.trap_fetches:
                catalog.requeue_trapped()
            self._set_limits(catalog.counters())

    @property
    def _was_stopped(self) -> bool:
        return self._previous is not None and self._previous["outcome"] in ("running", Ending.INTERRUPTED)

    def _set_limits(self, counters: dict[str, int]) -> None:
        budget = self._request.budget
        self._target = Target(budget.until_pages, budget.until_bytes)
        is_alone = not self._collection.database  # otherwise other nodes add pages, too
        self._budget = budget.for_collection(counters["fetched"], counters["bytes"]) if is_alone else budget
        self._known = counters["known"]

    def _crawl_round(self, named: _NamedUrls) -> _Round:
        started, done = self._clock.now(), self._summary_so_far()
        request = self._request
        budget = self._budget.remaining(done["fetched"], done["bytes"], done["seconds"])
        assignment = Assignment(
            self._collection,
            request.settings,
            self._run_id,
            started,
            named.seeds,
            named.sitemaps,
            named.entries,
            hold=request.rounds is not None,
            budget=budget,
            after_kill=bool(self._collection.database) or (self._was_stopped and not self._rounds),
            recrawl=request.recrawl,
            clock=self._clock,
            addresses=self._addresses,
            first_command=self._first_command,
            join=coordination_of(self._collection, request.settings, self._target),
        )
        with closing(SharedState(request.workers, budget.pages)) as shared:
            reports = self._run_workers(assignment, shared)
        ending = max((report.ending for report in reports), key=list(Ending).index)
        patience = 0.0 if ending is Ending.INTERRUPTED else _END_SECONDS
        known = _persistently(self._collection, self._known_urls, patience)
        refusals = {seed: refusal for report in reports for seed, refusal in report.refusals.items()}
        fresh, self._known = known - self._known, known
        return _Round(ending, sum_of_workers([report.summary for report in reports]), refusals, known, fresh)

    def _run_workers(self, assignment: Assignment, shared: SharedState) -> list[Report]:
        def report_progress() -> None:
            with suppress(DatabaseUnavailable):  # the workers wait for the database of the fleet
                self._on_progress(self._progress(assignment, shared))

        if shared.workers == 1 and not self._request.own_process:
            run_worker = load_worker()
            return [run_worker(assignment, shared, 0, report_progress)]
        return run_workers(assignment, shared, report_progress)

    def _release_next_round(self, rounds: int) -> bool:
        """Release the URLs that wait for the next round, unless all rounds have ended; False: there are none."""
        if rounds == (self._request.rounds or 1):
            return False
        return _persistently(self._collection, self._release_held, _END_SECONDS)

    def _release_held(self) -> bool:
        with self._catalog() as catalog:
            catalog.end_round(self._run_id, self._summary_so_far() | {"rounds": self._round_reports()})
            return catalog.release_held() > 0

    def _end(self, catalog: Catalog) -> Result:
        counters = catalog.counters()
        summary = self._summary_so_far() | {"known_urls": counters["known"], "queued": counters["queued"]}
        ending = self._rounds[-1].ending
        if self._request.rounds is not None:
            summary["rounds"] = self._round_reports()
            if ending is Ending.DONE and len(self._rounds) == self._request.rounds and self._rounds[-1].fresh:
                ending = Ending.BUDGET  # URLs found in the last round wait for another run
        failure = None
        if not summary["fetched"] and ending is Ending.DONE:
            named = [*self._named.seeds, *self._named.sitemaps, *self._named.entries]
            failure = nothing_fetched(catalog, named or catalog.seeds(), self._rounds[0].refusals)
        catalog.end_run(self._run_id, "failed" if failure else ending.value, summary)
        return Result(ending, summary, failure, self._kept)

    def _round_reports(self) -> list[dict[str, Any]]:
        return [one.report(number) for number, one in enumerate(self._rounds, 1)]

    def _summary_so_far(self) -> dict[str, Any]:
        """The summary of the rounds that have ended."""
        nothing = RunCounters(self._run_id, 0.0).summary(0.0)
        return sum_of_rounds([one.summary for one in self._rounds]) if self._rounds else nothing

    def _progress(self, assignment: Assignment, shared: SharedState) -> Progress:
        done, now = self._summary_so_far(), self._clock.now()
        seconds = max(now - assignment.started + done["seconds"], 1e-9)
        fetched = shared.total(Metric.FETCHED) + done["fetched"]
        with self._catalog() as catalog:
            summary = RunCounters(self._run_id, assignment.started).summary(now) | catalog.progress(self._run_id)
        size = shared.total(Metric.BYTES) + done["bytes"]
        summary |= {"fetched": fetched, "bytes": size, "seconds": round(seconds, 3)}
        summary["pages_per_second"] = round(fetched / seconds, 2)
        return Progress(
            summary,
            shared.total(Metric.UNDER_WAY),
            shared.total(Metric.BUFFERED),
            shared.total(Metric.HOSTS),
            self._budget.seconds_left(fetched, size, seconds),
            len(self._rounds) + 1 if self._request.rounds else None,
            is_paused=shared.total(Metric.PAUSED) > 0,
        )

    def _catalog(self) -> closing[Catalog]:
        """A short connection: none may be open when workers are forked."""
        return closing(open_catalog(self._collection, create=True))
