"""How does a worker begin, and how does it end?

On which core does a worker run?

Where the workers take all cores, each keeps to one. Moved from core to core, as the system does to be fair, a worker
finds nothing of its own in the caches: measured, two of them fetch 2 to 6 % more pages a second when they stay put.

Which parts does a worker direct, and which of them know which others?
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial

import pyarrow as pa
import uvloop

from periplus.crawl.assignment import Assignment, Ending, Report
from periplus.crawl.clock import wall_time
from periplus.crawl.commit import Committer
from periplus.crawl.crash_guard import CrashGuard
from periplus.crawl.handover import Handover
from periplus.crawl.link_intake import EntryUrls, LinkIntake
from periplus.crawl.memory import drop_loaded_code_pages, return_freed_memory_early
from periplus.crawl.novelty import PageAssessor
from periplus.crawl.outcome import OutcomeRecorder
from periplus.crawl.ownership import Leases, Ownership
from periplus.crawl.politeness import PolitenessClock
from periplus.crawl.revisits import Revisits
from periplus.crawl.robots import RobotsCache
from periplus.crawl.shared_state import SharedState
from periplus.crawl.visit import Visitor
from periplus.crawl.worker import Worker, WorkerParts
from periplus.fetch.client import Fetcher
from periplus.fetch.request import user_agent
from periplus.frontier.admission import open_admission
from periplus.frontier.queues import Queues
from periplus.frontier.traps import Traps
from periplus.model import Decision
from periplus.parse.page import PageParser
from periplus.parse.reader import PageReader
from periplus.signals import stop_signals
from periplus.store.batch import PendingBatch
from periplus.store.catalog import Catalog
from periplus.store.cleanup import remove_unacknowledged
from periplus.store.recovery import recover
from periplus.store.run_summary import RunCounters
from periplus.url import Canonicalizer


def keep_to_one_core(worker: int, workers: int) -> None:
    """For the rest of this process and those that it starts, unless there are cores to spare."""
    if not hasattr(os, "sched_setaffinity"):
        return
    cores = sorted(os.sched_getaffinity(0))
    if workers >= len(cores) > 1:
        with suppress(OSError):  # a core may have been taken away meanwhile
            os.sched_setaffinity(0, {cores[worker % len(cores)]})


class WorkerBuilder:
    """The parts of one worker: first those that many others need, then those that need them."""

    def __init__(
        self,
        assignment: Assignment,
        board: SharedState,
        number: int,
        *,
        catalog: Catalog,
        canonicalizer: Canonicalizer,
        tally: RunCounters,
        fetcher: Fetcher,
        committer: Committer,
    ) -> None:
        settings = assignment.settings
        self._assignment, self._settings, self._board, self._number = assignment, settings, board, number
        self._catalog, self._canonicalizer, self._tally = catalog, canonicalizer, tally
        self._fetcher, self._committer, self._log = fetcher, committer, PendingBatch()
        self._territory = Ownership(board, number)
        self._politeness = PolitenessClock(
            settings.politeness, after_kill=assignment.after_kill, ahead=assignment.clock.ahead
        )
        self._queues = Queues(catalog, settings.store.buffer_urls, lambda host: self._politeness.forget([host]))
        self._traps = Traps(settings.frontier.trap_fetches, settings.frontier.trap_allowance, catalog.had_nothing_new)
        self._admission = open_admission(catalog, settings.scope, self._traps)
        self.paths = LinkIntake(
            settings,
            canonicalizer,
            self._admission,
            self._queues,
            tally,
            self._territory,
            self._log,
            hold=assignment.hold,
        )
        patience = settings.fetch.timeout + settings.politeness.delay
        longest = max(patience, settings.politeness.longest_crawl_delay)
        self._loans = Leases(board, number, self._territory, fetcher, patience, longest)

    def crew(self, reader: PageReader) -> WorkerParts:
        """All that the worker directs."""
        revisits = self._revisits()
        return WorkerParts(
            self._number,
            self._board,
            self._assignment.clock,
            self._queues,
            self._traps,
            self._visitor(reader),
            self._log,
            self._committer,
            self._neighbours(revisits),
            EntryUrls(self._assignment.entries, self.paths, self._queues),
            revisits,
            self._tally,
        )

    def _revisits(self) -> Revisits:
        return Revisits(
            self._assignment.agenda,
            self._assignment.started,
            catalog=self._catalog,
            queues=self._queues,
            paths=self.paths,
            log=self._log,
            tally=self._tally,
        )

    def _neighbours(self, revisits: Revisits) -> Handover:
        return Handover(
            self._board,
            self._number,
            territory=self._territory,
            catalog=self._catalog,
            admission=self._admission,
            queues=self._queues,
            politeness=self._politeness,
            paths=self.paths,
            log=self._log,
            revisits=revisits,
            fetcher=self._fetcher,
            loans=self._loans,
            timing=self._tally.timing,
        )

    def _visitor(self, reader: PageReader) -> Visitor:
        return Visitor(
            self._settings,
            clock=self._assignment.clock,
            fetcher=self._fetcher,
            queues=self._queues,
            politeness=self._politeness,
            robots=RobotsCache(self._catalog, self._settings.politeness.robots_age),
            digester=self._digester(reader),
            paths=self.paths,
            log=self._log,
            tally=self._tally,
            loans=self._loans,
            policy_of=self._catalog.policy,
            version_of=self._catalog.version_of,
        )

    def _digester(self, reader: PageReader) -> OutcomeRecorder:
        return OutcomeRecorder(
            self._settings,
            self._canonicalizer,
            reader,
            self.paths,
            self._queues,
            self._tally,
            self._committer.archive,
            self._committer.recall,
            self._log,
            PageAssessor(self.paths, self._log, self._catalog.quality_of),
        )


_OBJECTS_BETWEEN_COLLECTIONS = 100_000
_LOOK_EVERY = 0.5  # seconds between two looks at the progress


def run_worker(assignment: Assignment, board: SharedState, number: int, look: Callable[[], None] | None) -> Report:
    """Be worker *number* of a run to its end; *look* is called now and then."""
    return uvloop.run(_work(assignment, board, number, look))


async def _work(assignment: Assignment, board: SharedState, number: int, look: Callable[[], None] | None) -> Report:
    keep_to_one_core(number, board.workers)
    return_freed_memory_early()
    drop_loaded_code_pages()
    pa.set_memory_pool(pa.system_memory_pool())  # of which the C library knows
    with _sparing_the_garbage_collector(), closing(Catalog(assignment.collection.catalog)) as catalog:
        shift = _Shift(assignment, board, number, catalog)
        with closing(shift):
            return await shift.run(look)


@contextmanager
def _sparing_the_garbage_collector() -> Iterator[None]:
    """A crawl makes millions of small objects and hardly a cycle: looking for some costs 5 % of its time."""
    before = gc.get_threshold()
    gc.freeze()  # what is loaded now stays
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


class _Shift:
    """One worker, from what the last run left to the last page."""

    def __init__(self, assignment: Assignment, board: SharedState, number: int, catalog: Catalog) -> None:
        self._assignment, self._board, self._number, self._catalog = assignment, board, number, catalog
        self._settings = assignment.settings
        self._clock = assignment.clock
        self._tally = RunCounters(assignment.run_id, assignment.started)
        self._canonicalizer = Canonicalizer.of(self._settings.addresses)
        self._reader = PageReader(
            PageParser(
                self._canonicalizer,
                links_per_page=self._settings.scope.links_per_page,
                settings=self._settings.parse,
            ),
            CrashGuard(board, number, assignment.suspects),
        )

    def close(self) -> None:
        """Let go of the process behind the fence."""
        self._reader.close()

    async def run(self, look: Callable[[], None] | None) -> Report:
        store, collection = self._settings.store, self._assignment.collection
        if died := self._assignment.died:
            before = self._catalog.worker_summary(self._assignment.run_id, self._number)
            self._tally.resume(before, died, self._clock.now())
            remove_unacknowledged(collection, self._catalog, self._number)
        for worker in self._catalog.archive_workers():
            if worker % self._board.workers == self._number:
                recover(collection, self._catalog, store, self._reader, worker)
        contact = self._settings.identity.contact
        fetcher = Fetcher(
            self._settings.fetch,
            user_agent(contact),
            public_allowed=bool(contact),
            addresses=self._assignment.addresses,
            worker=self._number,
            now=partial(wall_time, self._clock),
        )
        committer = Committer(collection, store, self._number, self._assignment.run_id, self._tally.timing)
        try:
            async with fetcher:
                ending, refusals = await self._run(committer, fetcher, look)
            await committer.finish()
        except BaseException:
            committer.close()
            raise
        return Report(ending, self._tally.summary(self._clock.now()), refusals)

    async def _run(
        self, committer: Committer, fetcher: Fetcher, look: Callable[[], None] | None
    ) -> tuple[Ending, dict[str, Decision]]:
        outfit = WorkerBuilder(
            self._assignment,
            self._board,
            self._number,
            catalog=self._catalog,
            canonicalizer=self._canonicalizer,
            tally=self._tally,
            fetcher=fetcher,
            committer=committer,
        )
        crew = outfit.crew(self._reader)
        crew.neighbours.attend(self._clock.now())
        refusals = self._begin(outfit.paths)
        agenda = self._assignment.agenda
        worker = Worker(self._settings, crew, self._assignment.budget, endless=agenda.continuous)
        with _interruptible(worker, self._board, by_terminal=look is not None), _watched(look):
            return await worker.run(), refusals

    def _begin(self, paths: LinkIntake) -> dict[str, Decision]:
        """Bring what people have named to the frontier; returns what is refused."""
        for entry in self._assignment.entries:
            paths.entry(entry)
        outcomes = {seed: paths.seed(seed) for seed in self._assignment.seeds}
        outcomes |= {sitemap: paths.sitemap(sitemap) for sitemap in self._assignment.sitemaps}
        return {url: refusal for url, refusal in outcomes.items() if refusal is not None}


@contextmanager
def _interruptible(worker: Worker, board: SharedState, *, by_terminal: bool) -> Iterator[None]:
    """Ctrl-C once drains, twice stops now; a polite kill counts like Ctrl-C.

    *by_terminal*: this is the process that was asked to crawl; others hear of Ctrl-C from their parent.
    """
    loop = asyncio.get_running_loop()

    def pressed() -> None:
        board.ask_to_stop()
        worker.wake()

    numbers = stop_signals() if by_terminal else (signal.SIGTERM,)
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        loop.add_signal_handler(number, pressed)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)  # which leaves the handler of the interpreter
            signal.signal(number, handler)


@contextmanager
def _watched(look: Callable[[], None] | None) -> Iterator[None]:
    async def watch() -> None:
        while look is not None:
            await asyncio.sleep(_LOOK_EVERY)
            look()

    task = asyncio.create_task(watch())
    try:
        yield
    finally:
        task.cancel()
