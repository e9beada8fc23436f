"""What has been acknowledged, and what waits?

One process writes a catalog; any number may read it. `commit` is the acknowledgement: what it has returned from
survives a power cut.
"""

from __future__ import annotations

import json
import struct
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from periplus.model import NEVER_SUSPECTED, Fetch, HostPolicy, Pattern, QueuedUrl, Reason, UrlState, Verdict
from periplus.store import batch as ledger
from periplus.store.batch import Batch, ForwardedUrl, Revisit, Settled, Written
from periplus.store.manifest import SealedSegment
from periplus.store.queries import STATE_COUNTERS, Queries
from periplus.url import registrable_domain, url_key

_HOSTS_REMEMBERED = 200_000
_SEEN_CHUNKS = 512  # pieces of the seen filter that may lie about before they are joined
_SEEN_AT_ONCE = 8 << 20  # bytes of one that was joined


class Catalog(Queries):
    """The rows of a collection: what the crawl writes and its queues; the rest is looked up."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        super().__init__(path, create=create)
        self._host_ids: dict[str, int] = {}

    # -- the acknowledgement ------------------------------------------------------------------------------------

    def commit(self, batch: Batch, written: Written, run_id: int, summary: dict[str, Any]) -> int:
        """Make *batch* durable, its bytes being on disk as *written* says; returns the number of the archive file."""
        many = self._database.many
        with self._database.transaction(undo=self._host_ids.clear):
            (archive_id,) = self._database.row("extend_archive", *written)
            counts = self._admit(batch.admitted)
            many("import_out_of_scope", ((url,) for url in batch.imported))
            counts.update(self._revisit(batch.revisits))  # some of them may be settled already
            counts.update(self._settle(batch.settled, run_id, archive_id))
            counts.update(self._keep(batch.versions, run_id, archive_id))
            self._keep([entry.fetch for entry in batch.entered if entry.fetch is not None], run_id, archive_id)
            many("notice", batch.notices)
            self._note_copies(batch)
            many("set_pattern", batch.patterns)
            counts.update(self._bring_back(batch.harmless))
            many("add_seed", ((url, time.time()) for url in batch.seeds))
            many("count_refusal", ((*key, count) for key, count in batch.refused.items()))
            many("keep_refusal_sample", map(ledger.refusal_row, batch.samples))
            many("set_policy", ((*ledger.policy_row(p), self._host_id(p.host)) for p in batch.policies.values()))
            many("add_worth", ((*sums, self._host_id(host)) for host, sums in batch.worths.items()))
            many("set_robots", map(ledger.robots_row, batch.robots))
            many("post_letter", batch.letters)
            many("cross_out_letter", ((letter_id,) for letter_id in batch.received))
            many("add_to_counter", counts.items())
            self._database.run("set_worker_summary", run_id, written.worker, json.dumps(summary))
        return int(archive_id)

    def _admit(self, items: list[QueuedUrl]) -> Counter[str]:
        now = time.time()
        rows = ((*ledger.admission_row(item), self._host_id(item.host), now) for item in items)
        added = self._database.many("admit", rows)
        if items:
            keys = [url_key(item.url) for item in items]
            self._database.run("add_seen", struct.pack(f"<{len(keys)}Q", *keys))
        return Counter({"known": added, "queued": added})

    def _settle(self, settled: list[Settled], run_id: int, archive_id: int) -> Counter[str]:
        now = time.time()
        self._database.many("settle", (ledger.settled_row(entry, now) for entry in settled))
        left_queue = [entry.state for entry in settled if entry.state is not UrlState.QUEUED]
        counts = Counter(STATE_COUNTERS[state] for state in left_queue)
        counts.update(queued=-len(left_queue))
        counts.update(self._keep([entry.fetch for entry in settled if entry.fetch is not None], run_id, archive_id))
        return counts

    def _revisit(self, revisits: list[Revisit]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for state in {revisit.state for revisit in revisits}:
            rows = (ledger.revisit_row(revisit) for revisit in revisits if revisit.state is state)
            number = self._database.many("revisit", rows)
            counts.update({"queued": number, STATE_COUNTERS[state]: -number})
        return counts

    def _bring_back(self, patterns: Iterable[tuple[str, str]]) -> Counter[str]:
        """Queue again what patterns refused."""
        now = time.time()
        back = self._database.many("bring_back", ((now, host, pattern) for host, pattern in patterns))
        return Counter(queued=back, refused=-back)

    def requeue_trapped(self) -> None:
        """Queue again everything that patterns refused."""
        with self._database.transaction():
            counts = self._bring_back((one.host, one.pattern) for one in self.patterns() if one.saved)
            self._database.many("add_to_counter", counts.items())

    def unlearn(self, patterns: Iterable[Pattern]) -> int:
        """Never suspect some patterns again; returns how many URLs are queued again that they had refused."""
        trusted = [one._replace(score=NEVER_SUSPECTED, saved=0, spent=0) for one in patterns]
        with self._database.transaction():
            self._database.many("set_pattern", trusted)
            counts = self._bring_back((one.host, one.pattern) for one in trusted)
            self._database.many("add_to_counter", counts.items())
        return counts["queued"]

    def _note_copies(self, batch: Batch) -> None:
        """Write down which of the pages repeat another; the bytes have the last word, and the newest version counts."""
        again = [entry.item.url for entry in batch.settled if entry.item.visits > 1 and _is_content(entry.fetch)]
        fetches = [entry.fetch for entry in batch.settled if entry.fetch is not None] + batch.versions
        rows = [ledger.content_row(fetch) for fetch in fetches if _is_content(fetch)]
        self._database.many("forget_copy", ((url,) for url in again))
        self._database.many("note_copy", batch.copies)
        self._database.many("add_content", (row[:2] for row in rows))
        self._database.many("note_same_content", rows)

    def _keep(self, fetches: list[Fetch], run_id: int, archive_id: int) -> Counter[str]:
        self._database.many("add_fetch", (ledger.fetch_row(fetch, run_id, archive_id) for fetch in fetches))
        kept = [fetch for fetch in fetches if fetch.decision.verdict is Verdict.FETCHED]
        return Counter(fetched=len(kept), bytes=sum(fetch.size for fetch in kept))

    def requeue(self, urls: Iterable[str], *, done_too: bool = False) -> None:
        """Seeds given again that failed or were refused get another chance, and with *done_too* all are asked again.

        One that moved is asked at the addresses it led to as well.
        """
        again, now = list(urls), time.time()
        again += [target for url in again for target in self._led_to(url)] if done_too else []
        with self._database.transaction():
            for state in (UrlState.FAILED, UrlState.REFUSED, UrlState.DONE)[: 2 + done_too]:
                number = self._database.many("requeue", ((now, url, state) for url in again))
                counts = (("queued", number), (STATE_COUNTERS[state], -number))
                self._database.many("add_to_counter", counts)

    def _led_to(self, url: str) -> list[str]:
        trail = [url]
        while (fetches := self.fetches_of(trail[-1])) and (target := fetches[-1].redirect_to) not in ("", *trail):
            trail.append(target)
        return trail[1:]

    def reread(self, sitemaps: Iterable[str]) -> None:
        """Sitemaps given again are read again, also those that were met before as something else."""
        again, now = list(sitemaps), time.time()
        with self._database.transaction():
            for state, name in STATE_COUNTERS.items():
                number = self._database.many("reread", ((now, url, state) for url in again))
                self._database.many("add_to_counter", ((name, -number), ("queued", number)))

    def release_held(self) -> int:
        """What a round has found waits no longer; returns how many URLs that are."""
        with self._database.transaction():
            return self._database.run("release_held").rowcount

    # -- the queues ---------------------------------------------------------------------------------------------

    def waiting_hosts(self) -> list[HostPolicy]:
        """Hosts that have something queued."""
        return [HostPolicy(*row) for row in self._database.rows("waiting_hosts")]

    def queue_of(self, host: str, limit: int, now: float) -> list[QueuedUrl]:
        """The best *limit* URLs of a host that are acknowledged as queued, and due."""
        row = self._database.row("host_id", host)
        if row is None:
            return []
        rows = self._database.rows("queue_of_host", row[0], now, limit)
        return [ledger.queued_from_row(host, entry) for entry in rows]

    def next_due(self, host: str, now: float) -> float | None:
        """When the first of the URLs of a host that are not due yet will be; None when it has none."""
        row = self._database.row("host_id", host)
        due = None if row is None else self._database.row("next_due", row[0], now)[0]
        return None if due is None else float(due)

    def due_again(self, until: float, after: tuple[float, float, str], limit: int) -> list[Revisit]:
        """What was asked before and is due by *until*: a part, from the last due time, interval and URL seen on."""
        return [ledger.revisit_from_row(row) for row in self._database.rows("due_again", until, *after, limit)]

    def known_urls(self) -> Iterator[str]:
        """Every URL ever admitted."""
        return (url for (url,) in self._database.rows("known_urls"))

    def seen_keys(self, after: int = 0) -> Iterator[tuple[int, bytes]]:
        """The keys of every URL ever admitted, 8 bytes each, piece by piece, after the piece with this number."""
        return self._database.rows("seen", after)

    def letters(self, after: int, limit: int) -> list[tuple[int, ForwardedUrl]]:
        """Links that wait for the owners of their domains, from a letter on, with their numbers."""
        rows = self._database.rows("letters", after, limit)
        return [
            (letter_id, ForwardedUrl(share, url, depth, Reason(reason), via, redirects))
            for letter_id, share, url, depth, reason, via, redirects in rows
        ]

    def pack_seen(self) -> None:
        """Join the small pieces that commits leave, so that the next start reads few large ones."""
        (chunks,) = self._database.row("seen_chunks")
        if chunks <= _SEEN_CHUNKS:
            return
        keys = b"".join(keys for _, keys in self.seen_keys())
        with self._database.transaction():
            self._database.run("forget_seen")
            pieces = (keys[start : start + _SEEN_AT_ONCE] for start in range(0, len(keys), _SEEN_AT_ONCE))
            self._database.many("add_seen", ((piece,) for piece in pieces))

    def domain_sizes(self) -> dict[str, int]:
        """URLs admitted so far per registrable domain."""
        return dict(self._database.rows("domain_sizes"))

    def hosts(self) -> Iterator[tuple[str, str]]:
        """Every host of which a URL was admitted, and its registrable domain."""
        return self._database.rows("hosts")

    def patterns(self) -> list[Pattern]:
        """What was learned about the addresses of all hosts."""
        return [Pattern(*row) for row in self._database.rows("patterns")]

    # -- archive and segments -----------------------------------------------------------------------------------

    def seal(self, worker: int, number: int, segments: list[SealedSegment], upto: dict[int, int]) -> None:
        """Make segments live, and note up to where they cover each archive file."""
        now = time.time()
        with self._database.transaction():
            self._database.many("add_segment", ((*segment, worker, number, now) for segment in segments))
            self._database.many("seal_archive", ((size, archive_id) for archive_id, size in upto.items()))

    def replace_segments(self, successors: Iterable[tuple[str, SealedSegment]]) -> None:
        """Let segments take the places of those with these names, all at once."""
        now = time.time()
        with self._database.transaction():
            self._database.many("replace_segment", ((*segment, now, old) for old, segment in successors))

    # -- runs and figures ---------------------------------------------------------------------------------------

    def begin_run(self, arguments: dict[str, Any]) -> int:
        """Note that a run has started; returns its number."""
        with self._database.transaction():
            (run_id,) = self._database.row("begin_run", time.time(), json.dumps(arguments))
        return int(run_id)

    def end_round(self, run_id: int, summary: dict[str, Any]) -> None:
        """Note what the rounds of a run have done so far; its workers count from nothing again."""
        with self._database.transaction():
            self._database.run("keep_summary", json.dumps(summary), run_id)
            self._database.run("forget_worker_summaries", run_id)

    def end_run(self, run_id: int, outcome: str, summary: dict[str, Any]) -> None:
        """Note how a run ended."""
        with self._database.transaction():
            self._database.run("end_run", time.time(), outcome, json.dumps(summary), run_id)

    def _host_id(self, host: str) -> int:
        number = self._host_ids.get(host)
        if number is None:
            row = self._database.row("host_id", host) or self._database.row("add_host", host, registrable_domain(host))
            number = int(row[0])
            if len(self._host_ids) >= _HOSTS_REMEMBERED:
                self._host_ids.clear()
            self._host_ids[host] = number
        return number


def _is_content(fetch: Fetch | None) -> bool:
    """Whether there is something in it that another page may have too."""
    return fetch is not None and fetch.is_version and fetch.size > 0
