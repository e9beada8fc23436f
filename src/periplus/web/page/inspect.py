"""The routes that show the history of a URL: why is this page here, or why not?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from periplus.model import Reason
from periplus.reasons import REASONS
from periplus.site.error_pages import JSON
from periplus.site.pages import Pages
from periplus.web.display import cached_link, clock, day, moment, page_link, visible, web_link
from periplus.web.parameters import read_url
from periplus.web.search_queue import SearchQueue

UrlReport = Callable[[str], dict[str, Any]]
_UNLISTED = {"x-robots-tag": "noindex, nofollow", "cache-control": "no-store"}
_STATES = {
    "queued": "Waiting to be fetched",
    "done": "Fetched",
    "refused": "Not fetched: a rule refuses it",
    "failed": "Not fetched: all attempts failed",
    "unknown": "Not in this collection",
}
_FETCHES_SHOWN = 50
_LINKS_SHOWN = 10
_IN_SCOPE = "The URL is in scope, but the crawler has not met it."
_ADD_SEED = "Give it as a seed: `periplus crawl URL`."


class _Reason(NamedTuple):
    """A reason code with its meaning and remedy."""

    code: str
    detail: str
    meaning: str
    remedy: str


class _Moment(NamedTuple):
    text: str
    iso: str


class _Attempt(NamedTuple):
    """One fetch."""

    at: _Moment
    status: str
    reason: _Reason
    redirect_to: str
    redirect_report: str  # link
    archive: str
    seconds: float


class InspectPages:
    """The handlers of the report about a URL."""

    def __init__(self, report: UrlReport, pages: Pages, queue: SearchQueue) -> None:
        self._report, self._pages, self._queue = report, pages, queue

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [Route("/inspect", self.page), Route("/api/inspect", self.api)]

    async def page(self, request: Request) -> Response:
        """A form, or the report about a URL."""
        if not request.query_params.get("url", "").strip():
            return self._pages.response("inspect.html", headers=_UNLISTED, typed="", report=None)
        url = read_url(request.query_params)
        found = await self._queue.work(request, lambda: self._report(url))
        return self._pages.response("inspect.html", headers=_UNLISTED, typed=url, report=_shown(found))

    async def api(self, request: Request) -> Response:
        """The report as JSON, with the keys of `periplus inspect url --json`."""
        url = read_url(request.query_params)
        found = await self._queue.work(request, lambda: self._report(url))
        return Response(orjson.dumps(found), headers=_UNLISTED | {"content-type": JSON})


def _shown(found: Mapping[str, Any]) -> dict[str, object]:
    """The report for the template."""
    url, fetches = found["url"], found["fetches"][::-1]
    left_out = found["left_out"]
    return {
        "url": visible(url),
        "live": web_link(url),
        "cached": cached_link(url) if found["words"] is not None else "",
        "verdict": visible(found["verdict"]["sentence"]),
        "state": _STATES.get(found["state"], visible(found["state"])),
        "reason": _reason(found["reason"], found["detail"]),
        "index": _reason(left_out["reason"], left_out["detail"]) if left_out else None,
        "is_indexed": found["words"] is not None,
        "rows": [(label, visible(text)) for label, text in _rows(found) if text],
        "via": _report_link(found.get("via") or ""),
        "copy_of": _report_link(found["copy_of"]["url"]) if found["copy_of"] else None,
        "copy_is_exact": bool(found["copy_of"]) and found["copy_of"]["exact"],
        "copies": [_report_link(other) for other in found["copies"]],
        "attempts": [_attempt(fetch) for fetch in fetches[:_FETCHES_SHOWN]],
        "attempts_left_out": max(len(fetches) - _FETCHES_SHOWN, 0),
        "links": [_report_link(link["url"]) for link in (found["rank"] or {}).get("strongest", ())[:_LINKS_SHOWN]],
        "api": page_link("/api/inspect", url),
    }


def _report_link(url: str) -> tuple[str, str]:
    """Link to the report about a URL, and the URL to show."""
    return (page_link("/inspect", url), visible(url)) if url else ("", "")


def _reason(code: str, detail: str) -> _Reason:
    meaning, remedy = (_IN_SCOPE, _ADD_SEED) if code == "never_met" else ("", "")
    with suppress(ValueError, KeyError):
        meaning, remedy = REASONS[Reason(code)]
    return _Reason(visible(code), visible(detail), meaning, remedy)


def _rows(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Label and text of what fits in one line."""
    robots, plan, rank, quality = found["robots"], found["plan"], found["rank"], found["quality"]
    return [
        ("Found", _found(found) if found["known"] else ""),
        ("robots.txt", _robots(robots) if robots else ""),
        ("Host", _host(found["host_policy"])),
        ("Recrawl", _plan(plan) if plan else ""),
        ("Versions", f"{len(found['versions'])}" if found["versions"] else ""),
        ("Quality", f"{quality['score']:.2f} of 1" if quality else ""),
        ("PageRank", _rank(rank) if rank else ""),
        ("Id", found["url_id"]),
    ]


def _found(found: Mapping[str, Any]) -> str:
    at = found["first_seen"]
    links = f"{found['depth']} link{'' if found['depth'] == 1 else 's'} from a seed"
    return f"as {found['admitted']}, {links}, on {day(at)} at {clock(at)}"


def _robots(robots: Mapping[str, Any]) -> str:
    number, line = robots["line_number"], robots["line"] or "no rule matches"
    rule = f"line {number}: {line}" if number else line
    return f"{'allowed' if robots['allowed'] else 'disallowed'} ({rule}; read on {day(robots['fetched_at'])})"


def _host(policy: Mapping[str, Any] | None) -> str:
    if policy is None or policy["delay"] is None:
        return ""
    why = f" ({policy['why']})" if policy["why"] else ""
    failures = f"; {policy['failures']} errors in a row" if policy["failures"] else ""
    return f"{policy['delay']:g} s between requests{why}{failures}"


def _plan(plan: Mapping[str, Any]) -> str:
    due = f"; due on {day(plan['next_visit'])}" if plan["next_visit"] else ""
    return f"{plan['class']}, last visit on {day(plan['last_visit'])}{due}"


def _rank(rank: Mapping[str, Any]) -> str:
    return f"{rank['rank']:.2e}, above {rank['percentile']:.1f} % of pages; {rank['in_links']:,} pages link here"


def _attempt(fetch: Mapping[str, Any]) -> _Attempt:
    archive, target = fetch["archive"], fetch["redirect_to"]
    where = f"{archive['file']} at {archive['offset']:,}, {fetch['bytes']:,} bytes" if archive else ""
    at = _Moment(f"{day(fetch['at'])}, {clock(fetch['at'])}", moment(fetch["at"]))
    status = str(fetch["status"] or "no response")
    reason = _reason(fetch["reason"], fetch["detail"])
    link, shown = _report_link(target)
    return _Attempt(at, status, reason, shown, link, where, fetch["seconds"])
