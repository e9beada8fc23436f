"""Which parts does a worker direct, and which of them know which others?"""

from __future__ import annotations

from periplus.crawl.assignment import Assignment
from periplus.crawl.commit import Committer
from periplus.crawl.entries import Entries
from periplus.crawl.handover import Neighbours
from periplus.crawl.judgement import Judge
from periplus.crawl.link_intake import Paths
from periplus.crawl.loans import Loans
from periplus.crawl.logbook import Logbook
from periplus.crawl.outcome import Digester
from periplus.crawl.ownership import Territory
from periplus.crawl.politeness import PolitenessClock
from periplus.crawl.revisits import Revisits
from periplus.crawl.robots import RobotsShelf
from periplus.crawl.shared_state import Board
from periplus.crawl.visit import Visitor
from periplus.crawl.worker import Crew
from periplus.fetch.client import Fetcher
from periplus.frontier.admission import open_admission
from periplus.frontier.queues import Queues
from periplus.frontier.traps import Traps
from periplus.parse.reader import PageReader
from periplus.store.catalog import Catalog
from periplus.store.run_summary import Tally
from periplus.url import Canonicalizer


class Outfit:
    """The parts of one worker: first those that many others need, then those that need them."""

    def __init__(
        self,
        assignment: Assignment,
        board: Board,
        number: int,
        *,
        catalog: Catalog,
        canonicalizer: Canonicalizer,
        tally: Tally,
        fetcher: Fetcher,
        committer: Committer,
    ) -> None:
        settings = assignment.settings
        self._assignment, self._settings, self._board, self._number = assignment, settings, board, number
        self._catalog, self._canonicalizer, self._tally = catalog, canonicalizer, tally
        self._fetcher, self._committer, self._log = fetcher, committer, Logbook()
        self._territory = Territory(board, number)
        self._politeness = PolitenessClock(
            settings.politeness, after_kill=assignment.after_kill, ahead=assignment.clock.ahead
        )
        self._queues = Queues(catalog, settings.store.buffer_urls, lambda host: self._politeness.forget([host]))
        self._traps = Traps(settings.frontier.trap_fetches, settings.frontier.trap_allowance, catalog.was_dull)
        self._admission = open_admission(catalog, settings.scope, self._traps)
        self.paths = Paths(
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
        self._loans = Loans(board, number, self._territory, fetcher, patience, longest)

    def crew(self, reader: PageReader) -> Crew:
        """All that the worker directs."""
        revisits = self._revisits()
        return Crew(
            self._number,
            self._board,
            self._assignment.clock,
            self._queues,
            self._traps,
            self._visitor(reader),
            self._log,
            self._committer,
            self._neighbours(revisits),
            Entries(self._assignment.entries, self.paths, self._queues),
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

    def _neighbours(self, revisits: Revisits) -> Neighbours:
        return Neighbours(
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
            robots=RobotsShelf(self._catalog, self._settings.politeness.robots_age),
            digester=self._digester(reader),
            paths=self.paths,
            log=self._log,
            tally=self._tally,
            loans=self._loans,
            policy_of=self._catalog.policy,
            version_of=self._catalog.version_of,
        )

    def _digester(self, reader: PageReader) -> Digester:
        return Digester(
            self._settings,
            self._canonicalizer,
            reader,
            self.paths,
            self._queues,
            self._tally,
            self._committer.archive,
            self._committer.recall,
            self._log,
            Judge(self.paths, self._log, self._catalog.worth_of),
        )
