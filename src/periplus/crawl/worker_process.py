"""How does a worker begin, and how does it end?"""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial

import pyarrow as pa
import uvloop

from periplus.crawl.assignment import Assignment, Ending, Report
from periplus.crawl.clock import wall_time
from periplus.crawl.commit import Committer
from periplus.crawl.cores import keep_to_one_core
from periplus.crawl.crash_guard import Vigil
from periplus.crawl.leftovers import clear_leftovers
from periplus.crawl.link_intake import Paths
from periplus.crawl.memory import give_back_early, give_back_loading
from periplus.crawl.outfit import Outfit
from periplus.crawl.shared_state import Board
from periplus.crawl.worker import Worker
from periplus.fetch.agent import user_agent
from periplus.fetch.client import Fetcher
from periplus.model import Decision
from periplus.parse.page import PageParser
from periplus.parse.reader import PageReader
from periplus.signals import heeded
from periplus.store.catalog import Catalog
from periplus.store.recovery import recover
from periplus.store.run_summary import Tally
from periplus.url import Canonicalizer

_OBJECTS_BETWEEN_COLLECTIONS = 100_000
_LOOK_EVERY = 0.5  # seconds between two looks at the progress


def work(assignment: Assignment, board: Board, number: int, look: Callable[[], None] | None) -> Report:
    """Be worker *number* of a run to its end; *look* is called now and then."""
    return uvloop.run(_work(assignment, board, number, look))


async def _work(assignment: Assignment, board: Board, number: int, look: Callable[[], None] | None) -> Report:
    keep_to_one_core(number, board.workers)
    give_back_early()
    give_back_loading()
    pa.set_memory_pool(pa.system_memory_pool())  # of which the C library knows
    with _sparing_the_garbage_collector(), closing(Catalog(assignment.collection.catalog)) as catalog:
        shift = _Shift(assignment, board, number, catalog)
        with closing(shift):
            return await shift.work(look)


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

    def __init__(self, assignment: Assignment, board: Board, number: int, catalog: Catalog) -> None:
        self._assignment, self._board, self._number, self._catalog = assignment, board, number, catalog
        self._settings = assignment.settings
        self._clock = assignment.clock
        self._tally = Tally(assignment.run_id, assignment.started)
        self._canonicalizer = Canonicalizer.of(self._settings.addresses)
        self._reader = PageReader(
            PageParser(
                self._canonicalizer,
                links_per_page=self._settings.scope.links_per_page,
                settings=self._settings.parse,
            ),
            Vigil(board, number, assignment.suspects),
        )

    def close(self) -> None:
        """Let go of the process behind the fence."""
        self._reader.close()

    async def work(self, look: Callable[[], None] | None) -> Report:
        store, collection = self._settings.store, self._assignment.collection
        if died := self._assignment.died:
            before = self._catalog.worker_summary(self._assignment.run_id, self._number)
            self._tally.resume(before, died, self._clock.now())
            clear_leftovers(collection, self._catalog, self._number)
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
        outfit = Outfit(
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

    def _begin(self, paths: Paths) -> dict[str, Decision]:
        """Bring what people have named to the frontier; returns what is refused."""
        for entry in self._assignment.entries:
            paths.entry(entry)
        outcomes = {seed: paths.seed(seed) for seed in self._assignment.seeds}
        outcomes |= {sitemap: paths.sitemap(sitemap) for sitemap in self._assignment.sitemaps}
        return {url: refusal for url, refusal in outcomes.items() if refusal is not None}


@contextmanager
def _interruptible(worker: Worker, board: Board, *, by_terminal: bool) -> Iterator[None]:
    """Ctrl-C once drains, twice stops now; a polite kill counts like Ctrl-C.

    *by_terminal*: this is the process that was asked to crawl; others hear of Ctrl-C from their parent.
    """
    loop = asyncio.get_running_loop()

    def pressed() -> None:
        board.ask_to_stop()
        worker.wake()

    numbers = heeded() if by_terminal else (signal.SIGTERM,)
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
