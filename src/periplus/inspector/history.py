"""Why is this URL here, or why not: every decision, attempt and record."""

from __future__ import annotations

from typing import Any

from periplus.config import Settings
from periplus.fetch.robots import Robots
from periplus.frontier.scope import ScopeRules
from periplus.model import Fetch, UrlState
from periplus.store.catalog import Catalog
from periplus.url import Canonicalizer, Url, host_of, parse

_STATES = {
    UrlState.QUEUED: "queued",
    UrlState.DONE: "done",
    UrlState.REFUSED: "refused",
    UrlState.FAILED: "failed",
}


def url_history(catalog: Catalog, settings: Settings, raw: str) -> dict[str, Any]:
    """All that is known about one URL; for one never stored, the verdict it would get today."""
    addresses = settings.addresses
    url = parse(raw, Canonicalizer(addresses.tracking_parameters, addresses.session_parameters))
    row = catalog.url(url.text)
    found: dict[str, Any] = {"url": url.text, "url_id": url.id.hex(), "host": url.host, "domain": url.domain}
    found["known"] = row is not None
    found["state"] = _STATES[UrlState(row["state"])] if row else "unknown"
    if row is not None:
        found |= {key: row[key] for key in ("reason", "detail", "depth", "admitted", "via", "attempts", "first_seen")}
    else:
        found |= _verdict_of_stranger(catalog, settings, url)
    found["host_policy"] = _host_policy(catalog, url)
    found["robots"] = _robots_line(catalog, url)
    found["fetches"] = [_fetch(fetch) for fetch in catalog.fetches_of(url.text)]
    return found


def _verdict_of_stranger(catalog: Catalog, settings: Settings, url: Url) -> dict[str, Any]:
    sample = catalog.refusal_of(url.host, url.text)
    if sample is not None:
        reason, detail, via = sample
        return {"reason": reason, "detail": detail, "via": via}
    scope = ScopeRules(settings.scope, map(host_of, catalog.seeds()))
    refusal = scope.refusal(url.text, url.host, depth=0)
    if refusal is not None:
        return {"reason": refusal.reason.value, "detail": refusal.detail, "via": ""}
    return {"reason": "never_met", "detail": "it is in scope, but no page linked to it so far", "via": ""}


def _host_policy(catalog: Catalog, url: Url) -> dict[str, Any] | None:
    policy = catalog.policy(url.host)
    if policy is None:
        return None
    return {"delay": policy.delay, "why": policy.why, "next_fetch": policy.next_fetch, "failures": policy.failures}


def _robots_line(catalog: Catalog, url: Url) -> dict[str, Any] | None:
    file = catalog.robots(url.origin)
    if file is None:
        return None
    verdict = Robots.for_status(file.status, file.body).verdict(url.path)
    return {
        "allowed": verdict.allowed,
        "line": verdict.line,
        "line_number": verdict.line_number,
        "status": file.status,
        "fetched_at": file.fetched_at,
    }


def _fetch(fetch: Fetch) -> dict[str, Any]:
    position = fetch.position
    return {
        "at": fetch.at,
        "status": fetch.status,
        "verdict": fetch.decision.verdict.value,
        "reason": fetch.decision.reason.value,
        "detail": fetch.decision.detail,
        "mime": fetch.mime,
        "bytes": fetch.size,
        "seconds": fetch.seconds,
        "content_id": fetch.content_id.hex(),
        "redirect_to": fetch.redirect_to,
        "archive": {"file": position.name, "offset": position.offset, "length": position.length} if position else None,
    }
