"""What has this run done so far?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from periplus.model import Decision, Fetch, Reason, Response, Verdict

_NO_ERROR = frozenset({None, Reason.PRIVATE_ADDRESS, Reason.NO_CONTACT})  # refused by us, not failed by the host
_PDF = "application/pdf"
_HTML = frozenset({"text/html", "application/xhtml+xml", ""})


@dataclass(slots=True)
class Tally:
    """The figures of one run."""

    run_id: int
    started: float
    fetched: int = 0
    html: int = 0
    pdf: int = 0
    bytes: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    def count(self, fetch: Fetch) -> None:
        """Take an attempt into account."""
        if fetch.decision.verdict is Verdict.FETCHED:
            self.fetched += 1
            self.bytes += fetch.size
            self.html += fetch.mime in _HTML
            self.pdf += fetch.mime == _PDF
        elif fetch.decision.verdict in (Verdict.DROPPED, Verdict.DELAYED):
            self.errors[_kind(fetch.decision, fetch.status)] += 1

    def count_robots(self, response: Response) -> None:
        """A robots.txt that could not be had is an error too."""
        if response.failure not in _NO_ERROR:
            self.errors[f"robots_{response.failure}"] += 1

    def refuse(self, reason: Reason) -> None:
        """A rule kept a URL out."""
        self.refused[reason.value] += 1

    def summary(self, now: float, known: int, queued: int) -> dict[str, Any]:
        """The shape that `crawl --json` prints."""
        seconds = max(now - self.started, 1e-9)
        return {
            "fetched": self.fetched,
            "html": self.html,
            "pdf": self.pdf,
            "bytes": self.bytes,
            "seconds": round(seconds, 3),
            "pages_per_second": round(self.fetched / seconds, 2),
            "known_urls": known,
            "queued": queued,
            "errors": dict(self.errors.most_common()),
            "refused": dict(self.refused.most_common()),
            "run_id": self.run_id,
        }


def _kind(decision: Decision, status: int) -> str:
    return (
        f"http_{status}" if decision.reason in (Reason.HTTP_ERROR, Reason.RETRY) and status else decision.reason.value
    )
