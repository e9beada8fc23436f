"""Removes forgotten URLs and hosts from every table of the catalog, and finds what is left of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from periplus.errors import CollectionLocked
from periplus.model import ArchivePosition
from periplus.store.block_list import BlockList
from periplus.store.catalog.repair_catalog import RepairCatalog
from periplus.store.database.database import Database
from periplus.store.manifest import SealedSegment

_COUNTED = {  # what the receipt calls the rows that each statement removes or changes
    "forget_seeds": "seeds",
    "forget_urls": "urls",
    "forget_vias": "mentions",
    "forget_details": "mentions",
    "forget_fetches": "fetches",
    "forget_fetch_details": "mentions",
    "forget_copies": "duplicates",
    "forget_inbox": "forwarded_urls",
    "forget_inbox_vias": "mentions",
    "forget_samples": "refused_samples",
    "forget_sample_texts": "mentions",
    "forget_refusals": "refusal_counts",
    "forget_patterns": "patterns",
    "forget_robots": "robots",
    "forget_hosts": "hosts",
    "forget_runs": "mentions",
    "forget_worker_runs": "mentions",
    "forget_commands": "mentions",
    "forget_workers": "mentions",
    "forget_blocked_hosts": "blocked_hosts",
}


class ForgetCatalog(RepairCatalog):
    """The catalog of a collection, of which some URLs are being forgotten; no other process may write it."""

    def __init__(self, database: Database, blocked: BlockList) -> None:
        super().__init__(database)
        self._blocked = blocked
        self._database.define_forgotten(blocked)
        self._database.run("drop_kept_bodies")
        self._database.run("keep_bodies")

    def positions(self) -> list[ArchivePosition]:
        """The archive records to erase."""
        return [ArchivePosition(*row) for row in self._database.rows("forgotten_positions")]

    def kept_positions(self) -> list[ArchivePosition]:
        """The archive records that stay, because revisit records of other URLs refer to them."""
        return [ArchivePosition(*row) for row in self._database.rows("kept_positions")]

    def forgotten_urls(self) -> list[str]:
        """The known URLs that are forgotten."""
        return [url for (url,) in self._database.rows("forgotten_urls")]

    def same_content(self) -> list[str]:
        """Other URLs with the same bytes as a forgotten URL."""
        return [url for (url,) in self._database.rows("same_content")]

    def count(self) -> Counter[str]:
        """The rows that `purge` would remove or change, by kind."""
        with self._database.trial():
            return self._purge()

    def purge(self, successors: Iterable[tuple[str, SealedSegment]]) -> Counter[str]:
        """Remove everything forgotten, and replace the segments that had some of it, in one transaction."""
        with self._database.transaction():
            self._replace_segments(successors)
            counts = self._purge()
            self._count_again()
        if not self._database.erase_deleted():
            raise CollectionLocked(
                f"{self._database.place} is in use",
                "a process is reading it",
                "Stop it, and run the same command again.",
            )
        return counts

    def _purge(self) -> Counter[str]:
        seeds = [url for (url,) in self._database.rows("lost_seeds")]
        counts: Counter[str] = Counter()
        for name, what in _COUNTED.items():
            counts[what] += self._database.run(name).rowcount
        self._database.many("add_seed", ((url, 0.0) for url in seeds))
        self._database.run("mark_kept_bodies")
        self._database.run("forget_contents")
        self._database.run("first_contents")
        return +counts

    def mentions(self) -> Counter[str]:
        """The number of values that name something forgotten, by table and column."""
        found: Counter[str] = Counter()
        for table, column in self._database.text_columns():
            is_kept = " AND fetch_id NOT IN (SELECT fetch_id FROM kept_bodies)" if table == "fetches" else ""
            condition = f"{column} <> '' AND scrubbed({column}) <> {column}{is_kept}"
            found[f"{table}.{column}"] = self._database.count_where(table, condition)
        return +found
