"""Looks for nodes of the fleet that are gone, and saves their pages.

Pages that a lost node never uploaded are fetched again. Pages that it uploaded, but not in a segment, are parsed here.
The first worker of every node looks; rows are locked, so only one of them gives a file up.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from contextlib import closing
from threading import Event, Thread

from periplus.crawl.coordination.fleet_coordination import since_boot
from periplus.errors import PeriplusError
from periplus.store.catalog.batch import ArchiveFile
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection
from periplus.store.fleet_files.job_files import borrowing_archives
from periplus.store.fleet_files.lost_files import LostFiles
from periplus.store.manifest import PageRow
from periplus.store.segments.recovery import Reader, unsealed_pages

logger = logging.getLogger("periplus.crawl")

_LONGEST_INTERVAL = 60.0  # seconds between two looks
AddPages = Callable[[list[PageRow], int, int], None]  # see `Committer.add_recovered`


class LostNodes:
    """Looks for lost nodes regularly, in a thread of its own."""

    def __init__(self, collection: Collection, grace: float, worker: int, reader: Reader, add: AddPages) -> None:
        """*grace*: seconds of silence after which a node is lost. *worker*: the one that takes its pages with *add*."""
        self._collection, self._grace, self._worker, self._reader, self._add = collection, grace, worker, reader, add
        self._heard = -math.inf  # when the database answered last
        self._since = 0.0  # since when it has always answered
        self._parsed: set[int] = set()  # archive files
        self._ended, self._is_dropping = Event(), False
        self._thread = Thread(target=self._look_often, name="lost nodes", daemon=True)

    def start(self) -> None:
        """Look regularly until `stop`."""
        self._thread.start()

    def stop(self, *, at_once: bool) -> None:
        """End the thread; unless *at_once*, after it has parsed all pages that it took."""
        self._is_dropping = at_once
        self._ended.set()
        self._thread.join()

    def _look_often(self) -> None:
        self._try(self._parse_taken)  # which an earlier process of this worker took
        while not self._ended.wait(min(self._grace / 4, _LONGEST_INTERVAL)):
            self._try(self.look)
        if not self._is_dropping:
            self._try(self._parse_taken)  # which it took since

    def _try(self, act: Callable[[], None]) -> None:
        try:
            act()
        except PeriplusError as error:
            logger.warning("%s", error)

    def look(self) -> None:
        """Give up the files of workers that are lost, and parse uploaded pages of theirs that are in no segment."""
        with closing(open_catalog(self._collection, LostFiles)) as files:
            lost = files.lost_workers(self._grace)
            if self._is_long_connected():
                self._give_up(files, lost)
        self._parse_taken()

    def _parse_taken(self) -> None:
        with closing(open_catalog(self._collection, LostFiles)) as files:
            for file in files.taken_over(self._worker):
                if file.archive_id not in self._parsed and not self._is_dropping:
                    self._parse(files, file)

    def _is_long_connected(self) -> bool:
        """Whether this node has heard the database for the grace time.

        After an outage of the database every node has been silent. All of them get the grace time to come back.
        """
        now = since_boot()
        if now - self._heard > self._grace / 2:
            self._since = now
        self._heard = now
        return now - self._since >= self._grace

    def _give_up(self, files: LostFiles, lost: list[int]) -> None:
        if queued := sum(len(files.give_up(worker, self._grace, self._worker)) for worker in lost):
            logger.warning("queued %d pages again, which a silent node has not uploaded", queued)
        for node in files.remove_lost_nodes(self._grace):
            logger.warning(
                "node %s has been silent for %.0f s and is removed from the list of nodes", node, self._grace
            )

    def _parse(self, files: LostFiles, file: ArchiveFile) -> None:
        """Add the pages of an archive file that are in no segment to a segment of this worker."""
        with borrowing_archives(self._collection, [file]):
            self._parsed.add(file.archive_id)  # before its first page: none is added twice
            for rows, size in unsealed_pages(self._collection, files, self._reader, file):
                if self._is_dropping:
                    return  # the next process of this worker continues
                self._add(rows, file.archive_id, size)
        logger.warning("parsed the pages of %s, which a lost node had uploaded", file.name)
