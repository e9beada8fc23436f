"""Collects what is known about one host: scope, delay, robots.txt, queue, errors, caps and traps."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from periplus.config import Settings
from periplus.fetch.robots import Robots
from periplus.frontier.caps import DomainCaps
from periplus.frontier.scope import ScopeRules
from periplus.inspector.traps import suspected
from periplus.inspector.url_report import STATES
from periplus.model import HostPolicy, RobotsFile, UrlState
from periplus.store.catalog.catalog import Catalog
from periplus.url import host_of, parse, registrable_domain

_QUEUE_SHOWN = 5  # URLs at the head of the queue


def host_report(
    catalog: Catalog, settings: Settings, raw: str, states: Counter[tuple[UrlState, str]] | None = None
) -> dict[str, Any]:
    """The JSON object of `inspect host`; for an unknown host, the decision that the current scope would make.

    *states*: the number of its URLs by state and reason; without it they are counted.
    """
    host = host_name(raw)
    policy = catalog.policy(host)
    found: dict[str, Any] = {"host": host, "domain": registrable_domain(host), "known": policy is not None}
    found["scope"] = _scope(catalog, settings, host)
    found["refused_links"] = catalog.refusals_of(host)
    if policy is None:
        return found
    standings = catalog.url_states(host) if states is None else states
    return found | {
        "politeness": _politeness(policy, settings),
        "robots": [_robots(file, settings) for file in catalog.robots_of(host)],
        "urls": _by_state(standings),
        "queue": [
            _queued(item.url, item.priority, item.due) for item in catalog.queue_of(host, _QUEUE_SHOWN, math.inf)
        ],
        "errors": _by_reason(standings, UrlState.FAILED),
        "refused": _by_reason(standings, UrlState.REFUSED),
        "cap": _cap(catalog, settings, found["domain"]),
        "traps": _traps(catalog, settings, host),
        "quality": _quality(catalog, host),
    }


def host_name(raw: str) -> str:
    """The host name; *raw* may be a host or a URL."""
    text = raw.strip()
    return parse(text if "://" in text else f"http://{text}/").host


def _scope(catalog: Catalog, settings: Settings, host: str) -> dict[str, Any]:
    rules = ScopeRules(settings.scope, map(host_of, catalog.seeds()), catalog.blocked_hosts(), catalog.block_list())
    refusal = rules.host_refusal(host)
    if refusal is None:
        return {"admitted": True, "reason": "", "detail": ""}
    return {"admitted": False, "reason": refusal.reason.value, "detail": refusal.detail}


def _politeness(policy: HostPolicy, settings: Settings) -> dict[str, Any]:
    configured = settings.politeness.delay
    return {
        "delay": max(policy.delay or 0.0, configured),
        "why": policy.why or "politeness.delay",
        "next_fetch": policy.next_fetch or None,
        "failures": policy.failures,
    }


def _robots(file: RobotsFile, settings: Settings) -> dict[str, Any]:
    robots = Robots.for_status(file.status, file.body)
    return {
        "origin": file.origin,
        "fetched_at": file.fetched_at,
        "expires_at": file.fetched_at + settings.politeness.robots_age,
        "status": file.status,
        "otherwise": robots.default.line or "other paths are allowed",
        "crawl_delay": robots.crawl_delay,
        "rules": [{"line_number": rule.line_number, "line": rule.line} for rule in robots.rules],
        "sitemaps": list(robots.sitemaps),
    }


def _by_state(standings: Counter[tuple[UrlState, str]]) -> dict[str, int]:
    totals = dict.fromkeys(STATES.values(), 0)
    for (state, _), number in standings.items():
        totals[STATES[state]] += number
    return {"known": sum(totals.values()), **totals}


def _by_reason(standings: Counter[tuple[UrlState, str]], wanted: UrlState) -> dict[str, int]:
    return {reason: number for (state, reason), number in standings.most_common() if state is wanted}


def _queued(url: str, priority: float, due: float) -> dict[str, Any]:
    return {"url": url, "priority": round(priority, 3), "due": due if 0 < due < math.inf else None}


def _quality(catalog: Catalog, host: str) -> dict[str, Any]:
    """The mean quality of a host's pages and its parts."""
    pages, quality = catalog.quality_of(host)
    clues = {name: round(clue, 3) for name, clue in quality._asdict().items()}
    return {"pages": pages, "score": round(quality.score, 3), **clues}


def _traps(catalog: Catalog, settings: Settings, host: str) -> dict[str, Any]:
    """The suspected URL patterns of a host, and the number of fetches that skipping their URLs saved."""
    known = catalog.patterns_of(host)
    traps = suspected(known, settings.frontier)
    shown = [
        {"pattern": one.pattern, "fetched": one.fetched, "wasted": one.wasted, "saved": one.saved} for one in traps
    ]
    return {"saved": sum(one.saved for one in known), "patterns": shown, "suspects": len(known) - len(traps)}


def _cap(catalog: Catalog, settings: Settings, domain: str) -> dict[str, Any]:
    hosts, urls = catalog.size_of_domain(domain)
    caps = DomainCaps(settings.scope)
    return {
        "domain": domain,
        "urls": urls,
        "urls_allowed": caps.pages(domain),
        "hosts": hosts,
        "hosts_allowed": caps.hosts,
    }
