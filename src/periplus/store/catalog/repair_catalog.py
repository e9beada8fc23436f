"""Changes the catalog as `periplus repair` needs it: removes rows of lost records, and counts everything again."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from periplus.model import Fetch, QueuedUrl
from periplus.store.catalog.batch import ArchiveFile, admission_row, signed
from periplus.store.catalog.catalog import Catalog, packed_rows, seen_chunk
from periplus.url import host_of, url_key


class RepairCatalog(Catalog):
    """The catalog of a collection that is being repaired; no other process may use it."""

    def add_blocked(self, hosts: Iterable[str]) -> None:
        """Block the hosts that were blocked in a damaged catalog."""
        with self._database.transaction():
            self._database.many("block_host", ((host, time.time()) for host in hosts))

    def add_salvaged(self, seeds: Iterable[str], urls: Iterable[QueuedUrl]) -> None:
        """Add the seeds and URLs of a damaged catalog; every URL becomes queued."""
        now = time.time()
        rows = ((*admission_row(item), self._host_id(item.host), now) for item in urls)
        with self._database.transaction():
            self._database.many("add_seed", ((url, now) for url in seeds))
            self._database.many("admit", rows)
        self.count_again()

    def forget(self, archive_id: int, lost: Sequence[Fetch]) -> None:
        """Remove fetches whose archive record is lost, and queue their URLs again."""
        with self._database.transaction():
            self._forget(archive_id, lost)

    def _forget(self, archive_id: int, lost: Sequence[Fetch]) -> None:
        offsets = [fetch.position.offset for fetch in lost if fetch.position is not None]
        keys, now = [(signed(url_key(fetch.url)), fetch.url) for fetch in lost], time.time()
        self._database.many("remove_fetch", ((archive_id, offset) for offset in offsets))
        self._database.many("remove_content_without_fetch", ((key,) for key, _ in keys))
        self._database.many("remove_copy", ((url,) for _, url in keys))
        self._database.many("queue_lost", ((now, key, url) for key, url in keys))

    def add_archive(self, worker: int, name: str, size: int) -> None:
        """Add an archive file that the catalog does not list."""
        with self._database.transaction():
            self._database.row("extend_archive", worker, name, size)

    def set_archive_size(self, file: ArchiveFile, size: int) -> None:
        """Store a new acknowledged size of an archive file."""
        with self._database.transaction():
            self._database.run("set_archive_size", size, min(file.sealed, size), file.archive_id)

    def rename_archive(self, file: ArchiveFile, name: str) -> None:
        """Store another name of an archive file."""
        with self._database.transaction():
            self._database.run("rename_archive", name, file.archive_id)

    def claim_segments(self) -> None:
        """State that segments have all pages of the archive, so that `verify` reports those that are missing."""
        with self._database.transaction():
            self._database.run("claim_segments")

    def drop_segments(self, names: Iterable[str]) -> None:
        """Remove segments from the manifest, whose pages are in other segments now."""
        with self._database.transaction():
            self._database.many("drop_segment", ((name,) for name in names))

    def count_again(self) -> None:
        """Store the counters and the seen filter anew, computed from the rows."""
        with self._database.transaction():
            self._count_again()

    def _count_again(self) -> None:
        chunk = seen_chunk((url, host_of(url)) for url in self.known_urls())
        counters = self.recount()
        self._database.run("clear_counters")
        self._database.many("add_to_counter", counters.items())
        self._database.run("recount_hosts")
        self._database.run("clear_outcomes")
        self._database.run("recount_outcomes")
        self._database.run("clear_seen")
        self._database.run("clear_packed_seen")
        self._database.many("pack_seen", packed_rows([chunk]))
