"""What is known about every URL, host, run and file?

Questions only: nothing here changes a row, so any number of processes may ask while one writes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
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
from periplus.store import batch as ledger
from periplus.store.batch import ArchiveFile
from periplus.store.database import Database
from periplus.store.manifest import SealedSegment
from periplus.store.run_summary import sum_of_rounds, sum_of_workers
from periplus.url import url_key

STATE_COUNTERS = {
    UrlState.QUEUED: "queued",
    UrlState.DONE: "done",
    UrlState.REFUSED: "refused",
    UrlState.FAILED: "failed",
}


_LAST_TEXT = chr(0x10FFFF)  # past every URL
_WITH_CONTENT = (Verdict.FETCHED, Verdict.READ)


class Queries:
    """The rows of a collection, for those who ask."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self._database = Database(path, create=create)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def check(self) -> list[str]:
        """What SQLite itself finds wrong with the file."""
        return self._database.check()

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

    def segments(self, kind: str | None = None) -> list[SealedSegment]:
        """The manifest: live segments, oldest first."""
        found = [SealedSegment(*row) for row in self._database.rows("segments")]
        return [segment for segment in found if kind is None or segment.kind == kind]

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
        """What the workers of a run that has not ended had done together by their last commits.

        *rounds*: what was noted at the end of its last round.
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
        """What one worker of a run had done by its last commit; empty before its first."""
        row = self._database.row("worker_summary", run_id, worker)
        return dict(json.loads(row[0])) if row else {}

    def counters(self) -> dict[str, int]:
        """The running figures; `recount` computes the same from the rows."""
        found = dict(self._database.rows("counters"))
        return {name: found.get(name, 0) for name in ("known", *STATE_COUNTERS.values(), "fetched", "bytes")}

    def recount(self) -> dict[str, int]:
        """The figures that `counters` should hold, counted row by row."""
        by_state = dict(self._database.rows("recount_urls"))
        fetched, size = self._database.row("recount_fetches")
        counts = {name: by_state.get(int(state), 0) for state, name in STATE_COUNTERS.items()}
        return {"known": sum(by_state.values()), **counts, "fetched": fetched, "bytes": size}

    def miscounted_hosts(self) -> list[tuple[str, int, int]]:
        """Hosts whose number of URLs is not what a recount gives: name, what is noted, what was counted."""
        return list(self._database.rows("miscounted_hosts"))

    def refusals(self) -> dict[str, int]:
        """Links refused so far, by reason."""
        return dict(self._database.rows("refusals_by_reason"))

    def next_due_again(self, after: float) -> float | None:
        """When the first of the URLs that stand in no queue and are not due yet will be; None when none will."""
        (due,) = self._database.row("next_due_again", after)
        return None if due is None else float(due)

    def due_by_interval(self, now: float, bounds: tuple[float, float, float]) -> dict[int, int]:
        """How many URLs are due again, by the number of bounds that their intervals exceed; of the first million."""
        return dict(self._database.rows("due_by_interval", now, *bounds))

    def vanished(self, url: str | None = None) -> Iterator[tuple[str, float, str]]:
        """Pages that were there once, and are gone, moved or refused by now: when they were last asked for, and why.

        With *url*, only that page.
        """
        return self._database.rows("vanished", *(("", _LAST_TEXT) if url is None else (url, f"{url}\0")))

    def imported_out_of_scope(self) -> Iterator[str]:
        """Pages that an import took although the scope refused them, or did not ask for."""
        return (url for (url,) in self._database.rows("imported_out_of_scope"))

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
        fetched = [fetch for fetch in self.fetches_of(text) if fetch.decision.verdict in _WITH_CONTENT]
        version = next((fetch for fetch in reversed(fetched) if fetch.decision.reason is not Reason.SAME_CONTENT), None)
        return version and version._replace(etag=fetched[-1].etag, last_modified=fetched[-1].last_modified)

    def was_dull(self, text: str) -> bool:
        """Whether a page was found to say nothing new."""
        row = self._database.row("url", text)
        return row is not None and row[3] == NOTHING_NEW

    def copy(self, text: str) -> Copy | None:
        """Which page a URL repeats, if it does."""
        row = self._database.row("copy", text)
        return Copy(*row) if row else None

    def copies_of(self, text: str, limit: int) -> list[str]:
        """URLs that repeat a page."""
        return [url for (url,) in self._database.rows("copies_of", text, limit)]

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

    def worth_of(self, host: str) -> tuple[int, CrawlQuality]:
        """How many pages of a host were looked at, and how good they looked on average."""
        pages, *clues = self._database.row("worth", host) or (0,)
        return pages, CrawlQuality(*clues)

    def patterns_of(self, host: str) -> list[Pattern]:
        """What was learned about the addresses of a host."""
        return [Pattern(*row) for row in self._database.rows("patterns_of_host", host)]

    def size_of_domain(self, domain: str) -> tuple[int, int]:
        """How many hosts of a registrable domain have URLs, and how many those are."""
        hosts, urls = self._database.row("size_of_domain", domain)
        return hosts, urls


def _past(start: str) -> str:
    """The first text after all that begin so."""
    return start[:-1] + chr(ord(start[-1]) + 1)
