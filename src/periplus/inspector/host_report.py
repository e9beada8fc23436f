"""How is this host treated, what is left of it to fetch, and why not sooner?"""

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
from periplus.store.catalog import Catalog
from periplus.url import host_of, parse, registrable_domain

_BEST = 5  # URLs of the queue that are shown


def host_report(catalog: Catalog, settings: Settings, raw: str) -> dict[str, Any]:
    """All that is known about one host; of one never met, the verdict it would get today."""
    host = _name(raw)
    policy = catalog.policy(host)
    found: dict[str, Any] = {"host": host, "domain": registrable_domain(host), "known": policy is not None}
    found["scope"] = _scope(catalog, settings, host)
    found["refused_links"] = catalog.refusals_of(host)
    if policy is None:
        return found
    standings = catalog.url_states(host)
    return found | {
        "politeness": _politeness(policy, settings),
        "robots": [_robots(file, settings) for file in catalog.robots_of(host)],
        "urls": _by_state(standings),
        "queue": [_waiting(item.url, item.priority, item.due) for item in catalog.queue_of(host, _BEST, math.inf)],
        "errors": _by_reason(standings, UrlState.FAILED),
        "refused": _by_reason(standings, UrlState.REFUSED),
        "cap": _cap(catalog, settings, found["domain"]),
        "traps": _traps(catalog, settings, host),
        "quality": _quality(catalog, host),
    }


def _name(raw: str) -> str:
    """The host that a person means, who may have typed a whole address."""
    text = raw.strip()
    return parse(text if "://" in text else f"http://{text}/").host


def _scope(catalog: Catalog, settings: Settings, host: str) -> dict[str, Any]:
    rules = ScopeRules(settings.scope, map(host_of, catalog.seeds()))
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
        "otherwise": robots.default.line or "what no rule names is allowed",
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


def _waiting(url: str, priority: float, due: float) -> dict[str, Any]:
    return {"url": url, "priority": round(priority, 3), "due": due if 0 < due < math.inf else None}


def _quality(catalog: Catalog, host: str) -> dict[str, Any]:
    """How good the pages of a host looked, clue by clue."""
    pages, worth = catalog.quality_of(host)
    clues = {name: round(clue, 3) for name, clue in worth._asdict().items()}
    return {"pages": pages, "score": round(worth.score, 3), **clues}


def _traps(catalog: Catalog, settings: Settings, host: str) -> dict[str, Any]:
    """What was learned about the URLs of a host: the patterns that lead to nothing new, and what knowing them saved."""
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
