"""How does a crawl begin, continue and end?"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import uvloop

from periplus.config import Settings
from periplus.crawl.budget import Budget
from periplus.crawl.clock import SteadyClock
from periplus.crawl.commit import Committer
from periplus.crawl.digest import Digester
from periplus.crawl.politeness import PolitenessClock
from periplus.crawl.reading import PageReader
from periplus.crawl.recovery import recover
from periplus.crawl.robots import RobotsShelf
from periplus.crawl.tally import Tally
from periplus.crawl.visit import Visitor
from periplus.crawl.worker import Crew, Ending, Worker
from periplus.errors import NoCollection, NothingToCrawl, UsageError
from periplus.fetch.agent import user_agent
from periplus.fetch.client import Fetcher
from periplus.fetch.trust import certificate_authorities
from periplus.frontier.admission import open_admission
from periplus.frontier.queues import Queues
from periplus.model import Decision, UrlState
from periplus.parse.page import PageParser
from periplus.store.catalog import Catalog
from periplus.store.collection import Collection, create_collection, open_collection
from periplus.url import Canonicalizer, host_of, parse

_WORKER = 0
_LOOK_EVERY = 0.5  # seconds between two looks at the progress


@dataclass(frozen=True, slots=True)
class Request:
    """What a crawl is asked to do."""

    home: Path
    settings: Settings
    seeds: Sequence[str] = ()
    budget: Budget = field(default_factory=Budget)
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
    addresses = request.settings.addresses
    canonicalizer = Canonicalizer(addresses.tracking_parameters, addresses.session_parameters)
    seeds = [parse(seed, canonicalizer).text for seed in request.seeds]
    certificate_authorities(request.settings.fetch.ca_file)  # a file that is none is told before anything is made
    if not seeds:
        _require_seeds(request.home)
    collection = create_collection(request.home)
    with collection.locked():
        catalog = Catalog(collection.catalog, create=True)
        try:
            if not seeds and not catalog.seeds():
                raise _no_seed()
            return uvloop.run(_Voyage(request, collection, catalog, canonicalizer, seeds, watch).sail())
        finally:
            catalog.close()


def _require_seeds(home: Path) -> None:
    """Nothing is made in a folder for a crawl that has nowhere to begin."""
    try:
        open_collection(home)
    except NoCollection:
        raise _no_seed() from None


def _no_seed() -> UsageError:
    return UsageError("nothing to crawl", "no seed was given, now or before", "Name a URL: periplus crawl URL")


class _Voyage:
    """Assembles a crawl, runs it and closes it down."""

    def __init__(
        self,
        request: Request,
        collection: Collection,
        catalog: Catalog,
        canonicalizer: Canonicalizer,
        seeds: list[str],
        watch: Callable[[Progress], None],
    ) -> None:
        self._request, self._collection, self._catalog = request, collection, catalog
        self._canonicalizer, self._seeds, self._watch = canonicalizer, seeds, watch
        self._settings = request.settings
        self._clock = SteadyClock()
        parser = PageParser(canonicalizer, links_per_page=self._settings.scope.links_per_page)
        self._reader = PageReader(parser)
        self._refusals: dict[str, Decision] = {}

    async def sail(self) -> Result:
        recover(self._collection, self._catalog, self._settings.store, self._reader, _WORKER)
        self._previous = self._catalog.last_run()
        run_id = self._catalog.begin_run(self._request.arguments)
        self._tally = Tally(run_id, self._clock.now())
        committer = Committer(self._collection, self._settings.store, _WORKER, run_id, self._tally.timing)
        contact = self._settings.identity.contact
        fetcher = Fetcher(self._settings.fetch, user_agent(contact), public_allowed=bool(contact))
        try:
            async with fetcher:
                ending = await self._run(committer, fetcher)
            await committer.finish()
        except BaseException:
            committer.close()
            raise
        summary = self._summary()
        failure = self._failure(ending)
        self._catalog.end_run(run_id, "failed" if failure else ending.value, summary)
        return Result(ending, summary, failure)

    async def _run(self, committer: Committer, fetcher: Fetcher) -> Ending:
        settings, clock = self._settings, self._clock
        self._catalog.pack_seen()
        self._catalog.requeue(self._seeds)
        queues = Queues(self._catalog, settings.store.buffer_urls)
        politeness = PolitenessClock(settings.politeness, after_kill=self._was_stopped())
        for rest in [politeness.recall(policy, clock.now()) for policy in self._catalog.waiting_hosts()]:
            queues.load([rest.policy])
            if rest.parked:
                queues.release(rest.policy.host, rest.ready, parked=True)
        digester = Digester(
            settings,
            self._canonicalizer,
            self._reader,
            open_admission(self._catalog, settings.scope),
            queues,
            self._tally,
            committer.archive,
        )
        self._refusals = {seed: refusal for seed in self._seeds if (refusal := digester.seed(seed)) is not None}
        visitor = Visitor(
            settings,
            clock=clock,
            fetcher=fetcher,
            queues=queues,
            politeness=politeness,
            robots=RobotsShelf(self._catalog, settings.politeness.robots_age),
            digester=digester,
            tally=self._tally,
            policy_of=self._catalog.policy,
        )
        crew = Crew(clock, queues, visitor, digester, committer, self._tally)
        worker = Worker(settings, crew, self._request.budget, self._summary)
        with _interruptible(worker), _watched(self._watch, lambda: self._progress(worker, queues)):
            return await worker.run()

    def _was_stopped(self) -> bool:
        """Whether the run before may have sent requests that it could not write down."""
        return self._previous is not None and self._previous["outcome"] in ("running", Ending.INTERRUPTED)

    def _summary(self) -> dict[str, Any]:
        counters = self._catalog.counters()
        return self._tally.summary(self._clock.now(), counters["known"], counters["queued"])

    def _progress(self, worker: Worker, queues: Queues) -> Progress:
        return Progress(self._summary(), worker.under_way, queues.buffered)

    # -- did any seed lead anywhere? ----------------------------------------------------------------------------

    def _failure(self, ending: Ending) -> NothingToCrawl | None:
        if self._tally.fetched or ending is not Ending.DONE:
            return None
        seeds = self._seeds or self._catalog.seeds()
        reasons = [(seed, reason) for seed in seeds if (reason := self._obstacle(seed))]
        if len(reasons) < len(seeds) and self._catalog.counters()["fetched"]:
            return None
        why = "; ".join(f"{seed}: {reason}" for seed, reason in reasons[:3]) or "no seed led to a page"
        return NothingToCrawl("nothing was crawled", why, "`periplus inspect url URL` tells more.")

    def _obstacle(self, seed: str) -> str:
        """What keeps a seed from being fetched; empty when nothing does."""
        if (refusal := self._refusals.get(seed)) is not None:
            return f"refused by {refusal.reason} ({refusal.detail})"
        row = self._catalog.url(seed)
        if row is None or row["state"] == UrlState.DONE:
            return ""
        if row["state"] == UrlState.QUEUED:
            policy = self._catalog.policy(host_of(seed))
            return f"unreachable ({policy.why})" if policy and policy.why else "still queued"
        kind = "refused by" if row["state"] == UrlState.REFUSED else "failed with"
        return f"{kind} {row['reason']} ({row['detail']})"


@contextmanager
def _interruptible(worker: Worker) -> Iterator[None]:
    """Ctrl-C once drains, twice stops now; a polite kill counts like Ctrl-C."""
    loop = asyncio.get_running_loop()
    presses = count(1)

    def pressed() -> None:
        if next(presses) == 1:
            worker.drain()
        else:
            worker.stop_now()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, pressed)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


@contextmanager
def _watched(watch: Callable[[Progress], None], progress: Callable[[], Progress]) -> Iterator[None]:
    async def look() -> None:
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            watch(progress())

    task = asyncio.create_task(look())
    try:
        yield
    finally:
        task.cancel()
