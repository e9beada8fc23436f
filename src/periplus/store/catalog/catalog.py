"""Writes the catalog: acknowledges batches, and serves the queues of the frontier.

Workers of one crawl may write at the same time; any number of processes may read. A batch is acknowledged when `commit`
has returned: it then survives a power cut.
"""

from __future__ import annotations

import json
import time
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import accumulate
from typing import Any

from periplus.errors import CollectionLocked
from periplus.model import Fetch, HostPolicy, Pattern, QueuedUrl, Reason, UrlState, Verdict
from periplus.store.catalog import batch as records
from periplus.store.catalog.batch import Batch, ForwardedUrl, Revisit, Settled, Written
from periplus.store.catalog.host_changes import apply_block, retry_host
from periplus.store.catalog.live_state import Publication, write_publication
from periplus.store.catalog.queries import STATE_COUNTERS, Queries
from periplus.store.database.database import Database
from periplus.store.manifest import SealedSegment
from periplus.store.shares import ALL_SHARES, share_of
from periplus.url import registrable_domain, url_key

_HOST_IDS_CACHED = 200_000
_SEEN_CHUNKS = 512  # chunks of the seen filter above which they are packed
_PACKED_AT_ONCE = 8 << 20  # bytes of their keys
_KEY_TYPE, _SHARE_TYPE = "Q", "H"  # of arrays; numpy would be slow to import where only a crawl is watched


class Catalog(Queries):
    """The database of a collection, for the crawl: everything that writes, and the queues."""

    def __init__(self, database: Database) -> None:
        """As `Queries`; of a database that is open for reading, only the methods that read can be called."""
        super().__init__(database)
        self._host_ids: dict[str, int] = {}

    def fence(self, worker: int, token: int, on_commit: Callable[[], None]) -> None:
        """Refuse every later transaction when the worker has lost its lease; see `Database.fence`."""
        self._database.fence(worker, token, on_commit)

    def guard(self, require_held: Callable[[], None]) -> None:
        """Refuse every later transaction when a lock was lost; see `Collection.locked`."""
        self._database.guard(require_held)

    # -- the acknowledgement ------------------------------------------------------------------------------------

    def commit(self, batch: Batch, written: Written, run_id: int, summary: dict[str, Any]) -> int:
        """Make *batch* durable in one transaction; *written* names the synced archive file. Returns the archive id."""
        return self._database.retry(lambda: self._commit(batch, written, run_id, summary))

    def _commit(self, batch: Batch, written: Written, run_id: int, summary: dict[str, Any]) -> int:
        many = self._database.many
        with self._database.transaction(undo=self._host_ids.clear):
            extend = "extend_waiting_archive" if written.waits else "extend_archive"
            (archive_id,) = self._database.row(extend, written.worker, written.name, written.size)
            self._learn_hosts([*(item.host for item in batch.admitted), *batch.policies, *batch.qualities])
            counts = self._admit(batch.admitted)
            many("import_out_of_scope", ((url,) for url in batch.imported))
            counts.update(self._revisit(batch.revisits))  # before _settle: a revisit may be settled in the same batch
            counts.update(self._settle(batch.settled, run_id, archive_id))
            counts.update(self._add_fetches(batch.versions, run_id, archive_id))
            self._add_fetches([entry.fetch for entry in batch.entered if entry.fetch is not None], run_id, archive_id)
            many("apply_sitemap_date", batch.notices)
            self._store_copies(batch)
            many("set_pattern", batch.patterns)
            counts.update(self._requeue_refused(batch.harmless))
            many("add_seed", ((url, time.time()) for url in batch.seeds))
            many("add_refusal_sample", map(records.refusal_row, batch.samples))
            many("set_policy", ((*records.policy_row(p), self._host_id(p.host)) for p in batch.policies.values()))
            many("add_quality", ((*sums, self._host_id(host)) for host, sums in batch.qualities.items()))
            many("set_robots", map(records.robots_row, batch.robots))
            many("add_forwarded_url", batch.forwarded)
            many("remove_forwarded_url", ((forward_id,) for forward_id in batch.received))
            counts.update(self._change_hosts(batch))
            self._database.run("set_worker_summary", run_id, written.worker, json.dumps(summary))
            if batch.publication is not None:
                write_publication(self._database, batch.publication)
            # Other workers change these rows, too: last, so that they wait briefly; in order, so that none deadlocks.
            many("count_refusal", ((*key, count) for key, count in sorted(batch.refused.items())))
            many("count_refused_links", sorted(records.refused_by_reason(batch).items()))
            many("add_to_counter", sorted(counts.items()))
        return int(archive_id)

    def publish(self, publication: Publication) -> None:
        """Write what a worker reports about itself when it has nothing to commit."""
        self._database.retry(lambda: self._publish(publication))

    def _publish(self, publication: Publication) -> None:
        with self._database.transaction():
            write_publication(self._database, publication)

    def _change_hosts(self, batch: Batch) -> Counter[str]:
        """Apply blocks and retries again to the URLs that this batch has stored."""
        counts: Counter[str] = Counter()
        for host in batch.blocks:
            counts.update(apply_block(self._database, host))
        for host in batch.retried:
            counts.update(retry_host(self._database, host))
        return counts

    def _admit(self, items: list[QueuedUrl]) -> Counter[str]:
        now, ids = time.time(), self._host_ids  # of all hosts of the batch
        added = self._database.many("admit", ((*records.admission_row(item), ids[item.host], now) for item in items))
        if items:
            self._database.run("add_seen", *seen_chunk((item.url, item.host) for item in items))
        return Counter({"known": added, "queued": added})

    def _settle(self, settled: list[Settled], run_id: int, archive_id: int) -> Counter[str]:
        now = time.time()
        found = self._database.many("settle", (records.settled_row(entry, now) for entry in settled))
        left_queue = [entry.state for entry in settled if entry.state is not UrlState.QUEUED]
        counts = Counter(STATE_COUNTERS[state] for state in left_queue)
        counts.update(queued=-len(left_queue))
        if found < len(settled):
            counts.update(self._settle_changed(settled, now))
        counts.update(
            self._add_fetches([entry.fetch for entry in settled if entry.fetch is not None], run_id, archive_id)
        )
        return counts

    def _settle_changed(self, settled: list[Settled], now: float) -> Counter[str]:
        """Settle the URLs that another process has taken out of the queue: the user blocked their host meanwhile.

        Returns the correction of counters that take each URL for a queued one.
        """
        correction: Counter[str] = Counter()
        changed: set[str] = set()
        for url in {entry.item.url for entry in settled}:
            if (row := self._database.row("state_unless_changed", url, now)) is not None:
                changed.add(url)
                correction.update({"queued": 1, STATE_COUNTERS[UrlState(row[0])]: -1})
        rows = (records.settled_row(entry, now) for entry in settled if entry.item.url in changed)
        self._database.many("settle_any", rows)
        return correction

    def _revisit(self, revisits: list[Revisit]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for state in {revisit.state for revisit in revisits}:
            rows = (records.revisit_row(revisit) for revisit in revisits if revisit.state is state)
            number = self._database.many("revisit", rows)
            counts.update({"queued": number, STATE_COUNTERS[state]: -number})
        return counts

    def _requeue_refused(self, patterns: Iterable[tuple[str, str]]) -> Counter[str]:
        """Requeue the URLs that patterns refused."""
        now = time.time()
        number = self._database.many("requeue_refused", ((now, host, pattern) for host, pattern in patterns))
        return Counter(queued=number, refused=-number)

    def requeue_trapped(self) -> None:
        """Requeue all URLs that suspected traps refused."""
        with self._database.transaction():
            counts = self._requeue_refused((one.host, one.pattern) for one in self.patterns() if one.saved)
            self._database.many("add_to_counter", counts.items())

    def _store_copies(self, batch: Batch) -> None:
        """Store which pages are duplicates. Equal bytes override near-duplicates, and the newest version counts."""
        again = [entry.item.url for entry in batch.settled if entry.item.visits > 1 and _is_content(entry.fetch)]
        fetches = [entry.fetch for entry in batch.settled if entry.fetch is not None] + batch.versions
        rows = [records.content_row(fetch) for fetch in fetches if _is_content(fetch)]
        self._database.many("remove_copy", ((url,) for url in again))
        self._database.many("set_near_copy", batch.copies)
        self._database.many("add_content", (row[:2] for row in rows))
        self._database.many("set_exact_copy", rows)

    def _add_fetches(self, fetches: list[Fetch], run_id: int, archive_id: int) -> Counter[str]:
        self._database.many("add_fetch", (records.fetch_row(fetch, run_id, archive_id) for fetch in fetches))
        kept = [fetch for fetch in fetches if fetch.decision.verdict is Verdict.FETCHED]
        return Counter(fetched=len(kept), bytes=sum(fetch.size for fetch in kept))

    def requeue(self, urls: Iterable[str], *, done_too: bool = False) -> None:
        """Requeue seeds that failed or were refused; with *done_too* also those that were fetched.

        The targets of a redirected seed are requeued with it.
        """
        again = list(urls)
        again += [target for url in again for target in self._redirect_chain(url)] if done_too else []
        states = (UrlState.FAILED, UrlState.REFUSED, UrlState.DONE)[: 2 + done_too]
        with self._database.transaction():
            self._database.many("add_to_counter", self._requeue_in("requeue", again, states).items())

    def _requeue_in(self, statement: str, urls: list[str], states: Iterable[UrlState]) -> Counter[str]:
        """Requeue those of the URLs that are in one of the states."""
        counts, now = Counter[str](), time.time()
        for state in states:
            number = self._database.many(statement, ((now, url, state) for url in urls))
            counts.update({"queued": number})
            counts.update({STATE_COUNTERS[state]: -number})
        return counts

    def _redirect_chain(self, url: str) -> list[str]:
        chain = [url]
        while (fetches := self.fetches_of(chain[-1])) and (target := fetches[-1].redirect_to) not in ("", *chain):
            chain.append(target)
        return chain[1:]

    def requeue_sitemaps(self, sitemaps: Iterable[str]) -> None:
        """Requeue sitemaps, also URLs that are known as something else."""
        with self._database.transaction():
            counts = self._requeue_in("requeue_sitemap", list(sitemaps), STATE_COUNTERS)
            self._database.many("add_to_counter", counts.items())

    def release_held(self) -> int:
        """Make the URLs that wait for the next round due; returns their number."""
        with self._database.transaction():
            return self._database.run("release_held").rowcount

    # -- the queues ---------------------------------------------------------------------------------------------

    def waiting_hosts(self, shares: Collection[int] = ALL_SHARES) -> list[HostPolicy]:
        """The hosts of some shares with queued URLs, and those that an earlier release added without their share."""
        return [HostPolicy(*row) for row in self._database.rows("waiting_hosts", _json_list(shares))]

    def queue_of(self, host: str, limit: int, now: float) -> list[QueuedUrl]:
        """The best *limit* queued URLs of a host that are due."""
        row = self._database.row("host_id", host)
        if row is None:
            return []
        rows = self._database.rows("queue_of_host", row[0], now, limit)
        return [records.queued_from_row(host, entry) for entry in rows]

    def next_due(self, host: str, now: float) -> float | None:
        """When the next queued URL of a host becomes due; None when all are due or none is queued."""
        row = self._database.row("host_id", host)
        due = None if row is None else self._database.row("next_due", row[0], now)[0]
        return None if due is None else float(due)

    def due_again(self, until: float, after: tuple[float, float, str], limit: int) -> list[Revisit]:
        """The URLs that are due for a recrawl by *until*, paged: *after* is the last (due time, interval, URL) seen."""
        return [records.revisit_from_row(row) for row in self._database.rows("due_again", until, *after, limit)]

    def known_urls(self) -> Iterator[str]:
        """Every URL ever admitted."""
        return (url for (url,) in self._database.rows("known_urls"))

    def seen_keys(self, shares: Collection[int] = ALL_SHARES) -> Iterator[tuple[array[int], array[int] | None]]:
        """The chunks of the seen filter: keys of all admitted URLs, and the shares of these URLs.

        Every key of *shares* is among them; keys of other shares may be. None: the chunk is of an earlier release,
        and each of its keys may be of any share.
        """
        # `seen` first: a chunk that is packed meanwhile is then read twice, not missed.
        for keys, shares_of_keys in self._database.rows("seen"):
            yield array(_KEY_TYPE, keys), None if shares_of_keys is None else array(_SHARE_TYPE, shares_of_keys)
        for share, keys in self._database.rows("packed_seen", _json_list(shares)):
            found = array(_KEY_TYPE, keys)
            yield found, array(_SHARE_TYPE, [share]) * len(found)

    def forwarded_urls(
        self, after: int, limit: int, shares: Collection[int] | None = None
    ) -> list[tuple[int, ForwardedUrl]]:
        """URLs forwarded to the workers that own their domains, with ids greater than *after*.

        *shares*: of these only; in the database of a fleet.
        """
        if shares is None:
            rows = self._database.rows("forwarded_urls", after, limit)
        else:
            rows = self._database.rows("forwarded_to", after, limit, list(shares))
        return [
            (forward_id, ForwardedUrl(share, url, depth, Reason(reason), via, redirects))
            for forward_id, share, url, depth, reason, via, redirects in rows
        ]

    def pack_seen(self) -> None:
        """Sort the keys of old chunks by share, so that a worker reads those of its own shares only."""
        while chunks := self._chunks_to_pack():
            last, _ = chunks[-1]
            self._database.retry(partial(self._pack_seen, last))

    def _pack_seen(self, last: int) -> None:
        with self._database.transaction():
            taken = list(self._database.rows("take_seen", last))
            self._database.many("pack_seen", packed_rows(taken))

    def _chunks_to_pack(self) -> list[tuple[int, int]]:
        """Ids and sizes of the oldest chunks, if there are many; as many as may be in memory at once."""
        chunks = list(self._database.rows("seen_sizes", _SEEN_CHUNKS + 1))
        if len(chunks) <= _SEEN_CHUNKS:
            return []
        ends = accumulate(size for _, size in chunks)
        return [chunk for chunk, end in zip(chunks, ends, strict=True) if end <= _PACKED_AT_ONCE] or chunks[:1]

    def domain_sizes(self, shares: Collection[int] = ALL_SHARES) -> dict[str, int]:
        """URLs admitted so far per registrable domain of some shares, and of hosts without a share."""
        return dict(self._database.rows("domain_sizes", _json_list(shares)))

    def hosts(self, shares: Collection[int] = ALL_SHARES) -> Iterator[tuple[str, str]]:
        """Every host of some shares, or without a share, that has admitted URLs; with its registrable domain."""
        return self._database.rows("hosts", _json_list(shares))

    def patterns(self) -> list[Pattern]:
        """The URL patterns of all hosts."""
        return [Pattern(*row) for row in self._database.rows("patterns")]

    # -- archive and segments -----------------------------------------------------------------------------------

    def seal(
        self, worker: int, number: int, segments: list[SealedSegment], upto: dict[int, int], *, is_stored: bool = True
    ) -> None:
        """Add segments to the manifest, and store how many bytes of each archive file they cover.

        *is_stored*: readers may see them; otherwise after their upload.
        """
        self._database.retry(lambda: self._seal(worker, number, segments, upto, is_stored=is_stored))

    def _seal(
        self, worker: int, number: int, segments: list[SealedSegment], upto: dict[int, int], *, is_stored: bool
    ) -> None:
        now = time.time()
        with self._database.transaction():
            self._database.many("add_segment", ((*segment, worker, number, now) for segment in segments))
            if not is_stored:
                for segment in segments:  # before `sealed` grows
                    self._database.run("hold_segment", segment.name, list(upto))
            self._database.many("seal_archive", ((size, archive_id) for archive_id, size in upto.items()))

    def replace_segments(self, successors: Iterable[tuple[str, SealedSegment]]) -> None:
        """Replace segments, given by name, in one transaction."""
        with self._database.transaction():
            self._replace_segments(successors)

    def _replace_segments(self, successors: Iterable[tuple[str, SealedSegment]]) -> None:
        rows = [(*segment, time.time(), old) for old, segment in successors]
        self._require_changed(self._database.many("replace_segment", rows), len(rows))

    def merge_segments(self, merged: Iterable[tuple[list[str], SealedSegment]], last: int) -> None:
        """Replace several segments, given by name and in order, by one each, in one transaction.

        *last*: the number of the last of them.
        """
        now = time.time()
        with self._database.transaction():
            for names, segment in merged:
                changed = self._database.run("merge_segment", *segment, now, last, names[0]).rowcount
                changed += self._database.many("drop_segment", [(name,) for name in names[1:]])
                self._require_changed(changed, len(names))

    def _require_changed(self, changed: int, wanted: int) -> None:
        """Undo a transaction that has not found every row: another process has replaced files of the catalog."""
        if changed != wanted:
            why = "another process has replaced segments or archive files meanwhile"
            raise CollectionLocked(f"{self.place} has changed", why, "Run the command again.")

    # -- runs and figures ---------------------------------------------------------------------------------------

    def begin_run(self, arguments: dict[str, Any]) -> int:
        """Store the start of a run; returns its id."""
        with self._database.transaction():
            (run_id,) = self._database.row("begin_run", time.time(), json.dumps(arguments))
        return int(run_id)

    def end_round(self, run_id: int, summary: dict[str, Any]) -> None:
        """Store the sum of the finished rounds of a run; its workers start counting at 0 again."""
        with self._database.transaction():
            self._database.run("set_summary", json.dumps(summary), run_id)
            self._database.run("clear_worker_summaries", run_id)

    def end_run(self, run_id: int, outcome: str, summary: dict[str, Any]) -> None:
        """Store the end of a run."""
        with self._database.transaction():
            self._database.run("end_run", time.time(), outcome, json.dumps(summary), run_id)

    def _host_id(self, host: str) -> int:
        if host not in self._host_ids:
            self._learn_hosts([host])
        return self._host_ids[host]

    def _learn_hosts(self, hosts: Iterable[str]) -> None:
        """Look up or add the ids of all hosts at once."""
        if len(self._host_ids) >= _HOST_IDS_CACHED:
            self._host_ids.clear()
        new = {host: (registrable_domain(host), share_of(host)) for host in hosts if host not in self._host_ids}
        if new:
            self._host_ids |= self._database.ids("host_id", "add_host", new)


def seen_chunk(urls: Iterable[tuple[str, str]]) -> tuple[bytes, bytes]:
    """Keys and shares of URLs, each given with its host, as the seen filter stores them."""
    keys, shares = array(_KEY_TYPE), array(_SHARE_TYPE)
    for url, host in urls:
        keys.append(url_key(url))
        shares.append(share_of(host))
    return keys.tobytes(), shares.tobytes()


def packed_rows(chunks: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[int, bytes]]:
    """The keys of some chunks of the seen filter, as rows of one share each."""
    by_share: defaultdict[int, array[int]] = defaultdict(lambda: array(_KEY_TYPE))
    for keys, shares in chunks:
        for key, share in zip(array(_KEY_TYPE, keys), array(_SHARE_TYPE, shares), strict=True):
            by_share[share].append(key)
    return ((share, by_share[share].tobytes()) for share in sorted(by_share))


def _json_list(shares: Collection[int]) -> str:
    """Shares as a parameter of a statement."""
    return json.dumps([*shares])


def _is_content(fetch: Fetch | None) -> bool:
    """Whether a fetch has content that may be compared with other pages."""
    return fetch is not None and fetch.is_version and fetch.size > 0
