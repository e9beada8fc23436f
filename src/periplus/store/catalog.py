"""What is known about every URL and host, and what has been acknowledged?

One process writes a catalog; any number may read it. `commit` is the acknowledgement: what it has returned from
survives a power cut.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from periplus.model import Fetch, HostPolicy, QueuedUrl, Reason, RobotsFile, UrlState, Verdict
from periplus.store import ledger
from periplus.store.database import Database
from periplus.store.ledger import ArchiveFile, Batch, Letter, Settled, Written
from periplus.store.segments import SealedSegment
from periplus.store.summaries import joined
from periplus.url import registrable_domain, url_key

_STATE_COUNTERS = {
    UrlState.QUEUED: "queued",
    UrlState.DONE: "done",
    UrlState.REFUSED: "refused",
    UrlState.FAILED: "failed",
}
_HOSTS_REMEMBERED = 200_000
_KEY = np.dtype("<u8")
_SEEN_CHUNKS = 512  # pieces of the seen filter that may lie about before they are joined
_SEEN_AT_ONCE = 1 << 20


class Catalog:
    """The rows of a collection."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self._database = Database(path, create=create)
        self._host_ids: dict[str, int] = {}

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    # -- the acknowledgement ------------------------------------------------------------------------------------

    def commit(self, batch: Batch, written: Written, run_id: int, summary: dict[str, Any]) -> int:
        """Make *batch* durable, its bytes being on disk as *written* says; returns the number of the archive file."""
        many = self._database.many
        with self._database.transaction(undo=self._host_ids.clear):
            (archive_id,) = self._database.row("extend_archive", *written)
            counts = self._admit(batch.admitted)
            counts.update(self._settle(batch.settled, run_id, archive_id))
            counts.update(self._keep(batch.versions, run_id, archive_id))
            visits = (entry.fetch for entry in batch.entered if entry.fetch is not None)
            many("add_fetch", (ledger.fetch_row(fetch, run_id, archive_id) for fetch in visits))
            many("add_seed", ((url, time.time()) for url in batch.seeds))
            many("count_refusal", ((*key, count) for key, count in batch.refused.items()))
            many("keep_refusal_sample", map(ledger.refusal_row, batch.samples))
            many("set_policy", ((*ledger.policy_row(p), self._host_id(p.host)) for p in batch.policies.values()))
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
            keys = np.fromiter((url_key(item.url) for item in items), _KEY, len(items))
            self._database.run("add_seen", keys.tobytes())
        return Counter({"known": added, "queued": added})

    def _settle(self, settled: list[Settled], run_id: int, archive_id: int) -> Counter[str]:
        now = time.time()
        self._database.many("settle", (ledger.settled_row(entry, now) for entry in settled))
        left_queue = [entry.state for entry in settled if entry.state is not UrlState.QUEUED]
        counts = Counter(_STATE_COUNTERS[state] for state in left_queue)
        counts.update(queued=-len(left_queue))
        counts.update(self._keep([entry.fetch for entry in settled if entry.fetch is not None], run_id, archive_id))
        return counts

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
                counts = (("queued", number), (_STATE_COUNTERS[state], -number))
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
            for state, name in _STATE_COUNTERS.items():
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

    def known_urls(self) -> Iterator[str]:
        """Every URL ever admitted."""
        return (url for (url,) in self._database.rows("known_urls"))

    def seen_keys(self, after: int = 0) -> Iterator[tuple[int, NDArray[np.uint64]]]:
        """The keys of every URL ever admitted, piece by piece, after the piece with this number."""
        return ((piece, np.frombuffer(keys, _KEY)) for piece, keys in self._database.rows("seen", after))

    def letters(self, after: int, limit: int) -> list[tuple[int, Letter]]:
        """Links that wait for the owners of their domains, from a letter on, with their numbers."""
        rows = self._database.rows("letters", after, limit)
        return [
            (letter_id, Letter(share, url, depth, Reason(reason), via, redirects))
            for letter_id, share, url, depth, reason, via, redirects in rows
        ]

    def pack_seen(self) -> None:
        """Join the small pieces that commits leave, so that the next start reads few large ones."""
        (chunks,) = self._database.row("seen_chunks")
        if chunks <= _SEEN_CHUNKS:
            return
        keys = np.unique(np.concatenate([keys for _, keys in self.seen_keys()]))
        with self._database.transaction():
            self._database.run("forget_seen")
            pieces = (keys[start : start + _SEEN_AT_ONCE] for start in range(0, len(keys), _SEEN_AT_ONCE))
            self._database.many("add_seen", ((piece.tobytes(),) for piece in pieces))

    def domain_sizes(self) -> dict[str, int]:
        """URLs admitted so far per registrable domain."""
        return dict(self._database.rows("domain_sizes"))

    def hosts(self) -> Iterator[tuple[str, str]]:
        """Every host of which a URL was admitted, and its registrable domain."""
        return self._database.rows("hosts")

    def robots(self, origin: str) -> RobotsFile | None:
        """The robots.txt last fetched from an origin."""
        row = self._database.row("robots", origin)
        return RobotsFile(*row) if row else None

    def policy(self, host: str) -> HostPolicy | None:
        """How a host is treated, if it is known."""
        row = self._database.row("policy", host)
        return HostPolicy(*row) if row else None

    def seeds(self) -> list[str]:
        """Every seed ever given, oldest first."""
        return [url for (url,) in self._database.rows("seeds")]

    # -- archive and segments -----------------------------------------------------------------------------------

    def archives(self, worker: int | None = None) -> list[ArchiveFile]:
        """The archive files of one worker, or of all."""
        rows = self._database.rows("all_archives") if worker is None else self._database.rows("archives", worker)
        return [ArchiveFile(*row) for row in rows]

    def archive_workers(self) -> list[int]:
        """The workers that have ever written an archive file."""
        return [worker for (worker,) in self._database.rows("archive_workers")]

    def fetches_in(self, archive_id: int, offset: int = 0) -> Iterator[Fetch]:
        """What lies in an archive file from *offset* on, in order."""
        return map(ledger.fetch_from_row, self._database.rows("fetches_of_archive", archive_id, offset))

    def redirects(self) -> Iterator[tuple[str, str, float]]:
        """Every redirect that was met: the address, where it led, and when."""
        return self._database.rows("redirects")

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

    def segments(self, kind: str | None = None) -> list[SealedSegment]:
        """The manifest: live segments, oldest first."""
        found = [SealedSegment(*row) for row in self._database.rows("segments")]
        return [segment for segment in found if kind is None or segment.kind == kind]

    def last_segment(self, worker: int) -> int:
        """The number of a worker's newest segment; 0 before the first."""
        (number,) = self._database.row("last_segment", worker)
        return int(number)

    # -- runs and figures ---------------------------------------------------------------------------------------

    def begin_run(self, arguments: dict[str, Any]) -> int:
        """Note that a run has started; returns its number."""
        with self._database.transaction():
            (run_id,) = self._database.row("begin_run", time.time(), json.dumps(arguments))
        return int(run_id)

    def end_run(self, run_id: int, outcome: str, summary: dict[str, Any]) -> None:
        """Note how a run ended."""
        with self._database.transaction():
            self._database.run("end_run", time.time(), outcome, json.dumps(summary), run_id)

    def runs(self, limit: int) -> list[dict[str, Any]]:
        """The newest runs, newest first, with their arguments and summaries."""
        return list(map(self._run, self._database.records("newest_runs", limit)))

    def run(self, run_id: int) -> dict[str, Any] | None:
        """One run, with its arguments and summary."""
        return next(map(self._run, self._database.records("run", run_id)), None)

    def last_run(self) -> dict[str, Any] | None:
        """The newest run, with its arguments and summary."""
        return next(iter(self.runs(1)), None)

    def _run(self, row: dict[str, Any]) -> dict[str, Any]:
        summary = json.loads(row["summary"]) or self.progress(row["run_id"])
        return row | {"arguments": json.loads(row["arguments"]), "summary": summary}

    def progress(self, run_id: int) -> dict[str, Any]:
        """What the workers of a run that has not ended had done together by their last commits."""
        summaries = [json.loads(summary) for (summary,) in self._database.rows("worker_summaries", run_id)]
        counters = self.counters()
        known = {"known_urls": counters["known"], "queued": counters["queued"]}
        return joined(summaries) | known if summaries else {}

    def counters(self) -> dict[str, int]:
        """The running figures; `recount` computes the same from the rows."""
        found = dict(self._database.rows("counters"))
        return {name: found.get(name, 0) for name in ("known", *_STATE_COUNTERS.values(), "fetched", "bytes")}

    def recount(self) -> dict[str, int]:
        """The figures that `counters` should hold, counted row by row."""
        by_state = dict(self._database.rows("recount_urls"))
        fetched, size = self._database.row("recount_fetches")
        counts = {name: by_state.get(int(state), 0) for state, name in _STATE_COUNTERS.items()}
        return {"known": sum(by_state.values()), **counts, "fetched": fetched, "bytes": size}

    def miscounted_hosts(self) -> list[tuple[str, int, int]]:
        """Hosts whose number of URLs is not what a recount gives: name, what is noted, what was counted."""
        return list(self._database.rows("miscounted_hosts"))

    def refusals(self) -> dict[str, int]:
        """Links refused so far, by reason."""
        return dict(self._database.rows("refusals_by_reason"))

    # -- one URL ------------------------------------------------------------------------------------------------

    def url(self, text: str) -> dict[str, Any] | None:
        """Everything the catalog holds about one URL, or None when it was never admitted."""
        return self._database.record("url", text)

    def fetches_of(self, text: str) -> list[Fetch]:
        """Every attempt at one URL, oldest first."""
        rows = self._database.rows("fetches_of_url", ledger.signed(url_key(text)), text)
        return [ledger.fetch_from_row(row) for row in rows]

    def version_of(self, text: str) -> Fetch | None:
        """The last version of a URL, with the validators that its server sent last; None when it was never fetched."""
        fetched = [fetch for fetch in self.fetches_of(text) if fetch.decision.verdict is Verdict.FETCHED]
        version = next((fetch for fetch in reversed(fetched) if fetch.is_version), None)
        return version and replace(version, etag=fetched[-1].etag, last_modified=fetched[-1].last_modified)

    def refusal_of(self, host: str, text: str) -> tuple[str, str, str] | None:
        """Reason, detail and referring page of a refused link, when it is among the samples kept."""
        row = self._database.row("refusal_sample", host, text)
        return (row[0], row[1], row[2]) if row else None

    # -- one host -----------------------------------------------------------------------------------------------

    def standings(self, host: str) -> Counter[tuple[UrlState, str]]:
        """How many URLs of a host stand where, and why."""
        found: Counter[tuple[UrlState, str]] = Counter()
        for scheme in ("http", "https"):
            for start in (f"{scheme}://{host}/", f"{scheme}://{host}:"):
                for state, reason, number in self._database.rows("standings_between", start, _past(start)):
                    found[UrlState(state), reason] += number
        return found

    def robots_of(self, host: str) -> list[RobotsFile]:
        """The robots.txt files of a host, one for each scheme and port that was asked."""
        found: list[Any] = []
        for origin in (f"http://{host}", f"https://{host}"):
            with_port = f"{origin}:"
            found += self._database.rows("robots_of_origin", origin, with_port, _past(with_port))
        return [RobotsFile(*row) for row in found]

    def refusals_of(self, host: str) -> dict[str, int]:
        """Links to a host that were refused so far, by reason."""
        return dict(self._database.rows("refusals_of_host", host))

    def size_of_domain(self, domain: str) -> tuple[int, int]:
        """How many hosts of a registrable domain have URLs, and how many those are."""
        hosts, urls = self._database.row("size_of_domain", domain)
        return hosts, urls

    def check(self) -> list[str]:
        """What SQLite itself finds wrong with the file."""
        return self._database.check()

    def _host_id(self, host: str) -> int:
        number = self._host_ids.get(host)
        if number is None:
            row = self._database.row("host_id", host) or self._database.row("add_host", host, registrable_domain(host))
            number = int(row[0])
            if len(self._host_ids) >= _HOSTS_REMEMBERED:
                self._host_ids.clear()
            self._host_ids[host] = number
        return number


def _past(start: str) -> str:
    """The first text after all that begin so."""
    return start[:-1] + chr(ord(start[-1]) + 1)
