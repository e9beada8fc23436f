"""Reads the catalog: URLs, hosts, runs and files.

Nothing here changes a row, so any number of processes may read while others write.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from periplus.model import (
    NOTHING_NEW,
    Copy,
    CrawlQuality,
    Fetch,
    HostPolicy,
    Pattern,
    Reason,
    RobotsFile,
    UrlState,
    Verdict,
)
from periplus.store.block_list import BlockList
from periplus.store.catalog import batch as records
from periplus.store.catalog.batch import ArchiveFile
from periplus.store.catalog.run_summary import sum_of_rounds, sum_of_workers
from periplus.store.database.database import Database
from periplus.store.manifest import SealedSegment
from periplus.url import url_key

STATE_COUNTERS = {
    UrlState.QUEUED: "queued",
    UrlState.DONE: "done",
    UrlState.REFUSED: "refused",
    UrlState.FAILED: "failed",
}


_AFTER_EVERY_URL = chr(0x10FFFF)
_WITH_CONTENT = (Verdict.FETCHED, Verdict.READ)


class Queries:
    """Read access to the database of a collection."""

    def __init__(self, database: Database) -> None:
        """*database* is closed with this object."""
        self._database = database

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    @property
    def place(self) -> str:
        """The path of the file, or the address of the database without the password."""
        return self._database.place

    def check(self) -> list[str]:
        """The problems that an integrity check of the database finds."""
        return self._database.check()

    def block_list(self) -> BlockList:
        """The URLs and hosts of the collection that must not come back."""
        return self._database.block_list()

    def robots(self, origin: str) -> RobotsFile | None:
        """The robots.txt last fetched from an origin."""
        row = self._database.row("robots", origin)
        return RobotsFile(*row) if row else None

    def policy(self, host: str) -> HostPolicy | None:
        """The politeness state of a host, or None for an unknown host."""
        row = self._database.row("policy", host)
        return HostPolicy(*row) if row else None

    def seeds(self) -> list[str]:
        """Every seed ever given, oldest first."""
        return [url for (url,) in self._database.rows("seeds")]

    def blocked_hosts(self) -> dict[str, float]:
        """The hosts that the user has blocked, each with the time."""
        return dict(self._database.rows("blocked_hosts"))

    def queue(self, most: int) -> list[tuple[str, str, int]]:
        """The first queued URLs, host by host, with host and depth."""
        return [*self._database.rows("queue", most)]

    def queued_hosts(self) -> list[tuple[str, int]]:
        """Every host with queued URLs, and their number."""
        return list(self._database.rows("queued_hosts"))

    def head_of_queue(self, host: str, most: int) -> list[tuple[str, int]]:
        """The first queued URLs of a host, with their depths."""
        return list(self._database.rows("head_of_queue", host, most))

    # -- archive and segments -----------------------------------------------------------------------------------

    def archives(self, worker: int | None = None) -> list[ArchiveFile]:
        """The archive files of one worker, or of all."""
        rows = self._database.rows("all_archives") if worker is None else self._database.rows("archives", worker)
        return [ArchiveFile(*row) for row in rows]

    def archive_workers(self) -> list[int]:
        """The numbers of all workers that have written an archive file."""
        return [worker for (worker,) in self._database.rows("archive_workers")]

    def unsealed_archives(self, worker: int) -> list[ArchiveFile]:
        """The archive files with acknowledged pages that are in no segment, and that a worker adds to segments."""
        return [ArchiveFile(*row) for row in self._database.rows("unsealed_archives", worker)]

    def fetches_in(self, archive_id: int, offset: int = 0) -> Iterator[Fetch]:
        """The fetches in an archive file from *offset* on, in order."""
        return map(records.fetch_from_row, self._database.rows("fetches_of_archive", archive_id, offset))

    def redirects(self) -> Iterator[tuple[str, str, float]]:
        """Every redirect: URL, target and time."""
        return self._database.rows("redirects")

    def segments(self, kind: str | None = None) -> list[SealedSegment]:
        """The manifest: live segments, oldest first."""
        found = [SealedSegment(*row) for row in self._database.rows("segments")]
        return [segment for segment in found if kind is None or segment.kind == kind]

    def unsealed_pages(self) -> tuple[int, float | None]:
        """The number of acknowledged pages that no segment has yet, and when the first of them was fetched."""
        number, first = self._database.row("unsealed_pages")
        return int(number), first

    def last_segment(self, worker: int) -> int:
        """The number of a worker's newest segment; 0 before the first."""
        (number,) = self._database.row("last_segment", worker)
        return int(number)

    # -- runs and figures ---------------------------------------------------------------------------------------

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
        summary = json.loads(row["summary"])
        if row["outcome"] == "running":
            summary = self.progress(row["run_id"], summary)
        return row | {"arguments": json.loads(row["arguments"]), "summary": summary}

    def progress(self, run_id: int, rounds: dict[str, Any] | None = None) -> dict[str, Any]:
        """The sum of what the workers of a running run have committed.

        *rounds* is the sum of its finished rounds.
        """
        summaries = [json.loads(summary) for (summary,) in self._database.rows("worker_summaries", run_id)]
        counters = self.counters()
        known = {"known_urls": counters["known"], "queued": counters["queued"]}
        if not rounds:
            return sum_of_workers(summaries) | known if summaries else {}
        before = {name: figure for name, figure in rounds.items() if name != "rounds"}
        together = sum_of_rounds([before, sum_of_workers(summaries)]) if summaries else before
        return together | known | {"rounds": rounds["rounds"]}

    def worker_summary(self, run_id: int, worker: int) -> dict[str, Any]:
        """The summary of one worker of a run as of its last commit; empty before the first."""
        row = self._database.row("worker_summary", run_id, worker)
        return dict(json.loads(row[0])) if row else {}

    def counters(self) -> dict[str, int]:
        """The stored counters; `recount` computes the same numbers from the rows."""
        found = dict(self._database.rows("counters"))
        return {name: found.get(name, 0) for name in ("known", *STATE_COUNTERS.values(), "fetched", "bytes")}

    def recount(self) -> dict[str, int]:
        """The numbers that `counters` should have, counted row by row."""
        by_state = dict(self._database.rows("recount_urls"))
        fetched, size = self._database.row("recount_fetches")
        counts = {name: by_state.get(int(state), 0) for state, name in STATE_COUNTERS.items()}
        return {"known": sum(by_state.values()), **counts, "fetched": fetched, "bytes": size}

    def miscounted_hosts(self) -> list[tuple[str, str, int, int]]:
        """Hosts with a wrong counter of URLs: host, state of the URLs or empty for all, stored and counted number."""
        states = ("", "queued", "refused", "failed")
        return [
            (host, state, stored, counted)
            for host, *figures in self._database.rows("miscounted_hosts")
            for state, stored, counted in zip(states, figures[:4], figures[4:], strict=True)
            if stored != counted
        ]

    def miscounted_outcomes(self) -> list[tuple[str, str, int, int]]:
        """Reasons with a wrong counter of refused or failed URLs: reason, HTTP status, stored and counted number."""
        return list(self._database.rows("miscounted_outcomes"))

    def refusals(self) -> dict[str, int]:
        """Number of refused links, by reason."""
        return dict(self._database.rows("refusals_by_reason"))

    def next_due_again(self, after: float) -> float | None:
        """When the next URL becomes due for a recrawl after *after*; None when none will."""
        (due,) = self._database.row("next_due_again", after)
        return None if due is None else float(due)

    def due_by_interval(self, now: float, bounds: tuple[float, float, float]) -> dict[int, int]:
        """Number of URLs due for a recrawl, by the number of *bounds* below their interval; at most a million."""
        return dict(self._database.rows("due_by_interval", now, *bounds))

    def vanished(self, url: str | None = None) -> Iterator[tuple[str, float, str]]:
        """Once fetched pages that are now gone, redirected or refused: URL, time of the last visit, and reason.

        With *url*, only that page.
        """
        return self._database.rows("vanished", *(("", _AFTER_EVERY_URL) if url is None else (url, f"{url}\1")))

    def imported_out_of_scope(self) -> Iterator[str]:
        """Imported pages that the scope refused, or was not checked for."""
        return (url for (url,) in self._database.rows("imported_out_of_scope"))

    # -- one URL ------------------------------------------------------------------------------------------------

    def url(self, text: str) -> dict[str, Any] | None:
        """The row of one URL, or None when it was never admitted."""
        return self._database.record("url", text)

    def fetches_of(self, text: str) -> list[Fetch]:
        """Every attempt at one URL, oldest first."""
        rows = self._database.rows("fetches_of_url", records.signed(url_key(text)), text)
        return [records.fetch_from_row(row) for row in rows]

    def version_of(self, text: str) -> Fetch | None:
        """The last version of a URL, with the latest ETag and Last-Modified; None when it was never fetched."""
        fetched = [fetch for fetch in self.fetches_of(text) if fetch.decision.verdict in _WITH_CONTENT]
        version = next((fetch for fetch in reversed(fetched) if fetch.decision.reason is not Reason.SAME_CONTENT), None)
        return version and version._replace(etag=fetched[-1].etag, last_modified=fetched[-1].last_modified)

    def had_nothing_new(self, text: str) -> bool:
        """Whether the last fetch of a page found nothing new."""
        row = self._database.row("url", text)
        return row is not None and row[3] == NOTHING_NEW

    def copy(self, text: str) -> Copy | None:
        """The page that a URL is a duplicate of, or None."""
        row = self._database.row("copy", text)
        return Copy(*row) if row else None

    def copies_of(self, text: str, limit: int) -> list[str]:
        """The first *limit* duplicates of a page."""
        return [url for (url,) in self._database.rows("copies_of", text, limit)]

    def refusal_of(self, host: str, text: str) -> tuple[str, str, str] | None:
        """Reason, detail and referring page of a refused link, if it is one of the stored samples."""
        row = self._database.row("refusal_sample", host, text)
        return (row[0], row[1], row[2]) if row else None

    # -- one host -----------------------------------------------------------------------------------------------

    def url_states(self, host: str) -> Counter[tuple[UrlState, str]]:
        """Number of URLs of a host by state and reason."""
        found: Counter[tuple[UrlState, str]] = Counter()
        for scheme in ("http", "https"):
            for start in (f"{scheme}://{host}/", f"{scheme}://{host}:"):
                for state, reason, number in self._database.rows("url_states_between", start, _past(start)):
                    found[UrlState(state), reason] += number
        return found

    def robots_of(self, host: str) -> list[RobotsFile]:
        """The robots.txt files of a host, one per scheme and port."""
        found: list[Any] = []
        for origin in (f"http://{host}", f"https://{host}"):
            with_port = f"{origin}:"
            found += self._database.rows("robots_of_origin", origin, with_port, _past(with_port))
        return [RobotsFile(*row) for row in found]

    def refusals_of(self, host: str) -> dict[str, int]:
        """Number of refused links to a host, by reason."""
        return dict(self._database.rows("refusals_of_host", host))

    def quality_of(self, host: str) -> tuple[int, CrawlQuality]:
        """Number of rated pages of a host, and the average of their quality features."""
        pages, *features = self._database.row("quality", host) or (0,)
        return pages, CrawlQuality(*features)

    def patterns_of(self, host: str) -> list[Pattern]:
        """The URL patterns of a host."""
        return [Pattern(*row) for row in self._database.rows("patterns_of_host", host)]

    def size_of_domain(self, domain: str) -> tuple[int, int]:
        """Number of hosts with URLs in a registrable domain, and number of those URLs."""
        hosts, urls = self._database.row("size_of_domain", domain)
        return hosts, urls


def _past(start: str) -> str:
    """The smallest string greater than all that begin with *start*."""
    return start[:-1] + chr(ord(start[-1]) + 1)
