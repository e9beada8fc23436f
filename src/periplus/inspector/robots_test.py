"""Does the stored robots.txt of a site allow a URL for a crawler, and which line decides?"""

from __future__ import annotations

from typing import Any

from periplus.fetch.robots import Robots
from periplus.store.catalog.queries import Queries
from periplus.url import Canonicalizer, parse

_LINES_SHOWN = 500
_LINE_LENGTH = 300
AGENT = "periplus"


def robots_test(catalog: Queries, canonicalizer: Canonicalizer, raw: str, agent: str = AGENT) -> dict[str, Any]:
    """The decision of the stored robots.txt about a URL, and the file itself; nothing is fetched."""
    url = parse(raw, canonicalizer)
    file = catalog.robots(url.origin)
    found: dict[str, Any] = {"url": url.text, "origin": url.origin, "agent": agent, "known": file is not None}
    if file is None:
        return found
    is_read = 200 <= file.status < 300
    robots = Robots.parse(file.body, agent) if is_read else Robots.for_status(file.status, file.body)
    verdict = robots.verdict(url.path)
    lines = file.body.decode("utf-8", "replace").splitlines() if is_read else []
    return found | {
        "allowed": verdict.allowed,
        "line_number": verdict.line_number,
        "line": verdict.line or "no line matches, so the URL is allowed",
        "crawl_delay": robots.crawl_delay,
        "status": file.status,
        "fetched_at": file.fetched_at,
        "sitemaps": list(robots.sitemaps),
        "lines": [line[:_LINE_LENGTH] for line in lines[:_LINES_SHOWN]],
        "lines_left_out": max(len(lines) - _LINES_SHOWN, 0),
    }
