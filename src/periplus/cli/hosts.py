"""How is what is known about a host told to a person?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from periplus.cli.output import by_count, moment, printable

Rows = list[tuple[str, str]]

_RULES_SHOWN = 20


def stranger_line(found: dict[str, Any]) -> str:
    """One line about a host that was never admitted."""
    scope, refused = found["scope"], found["refused_links"]
    verdict = "it is in scope" if scope["admitted"] else f"{scope['reason']} ({scope['detail']})"
    links = f"links to it refused so far: {by_count(refused)}" if refused else "no link to it was met so far"
    return printable(f"{found['host']} is unknown here: {verdict}; {links}")


def host_rows(found: dict[str, Any]) -> Rows:
    """What is known about a host, one thing a line."""
    scope, urls, cap = found["scope"], found["urls"], found["cap"]
    states = ", ".join(f"{urls[state]:,} {state}" for state in ("done", "queued", "refused", "failed"))
    pages = f"{cap['domain']} has {cap['urls']:,} of {cap['urls_allowed']:,} URLs"
    hosts = f"{cap['hosts']:,} of {cap['hosts_allowed']:,} hosts"
    return [
        ("host", found["host"]),
        ("scope", "in scope" if scope["admitted"] else f"refused today: {scope['reason']} ({scope['detail']})"),
        *_politeness_rows(found["politeness"]),
        *(row for robots in found["robots"] for row in _robots_rows(robots)),
        ("URLs", f"{urls['known']:,} known: {states}"),
        *(("  next" if number == 0 else "", _waiting(item)) for number, item in enumerate(found["queue"])),
        ("errors", by_count(found["errors"])),
        ("refused", by_count(found["refused"])),
        ("links refused", by_count(found["refused_links"])),
        ("caps", f"{pages} and {hosts}"),
        *_trap_rows(found["traps"]),
        *_quality_rows(found["quality"]),
    ]


def _quality_rows(quality: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if quality["pages"]:
        clues = ", ".join(f"{name} {quality[name]:.2f}" for name in ("text", "length", "links", "title", "language"))
        copies = f"nothing new noticed on {1 - quality['news']:.0%} of {quality['pages']:,} pages"
        yield "quality", f"{quality['score']:.2f}: {clues}, {copies}"


def _trap_rows(traps: dict[str, Any]) -> Iterator[tuple[str, str]]:
    patterns = traps["patterns"]
    if patterns or traps["saved"]:
        yield "traps", f"{traps['saved']:,} fetches saved by {len(patterns):,} learned patterns"
    for one in patterns[:_RULES_SHOWN]:
        figures = f"{one['wasted']:,} of {one['fetched']:,} pages said nothing new, {one['saved']:,} fetches saved"
        yield "", f"{one['pattern']} ({figures})"


def _politeness_rows(politeness: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "delay", f"{politeness['delay']:g} s ({politeness['why']})"
    at = politeness["next_fetch"]
    soon = at is None or at <= time.time()
    yield "next fetch", "as soon as a crawl runs" if soon else f"not before {moment(at)}"
    if politeness["failures"]:
        yield "failures", f"{politeness['failures']} in a row"


def _robots_rows(robots: dict[str, Any]) -> Iterator[tuple[str, str]]:
    status = robots["status"] or "no answer"
    yield "robots.txt", f"{robots['origin']}: {status}, fetched {moment(robots['fetched_at'])}; {robots['otherwise']}"
    if robots["crawl_delay"] is not None:
        yield "  asks for", f"Crawl-delay {robots['crawl_delay']:g} s"
    rules = robots["rules"]
    for rule in rules[:_RULES_SHOWN]:
        yield f"  line {rule['line_number']}", rule["line"]
    if len(rules) > _RULES_SHOWN:
        yield "", f"and {len(rules) - _RULES_SHOWN:,} more"
    for sitemap in robots["sitemaps"][:_RULES_SHOWN]:
        yield "  sitemap", sitemap


def _waiting(item: dict[str, Any]) -> str:
    return f"{item['url']} (due {moment(item['due'])})" if item["due"] else item["url"]
