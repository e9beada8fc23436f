"""Gives up the files of a worker whose node is gone.

Pages that were never uploaded are fetched again. Uploaded pages that are in no segment go to another worker, which
parses them.
"""

from __future__ import annotations

import json
import time
from collections import Counter

from periplus.model import UrlState, Verdict
from periplus.store.archive.warc_files import parse_archive_name
from periplus.store.catalog.batch import ArchiveFile
from periplus.store.catalog.live_state import Action
from periplus.store.catalog.queries import STATE_COUNTERS
from periplus.store.catalog.repair_catalog import RepairCatalog
from periplus.url import host_of


class LostFiles(RepairCatalog):
    """The catalog of a fleet, for the housekeeping of its workers; open it with `open_catalog`."""

    def lost_workers(self, grace: float) -> list[int]:
        """The workers without a lease for *grace* seconds that have not uploaded all archive files and segments."""
        return [worker for (worker,) in self._database.rows("lost_workers", grace)]

    def remove_lost_nodes(self, grace: float) -> list[str]:
        """Remove nodes from the registry that have had no lease for *grace* seconds and have no files left."""
        with self._database.transaction():
            removed = [name for (name,) in self._database.rows("remove_lost_nodes", grace)]
            for name in removed:
                self._database.run("remove_lost_processes", name)
        return removed

    def give_up(self, worker: int, grace: float, successor: int) -> list[str]:
        """Remove the archive files and segments of a worker that are not in the object store; returns the queued URLs.

        Does nothing when the worker has come back. Its uploader finds no row then and keeps its file aside. Workers
        that own the hosts are told in the same transaction. The worker *successor* has to write segments of the
        uploaded pages that are in none.
        """
        return self._database.retry(lambda: self._give_up(worker, grace, successor))

    def taken_over(self, successor: int) -> list[ArchiveFile]:
        """The archive files of lost workers of which a worker has to write segments."""
        return [file for file in self.unsealed_archives(successor) if parse_archive_name(file.name)[0] != successor]

    def _give_up(self, worker: int, grace: float, successor: int) -> list[str]:
        urls: list[str] = []
        with self._database.transaction():
            if self._database.row("lock_lost_worker", worker, grace) is None:
                return []
            if self._database.row("has_live_node", worker) is not None:
                return []
            for (archive_id,) in list(self._database.rows("give_up_archives", worker)):
                urls += self._give_up_file(archive_id)
            self._database.run("uncover_waiting_segments", worker)
            self._database.run("drop_waiting_segments", worker)
            self._database.run("take_over_archives", worker, successor)
            if urls:
                hosts = json.dumps({"hosts": sorted(set(map(host_of, urls)))})
                self._database.row("add_command", time.time(), Action.RELOAD, "", hosts, "fleet")
        return urls

    def _give_up_file(self, archive_id: int) -> list[str]:
        states = dict(self._database.rows("lost_urls", archive_id))
        lost = list(self.fetches_in(archive_id))
        counts: Counter[str] = Counter()
        for state in states.values():
            counts[STATE_COUNTERS[UrlState(state)]] -= 1
        kept = [fetch for fetch in lost if fetch.decision.verdict is Verdict.FETCHED]
        counts.update({"queued": len(states), "fetched": -len(kept), "bytes": -sum(fetch.size for fetch in kept)})
        self._forget(archive_id, lost)
        self._database.many("add_to_counter", sorted(counts.items()))
        self._database.run("drop_archive", archive_id)
        return list(states)
