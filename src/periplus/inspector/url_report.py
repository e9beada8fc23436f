"""Collects what is known about one URL: decisions, fetches, versions, duplicates, quality and rank.

For a URL that is not in the catalog, it reports the decision that the current settings would make.
"""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import asdict
from typing import Any

from periplus.config import Settings
from periplus.errors import DamagedFile, NoIndex
from periplus.fetch.robots import Robots
from periplus.frontier.caps import DomainCaps
from periplus.frontier.scope import ScopeRules, page_rules
from periplus.frontier.traps import Traps
from periplus.graph.explain import explain
from periplus.index.build import near_copy
from periplus.inspector.verdict import PageFacts, verdict_of
from periplus.inspector.versions import plan_of, versions_of
from periplus.inspector.word_report import words_of
from periplus.model import Copy, Decision, Fetch, Quality, Reason, UrlState, Verdict
from periplus.parse.page import PageParser
from periplus.store.archive.archive_lookup import read_version
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.queries import Queries
from periplus.store.collection import Collection
from periplus.store.generations import INDEX_KIND, Generations
from periplus.store.ranks import open_ranks
from periplus.url import Canonicalizer, Url, host_of, parse, url_id

_DUPLICATES_SHOWN = 20


def url_report(
    collection: Collection, settings: Settings, catalog: Queries, raw: str, *, with_quality: bool = True
) -> dict[str, Any]:
    """Everything that is known about a URL; the keys of `periplus inspect url --json`.

    *with_quality*: also the quality of the page, which must be parsed for it.
    """
    found = url_history(catalog, settings, raw)
    url = found["url"]
    found |= copies_of(catalog, collection, url)
    found["quality"] = quality_of(catalog, collection, settings, url) if with_quality else None
    found["rank"] = rank_of(collection, url)
    found["words"] = words_of(collection, url)
    facts = PageFacts(found, blocked=catalog.blocked_hosts().get(found["host"]), has_index=has_index(collection))
    return found | {"verdict": verdict_of(facts).as_json()}


def has_index(collection: Collection) -> bool:
    """Whether a generation of the index is live."""
    with suppress(DamagedFile):
        return Generations(collection.index, INDEX_KIND).live() is not None
    return False


def read_url_report(collection: Collection, settings: Settings, raw: str) -> dict[str, Any]:
    """The report about a URL, from a catalog that is opened for reading only."""
    with closing(open_catalog(collection, Queries, read_only=True)) as catalog:
        return url_report(collection, settings, catalog, raw)


def copies_of(catalog: Queries, collection: Collection, url: str) -> dict[str, Any]:
    """The page of which a URL is a duplicate, by the catalog or else by the index, and the duplicates of the URL."""
    copy = catalog.copy(url) or _near_duplicate(collection, url)
    of = None if copy is None else {"url": copy.original, "exact": copy.bits is None, "bits": copy.bits or 0}
    return {"copy_of": of, "copies": catalog.copies_of(url, _DUPLICATES_SHOWN)}


def _near_duplicate(collection: Collection, url: str) -> Copy | None:
    try:
        generation = Generations(collection.index, INDEX_KIND).open_live()
    except NoIndex:
        return None
    if generation is None:
        return None
    with closing(generation):
        return near_copy(generation.folder, url)


def quality_of(catalog: Queries, collection: Collection, settings: Settings, url: str) -> dict[str, Any] | None:
    """The quality score of a page and its parts, computed from the archived page.

    None when the page was never fetched or its archive record is damaged; the rest of the report is still useful.
    """
    version = catalog.version_of(url)
    if version is None or version.position is None:
        return None
    try:
        response = read_version(collection, url, version.at, version.position)
    except DamagedFile:
        return None
    if response is None:
        return None
    canonicalizer = Canonicalizer.of(settings.addresses)
    parser = PageParser(canonicalizer, links_per_page=settings.scope.links_per_page, settings=settings.parse)
    with closing(parser):
        quality: Quality = parser.parse(response).quality
    return {"score": round(quality.score, 3), **{name: round(part, 3) for name, part in quality._asdict().items()}}


def rank_of(collection: Collection, url: str) -> dict[str, Any] | None:
    """The rank of a canonical URL and the links behind it; None without ranks, or when the URL has none."""
    table = open_ranks(collection.ranks)
    found = None if table is None else explain(table, url_id(url))
    if table is None or found is None:
        return None
    return {"generation": table.number, **asdict(found)}


STATES = {
    UrlState.QUEUED: "queued",
    UrlState.DONE: "done",
    UrlState.REFUSED: "refused",
    UrlState.FAILED: "failed",
}
# Refusals that depend on the link, so they cannot be derived from the URL again.
_LINK_REFUSALS = frozenset({Reason.NOFOLLOW.value, Reason.TOO_DEEP.value, Reason.TOO_MANY_REDIRECTS.value})


def url_history(catalog: Queries, settings: Settings, raw: str) -> dict[str, Any]:
    """The JSON object of `inspect url`; for an unknown URL, the decision that the current settings would make."""
    url = parse(raw, Canonicalizer.of(settings.addresses))
    row = catalog.url(url.text)
    found: dict[str, Any] = {"url": url.text, "url_id": url.id.hex(), "host": url.host, "domain": url.domain}
    found["known"] = row is not None
    found["state"] = STATES[UrlState(row["state"])] if row else "unknown"
    if row is not None:
        found |= {key: row[key] for key in ("reason", "detail", "depth", "admitted", "via", "attempts", "first_seen")}
    else:
        found |= _verdict_for_unknown(catalog, settings, url)
    found["host_policy"] = _host_policy(catalog, url)
    found["robots"] = _robots_line(catalog, url)
    fetches = catalog.fetches_of(url.text)
    found["plan"] = plan_of(row) if row else None
    found["versions"] = versions_of(fetches)
    found["left_out"] = _left_out(catalog, settings, url, row) if row and found["versions"] else None
    found["fetches"] = [_fetch(fetch) for fetch in fetches]
    return found


def _left_out(catalog: Queries, settings: Settings, url: Url, row: dict[str, Any]) -> dict[str, str] | None:
    """Why the next index will leave out a page, by the catalog and the scope; None when it will contain the page."""
    for _, visited, reason in catalog.vanished(url.text):
        version = catalog.version_of(url.text)
        if version is not None and version.at <= visited:
            return {"reason": reason, "detail": row["detail"]}
    refusal = page_rules(settings.scope, catalog.block_list()).refusal(url.text, url.host, depth=0)
    if refusal is None or (row["admitted"] == Reason.IMPORTED and refusal.reason is not Reason.FORGOTTEN):
        return None
    return {"reason": refusal.reason.value, "detail": refusal.detail}


def _verdict_for_unknown(catalog: Queries, settings: Settings, url: Url) -> dict[str, Any]:
    """The decision of the current settings, or the recorded refusal of a link to the URL if it still applies."""
    if catalog.fetches_of(url.text):
        return {
            "reason": Reason.ENTRY.value,
            "detail": "re-fetched for new links when the queue is empty; not a page",
            "via": "",
        }
    reason, detail, via = catalog.refusal_of(url.host, url.text) or ("", "", "")
    refusal = _refusal(catalog, settings, url)
    if refusal is not None:
        return {"reason": refusal.reason.value, "detail": refusal.detail, "via": via}
    if reason in _LINK_REFUSALS:
        return {"reason": reason, "detail": detail, "via": via}
    before = (
        f"; a link to it was refused before: {reason} ({detail})" if reason else ", but no crawled page links to it"
    )
    return {"reason": "never_met", "detail": f"it is in scope{before}", "via": via}


def _refusal(catalog: Queries, settings: Settings, url: Url) -> Decision | None:
    """The first rule that refuses a URL under the current settings, in the order of a crawl."""
    scope = ScopeRules(settings.scope, map(host_of, catalog.seeds()), catalog.blocked_hosts(), catalog.block_list())
    return (
        scope.refusal(url.text, url.host, depth=0)
        or _refused_as_trap(catalog, settings, url)
        or _refused_by_cap(catalog, settings, url)
        or _refused_by_robots(catalog, url)
    )


def _refused_as_trap(catalog: Queries, settings: Settings, url: Url) -> Decision | None:
    traps = Traps(settings.frontier.trap_fetches, settings.frontier.trap_allowance)
    traps.load(catalog.patterns_of(url.host))
    return traps.verdict(url.text, url.host)


def _refused_by_cap(catalog: Queries, settings: Settings, url: Url) -> Decision | None:
    hosts, urls = catalog.size_of_domain(url.domain)
    return DomainCaps(settings.scope).refusal(url.domain, urls, 0 if catalog.policy(url.host) else hosts)


def _refused_by_robots(catalog: Queries, url: Url) -> Decision | None:
    rule = _robots_line(catalog, url)
    if rule is None or rule["allowed"]:
        return None
    number, line = rule["line_number"], rule["line"]
    return Decision(Verdict.REFUSED, Reason.ROBOTS, f"robots.txt line {number}: {line}" if number else line)


def _host_policy(catalog: Queries, url: Url) -> dict[str, Any] | None:
    policy = catalog.policy(url.host)
    if policy is None:
        return None
    return {"delay": policy.delay, "why": policy.why, "next_fetch": policy.next_fetch, "failures": policy.failures}


def _robots_line(catalog: Queries, url: Url) -> dict[str, Any] | None:
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
