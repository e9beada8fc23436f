"""Counts what one worker does in a run, and adds up the summaries of workers and rounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from periplus.model import Decision, Fetch, Page, Reason, Response, Verdict

_NOT_ADDED = frozenset({"run_id"})


def sum_of_workers(summaries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Add up the summaries of workers that ran at the same time; the time is that of the longest."""
    if len(summaries) == 1:
        return dict(summaries[0])
    total: dict[str, Any] = {}
    for summary in summaries:
        for key, value in summary.items():
            total[key] = value if key in _NOT_ADDED else _sum(total.get(key), value)
    total["seconds"] = max((summary["seconds"] for summary in summaries), default=0.0)
    total["pages_per_second"] = round(total["fetched"] / max(total["seconds"], 1e-9), 2)
    return total


def sum_of_rounds(summaries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Add up the summaries of successive rounds: times are added, `parked` is that of the last round."""
    total = sum_of_workers(summaries)
    total["parked"] = summaries[-1].get("parked", {})  # the next round requests parked hosts again
    total["seconds"] = round(sum(summary["seconds"] for summary in summaries), 3)
    total["pages_per_second"] = round(total["fetched"] / max(total["seconds"], 1e-9), 2)
    return total


def _sum(total: Any, value: Any) -> Any:
    if isinstance(total, dict) or isinstance(value, dict):
        before, more = total or {}, value or {}
        return {key: _sum(before.get(key), more.get(key)) for key in {**before, **more}}
    if isinstance(total, str) or isinstance(value, str):
        return total or value  # keep the first text
    number = (total or 0) + (value or 0)
    return round(number, 3) if isinstance(number, float) else number


# Failures that are our own refusals, not errors of the host.
_NO_ERROR = frozenset({None, Reason.PRIVATE_ADDRESS, Reason.NO_CONTACT, Reason.SCOPE_HOST, Reason.BLOCKED})
_PDF = "application/pdf"
_HTML = frozenset({"text/html", "application/xhtml+xml", ""})


@dataclass(slots=True)
class StepTimes:
    """Seconds spent in each step, summed over requests and workers."""

    idle_since: float | None  # when the last open request ended; None while a request is open
    under_way: int = 0  # open requests
    idle: float = 0.0  # no request was open
    robots: float = 0.0  # requests for robots.txt
    delay: float = 0.0  # requests waited for the delay of their host
    connect: float = 0.0  # other requests: DNS, TCP and TLS
    fetch: float = 0.0  # other requests: from there to the last byte
    parse: float = 0.0  # parsing pages and admitting their links
    archive: float = 0.0  # compressing responses into the archive
    commit: float = 0.0  # writing files and tables; only the commit thread writes this

    def resume(self, steps: dict[str, float], now: float) -> None:
        """Continue from the values that `shown` returned."""
        self.idle, self.idle_since = steps["idle"], now
        self.robots, self.delay, self.connect = steps["robots"], steps["delay"], steps["connect"]
        self.fetch, self.parse, self.archive = steps["fetch"], steps["parse"], steps["store"]

    def begin(self, now: float) -> None:
        """Count the start of a visit."""
        if self.idle_since is not None:
            self.idle += now - self.idle_since
            self.idle_since = None
        self.under_way += 1

    def end(self, now: float) -> None:
        """Count the end of a visit."""
        self.under_way -= 1
        if not self.under_way:
            self.idle_since = now

    def count(self, response: Response, *, robots: bool) -> None:
        """Add the times of a finished request."""
        if robots:
            self.robots += response.seconds
        else:
            self.connect += response.connect_seconds
            self.fetch += response.seconds - response.connect_seconds

    def idle_until(self, now: float) -> float:
        """Seconds without an open request."""
        return self.idle + (0.0 if self.idle_since is None else now - self.idle_since)

    def shown(self, now: float) -> dict[str, float]:
        """The seconds by step, in the order in which a URL passes the steps."""
        steps = {
            "idle": self.idle_until(now),
            "robots": self.robots,
            "delay": self.delay,
            "connect": self.connect,
            "fetch": self.fetch,
            "parse": self.parse,
            "store": self.archive + self.commit,
        }
        return {name: round(seconds, 3) for name, seconds in steps.items()}


@dataclass(slots=True)
class RunCounters:
    """The counters of one worker in one run."""

    run_id: int
    started: float
    fetched: int = 0
    html: int = 0
    pdf: int = 0
    bytes: int = 0
    revisits: int = 0  # pages queued because they were due for a recrawl
    unchanged: int = 0  # recrawled pages that had not changed
    errors: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    parked: Counter[str] = field(
        default_factory=Counter
    )  # hosts parked until the next run, by reason; counted at the end
    known_links: int = 0  # links to known URLs
    traps_learned: int = 0  # URL patterns that became suspected traps
    saved: int = 0  # URLs refused by such patterns
    failed_extractors: Counter[str] = field(default_factory=Counter)  # pages by the name of the extractor that failed
    exceptions: dict[str, dict[str, Any]] = field(default_factory=dict)  # by kind: number of pages, and the first URL
    timing: StepTimes = field(init=False)

    def __post_init__(self) -> None:
        self.timing = StepTimes(self.started)

    def resume(self, summary: dict[str, Any], died: int, now: float) -> None:
        """Continue from the last committed summary of a dead worker; *died* is the number of dead workers so far."""
        if summary:
            for name in ("fetched", "html", "pdf", "bytes", "revisits", "unchanged", "known_links"):
                setattr(self, name, summary[name])
            self.traps_learned, self.saved = summary["traps"]["learned"], summary["traps"]["saved"]
            self.errors.update(summary["errors"])
            self.refused.update(summary["refused"])
            self.failed_extractors.update(summary["failed_extractors"])
            self.exceptions.update(summary["exceptions"])
            self.timing.resume(summary["timing"], now)
        self.errors["worker_died"] = died

    def count(self, fetch: Fetch) -> None:
        """Count an attempt."""
        if fetch.decision.verdict is Verdict.FETCHED:
            self.fetched += 1
            self.bytes += fetch.size
            self.html += fetch.mime in _HTML
            self.pdf += fetch.mime == _PDF
        elif fetch.decision.verdict is Verdict.UNCHANGED:
            self.unchanged += 1
        elif fetch.decision.verdict in (Verdict.DROPPED, Verdict.DELAYED):
            self.errors[_kind(fetch.decision, fetch.status)] += 1

    def count_robots(self, response: Response) -> None:
        """Count a robots.txt that could not be fetched as an error."""
        if response.failure not in _NO_ERROR:
            self.errors[f"robots_{response.failure}"] += 1

    def count_reading(self, page: Page) -> None:
        """Count the problem of a parsed page, and the extractors that failed on it."""
        if page.problem is not None:
            self.set_aside(page.problem)
        self.failed_extractors.update(page.failed_extractors)

    def set_aside(self, reason: Reason) -> None:
        """Count a fetched page that will not be indexed."""
        (self.refused if reason is Reason.OTHER_LANGUAGE else self.errors)[reason.value] += 1

    def count_exception(self, kind: str, url: str) -> str:
        """Count a page on which Periplus itself failed; returns the first URL of this kind of error."""
        found = self.exceptions.setdefault(kind, {"pages": 0, "first": url})
        found["pages"] += 1
        return str(found["first"])

    def refuse(self, reason: Reason) -> None:
        """Count a refused URL."""
        self.refused[reason.value] += 1

    def summary(self, now: float, known: int = 0, queued: int = 0) -> dict[str, Any]:
        """The shape that `crawl --json` prints."""
        seconds = max(now - self.started, 1e-9)
        return {
            "fetched": self.fetched,
            "html": self.html,
            "pdf": self.pdf,
            "bytes": self.bytes,
            "revisits": self.revisits,
            "unchanged": self.unchanged,
            "seconds": round(seconds, 3),
            "pages_per_second": round(self.fetched / seconds, 2),
            "known_urls": known,
            "queued": queued,
            "errors": dict(self.errors.most_common()),
            "refused": dict(self.refused.most_common()),
            "parked": dict(self.parked.most_common()),
            "failed_extractors": dict(self.failed_extractors.most_common()),
            "exceptions": {kind: dict(found) for kind, found in self.exceptions.items()},
            "known_links": self.known_links,
            "traps": {"learned": self.traps_learned, "saved": self.saved},
            "timing": self.timing.shown(now),
            "run_id": self.run_id,
        }


def _kind(decision: Decision, status: int) -> str:
    return (
        f"http_{status}" if decision.reason in (Reason.HTTP_ERROR, Reason.RETRY) and status else decision.reason.value
    )
