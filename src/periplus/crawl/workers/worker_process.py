"""Runs one worker process: prepares the process, builds the worker's parts, crawls, and returns the report.

Where the workers use all cores, each worker keeps to one core: with warm caches two workers fetch 2 to 6 % more pages
per second than when the system moves them from core to core.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial

import pyarrow as pa
import uvloop

from periplus.crawl.assignment import Assignment, Ending, Report, WorkerContext
from periplus.crawl.clock import wall_time
from periplus.crawl.coordination.coordination import Coordination
from periplus.crawl.coordination.lost_nodes import LostNodes
from periplus.crawl.coordination.ownership import Loans, Ownership
from periplus.crawl.coordination.shared_state import Metric, SharedState
from periplus.crawl.memory import drop_loaded_code_pages, return_freed_memory_early
from periplus.crawl.visit_steps import Step
from periplus.crawl.visits.link_intake import EntryUrls, LinkIntake
from periplus.crawl.visits.novelty import PageAssessor
from periplus.crawl.visits.outcome import OutcomeRecorder
from periplus.crawl.visits.politeness import PolitenessClock
from periplus.crawl.visits.revisits import Revisits
from periplus.crawl.visits.robots import RobotsCache
from periplus.crawl.visits.visit import Visitor
from periplus.crawl.workers.commands import Commands, CommandTargets
from periplus.crawl.workers.commit import Committer, FileLimits
from periplus.crawl.workers.crash_guard import CrashGuard
from periplus.crawl.workers.handover import Handover, Inbox
from periplus.crawl.workers.live_report import LiveReport
from periplus.crawl.workers.worker import Worker, WorkerParts
from periplus.errors import CollectionError, DiskFull
from periplus.fetch.client import Fetcher
from periplus.fetch.request import user_agent
from periplus.frontier.admission import open_admission
from periplus.frontier.queues import Queues
from periplus.frontier.traps import Traps
from periplus.garbage import rare_garbage_collection
from periplus.model import Decision
from periplus.parse.page import PageParser
from periplus.parse.reader import PageReader
from periplus.signals import stop_signals
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.live_state import LiveState, Role
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.run_summary import RunCounters
from periplus.store.cleanup import remove_unacknowledged
from periplus.store.objects.open_store import require_bucket
from periplus.store.segments.recovery import recover
from periplus.url import Canonicalizer

_OBJECTS_BETWEEN_COLLECTIONS = 100_000  # 5 % less CPU time than with 700
_PROGRESS_EVERY = 0.5  # seconds


def run_worker(
    assignment: Assignment, shared: SharedState, number: int, on_progress: Callable[[], None] | None
) -> Report:
    """Run worker *number* of a run to its end; *on_progress* is called every 0.5 s."""
    return uvloop.run(_work(assignment, shared, number, on_progress))


async def _work(
    assignment: Assignment, shared: SharedState, number: int, on_progress: Callable[[], None] | None
) -> Report:
    keep_to_one_core(number, shared.workers)
    return_freed_memory_early()
    drop_loaded_code_pages()
    pa.set_memory_pool(pa.system_memory_pool())  # the allocator that the calls above configure
    if assignment.collection.uploads_files:
        require_bucket(assignment.collection.storage)  # before it joins: a node that cannot begin owns no hosts
    with (
        rare_garbage_collection(_OBJECTS_BETWEEN_COLLECTIONS),
        closing(open_catalog(assignment.collection)) as catalog,
        _published(assignment, number) as live,
        closing(_page_reader(assignment, shared, number)) as reader,
        closing(assignment.join(shared, number)) as coordination,
    ):
        known = live.last_command()  # before the tables are read: later commands are carried out
        counters = recover_files(assignment, coordination, catalog, reader)
        committer = Committer(
            assignment.collection,
            assignment.settings.store,
            coordination.worker,
            assignment.run_id,
            counters.timing,
            FileLimits.of(assignment.collection, assignment.settings),
            former_workers(coordination, catalog),
        )
        committer.fence(coordination)
        shared.set(number, Metric.WORKER, coordination.worker)
        try:
            async with _fetcher(assignment, number, coordination) as fetcher:
                builder = WorkerBuilder(assignment, shared, number, coordination, catalog, counters, fetcher, committer)
                parts = builder.build(reader, live, known)
                parts.handover.update(assignment.clock.now())
                refusals = _admit_seeds(assignment, builder.intake)
                worker = Worker(parts)
                with (
                    _saving_lost_pages(assignment, number, coordination, committer) as saving,
                    _interruptible(worker, shared, by_terminal=on_progress is not None),
                    _reporting(on_progress),
                ):
                    ending = await worker.run()
                    await _finish(saving, ending)
            await committer.finish()
        except BaseException:
            committer.close()
            raise
        try:
            coordination.leave()  # before the uploads: other workers crawl its hosts meanwhile
        finally:
            await committer.upload()
    return Report(ending, counters.summary(assignment.clock.now()), refusals)


# -- preparing the process ----------------------------------------------------------------------------------------


def keep_to_one_core(worker: int, workers: int) -> None:
    """Pin this process and its children to one core, unless there are more cores than workers."""
    if not hasattr(os, "sched_setaffinity"):
        return
    cores = sorted(os.sched_getaffinity(0))
    if workers >= len(cores) > 1:
        with suppress(OSError):  # a core may have been taken offline since
            os.sched_setaffinity(0, {cores[worker % len(cores)]})


def recover_files(
    assignment: Assignment, coordination: Coordination, catalog: Catalog, reader: PageReader
) -> RunCounters:
    """Recover the files of earlier workers that this one continues; returns the counters to go on with.

    A worker that loses its lease meanwhile gets `LeaseLost`: the next one writes segments of the same pages.
    """
    coordination.fence(catalog)
    counters = RunCounters(assignment.run_id, assignment.started)
    if assignment.deaths:
        before = catalog.worker_summary(assignment.run_id, coordination.worker)
        counters.resume(before, assignment.deaths, assignment.clock.now())
        remove_unacknowledged(assignment.collection, catalog, coordination.worker)
    for worker in (*former_workers(coordination, catalog), coordination.worker):
        recover(assignment.collection, catalog, assignment.settings.store, reader, worker)
    return counters


def former_workers(coordination: Coordination, catalog: Catalog) -> list[int]:
    """Workers of earlier runs that have left archive files here, and that no worker of this run is."""
    return [one for one in catalog.archive_workers() if one != coordination.worker and coordination.recovers(one)]


@contextmanager
def _published(assignment: Assignment, number: int) -> Iterator[LiveState]:
    """The rows of processes and commands; at the end the row of this worker is removed."""
    with closing(open_catalog(assignment.collection, LiveState)) as live:
        try:
            yield live
        finally:
            with suppress(CollectionError, DiskFull):  # the row is silent soon
                live.remove(assignment.collection.node, Role.CRAWL, number)


@contextmanager
def _saving_lost_pages(
    assignment: Assignment, number: int, coordination: Coordination, committer: Committer
) -> Iterator[LostNodes | None]:
    """The first worker of a node looks for nodes that are gone."""
    if number or not assignment.collection.uploads_files:
        yield None
        return
    grace = assignment.settings.fleet.grace_seconds
    with closing(PageReader(_page_parser(assignment))) as reader:
        nodes = LostNodes(assignment.collection, grace, coordination.worker, reader, committer.add_recovered)
        nodes.start()
        try:
            yield nodes
        finally:
            nodes.stop(at_once=True)


async def _finish(saving: LostNodes | None, ending: Ending) -> None:
    """Let the pages of lost nodes be saved to the end, unless the crawl was interrupted."""
    if saving is not None:
        await asyncio.to_thread(saving.stop, at_once=ending is not Ending.DONE)


# -- building the worker ------------------------------------------------------------------------------------------


def _page_reader(assignment: Assignment, shared: SharedState, number: int) -> PageReader:
    return PageReader(_page_parser(assignment), CrashGuard(shared, number, assignment.suspects))


def _page_parser(assignment: Assignment) -> PageParser:
    settings = assignment.settings
    return PageParser(
        Canonicalizer.of(settings.addresses), links_per_page=settings.scope.links_per_page, settings=settings.parse
    )


def _fetcher(assignment: Assignment, number: int, coordination: Coordination) -> Fetcher:
    contact = assignment.settings.identity.contact
    return Fetcher(
        assignment.settings.fetch,
        user_agent(contact),
        public_allowed=bool(contact),
        addresses=assignment.addresses,
        worker=number,
        now=partial(wall_time, assignment.clock),
        may_send=coordination.may_send if coordination.has_lease else None,
    )


class WorkerBuilder:
    """Builds the parts of one worker: first those that many others need, then the others."""

    def __init__(
        self,
        assignment: Assignment,
        shared: SharedState,
        number: int,
        coordination: Coordination,
        catalog: Catalog,
        counters: RunCounters,
        fetcher: Fetcher,
        committer: Committer,
    ) -> None:
        settings = assignment.settings
        self._settings, self._catalog, self._fetcher, self._committer = settings, catalog, fetcher, committer
        self._canonicalizer = Canonicalizer.of(settings.addresses)
        self._politeness = PolitenessClock(
            settings.politeness, after_kill=assignment.after_kill, ahead=assignment.clock.ahead
        )
        queues = Queues(catalog, settings.store.buffer_urls, lambda host: self._politeness.forget([host]))
        self._context = WorkerContext(number, assignment, shared, coordination, catalog, queues, counters)
        self._ownership = Ownership(coordination)
        self._traps = Traps(settings.frontier.trap_fetches, settings.frontier.trap_allowance, catalog.had_nothing_new)
        self.admission = open_admission(catalog, settings.scope, self._traps, shares=())  # `Handover` loads them
        self.intake = LinkIntake(self._context, self._canonicalizer, self.admission, self._ownership)
        patience = settings.fetch.timeout + settings.politeness.delay
        longest = max(patience, settings.politeness.longest_crawl_delay)
        self._loans = Loans(coordination, self._ownership, fetcher, patience, longest)

    def build(self, reader: PageReader, live: LiveState, known: int) -> WorkerParts:
        """Return all parts that the worker directs; *known*: the newest command that the tables include."""
        revisits = Revisits(self._context, self.intake)
        inbox = Inbox(self._context, self._ownership, self.admission, self.intake)
        return WorkerParts(
            self._context,
            self._visitor(reader),
            self._committer,
            self._handover(inbox, revisits),
            EntryUrls(self._context.assignment.entries, self.intake, self._context.queues),
            revisits,
            self._traps,
            self._commands(live, known, inbox, revisits),
            LiveReport(self._context, live, self._politeness, self._request_step),
        )

    def _commands(self, live: LiveState, known: int, inbox: Inbox, revisits: Revisits) -> Commands:
        targets = CommandTargets(self._ownership, self.admission, self.intake, inbox, self._politeness, revisits)
        return Commands(self._context, live, known, targets)

    def _request_step(self, host: str) -> Step:
        connected = self._fetcher.is_connected(host)
        return Step.DNS if connected is None else Step.FETCH if connected else Step.CONNECT

    def _handover(self, inbox: Inbox, revisits: Revisits) -> Handover:
        return Handover(
            self._context,
            self._ownership,
            inbox,
            admission=self.admission,
            politeness=self._politeness,
            revisits=revisits,
            loans=self._loans,
        )

    def _visitor(self, reader: PageReader) -> Visitor:
        return Visitor(
            self._context,
            fetcher=self._fetcher,
            politeness=self._politeness,
            robots=RobotsCache(self._catalog, self._settings.politeness.robots_age),
            recorder=self._recorder(reader),
            intake=self.intake,
            loans=self._loans,
        )

    def _recorder(self, reader: PageReader) -> OutcomeRecorder:
        return OutcomeRecorder(
            self._context,
            canonicalizer=self._canonicalizer,
            reader=reader,
            intake=self.intake,
            assessor=PageAssessor(self.intake, self._context.pending, self._catalog.quality_of),
            archive=self._committer.archive,
            read_archived=self._committer.read_archived,
        )


def _admit_seeds(assignment: Assignment, intake: LinkIntake) -> dict[str, Decision]:
    """Admit the URLs that the user named; returns the refused ones."""
    for entry in assignment.entries:
        intake.entry(entry)
    outcomes = {seed: intake.seed(seed) for seed in assignment.seeds}
    outcomes |= {sitemap: intake.sitemap(sitemap) for sitemap in assignment.sitemaps}
    return {url: refusal for url, refusal in outcomes.items() if refusal is not None}


# -- while it crawls ----------------------------------------------------------------------------------------------


@contextmanager
def _interruptible(worker: Worker, shared: SharedState, *, by_terminal: bool) -> Iterator[None]:
    """Ctrl-C once finishes requests under way, twice drops them; SIGTERM counts like Ctrl-C.

    *by_terminal*: this is the process that the user started. To other workers their supervisor passes Ctrl-C on.
    """
    loop = asyncio.get_running_loop()

    def stop() -> None:
        shared.request_stop()
        worker.wake()

    numbers = stop_signals() if by_terminal else (signal.SIGTERM,)
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)  # restores the default, not the previous handler
            signal.signal(number, handler)


@contextmanager
def _reporting(on_progress: Callable[[], None] | None) -> Iterator[None]:
    async def report() -> None:
        while on_progress is not None:
            await asyncio.sleep(_PROGRESS_EVERY)
            on_progress()

    task = asyncio.create_task(report())
    try:
        yield
    finally:
        task.cancel()
