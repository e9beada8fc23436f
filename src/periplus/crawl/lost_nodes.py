"""Looks for nodes of the fleet that are gone, and has the pages fetched again that they never uploaded.

The first worker of every node looks; rows are locked, so only one of them gives a file up.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager
from threading import Event, Thread

from periplus.errors import PeriplusError
from periplus.store.collection import Collection
from periplus.store.objects.lost_files import LostFiles
from periplus.store.open_catalog import open_catalog

logger = logging.getLogger("periplus.crawl")

_LONGEST_INTERVAL = 60.0  # seconds between two looks


def give_up_lost_files(collection: Collection, grace: float) -> int:
    """Queue the pages again that silent workers have not uploaded; returns their number. *grace*: seconds."""
    with closing(open_catalog(collection, LostFiles)) as files:
        queued = sum(len(files.give_up(worker, grace)) for worker in files.lost_workers(grace))
        for node in files.remove_lost_nodes(grace):
            logger.warning("node %s has been silent for %.0f s and is removed from the list of nodes", node, grace)
        return queued


@contextmanager
def looking_for_lost_nodes(collection: Collection, grace: float) -> Iterator[None]:
    """Look regularly during the block, in a thread of its own."""
    ended = Event()
    thread = Thread(target=_look_often, args=(collection, grace, ended), name="lost nodes", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _look_often(collection: Collection, grace: float, ended: Event) -> None:
    while not ended.wait(min(grace / 4, _LONGEST_INTERVAL)):
        try:
            if pages := give_up_lost_files(collection, grace):
                logger.warning("queued %d pages again, which a silent node has not uploaded", pages)
        except PeriplusError as error:
            logger.warning("%s", error)
