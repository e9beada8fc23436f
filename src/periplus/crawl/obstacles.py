"""Why did a crawl lead nowhere?"""

from __future__ import annotations

from collections.abc import Sequence

from periplus.errors import NothingToCrawl
from periplus.model import Decision, UrlState
from periplus.store.catalog import Catalog
from periplus.url import host_of


def nothing_fetched(catalog: Catalog, seeds: Sequence[str], refusals: dict[str, Decision]) -> NothingToCrawl | None:
    """What to say when nothing was fetched: whether any seed leads anywhere."""
    reasons = [(seed, reason) for seed in seeds if (reason := _obstacle(catalog, seed, refusals.get(seed)))]
    if len(reasons) < len(seeds) and catalog.counters()["fetched"]:
        return None
    why = "; ".join(f"{seed}: {reason}" for seed, reason in reasons[:3]) or "no seed led to a page"
    return NothingToCrawl("nothing was crawled", why, "`periplus inspect url URL` tells more.")


def _obstacle(catalog: Catalog, seed: str, refusal: Decision | None) -> str:
    """What keeps a seed from being fetched; empty when nothing does."""
    if refusal is not None:
        return f"refused by {refusal.reason} ({refusal.detail})"
    row = catalog.url(seed)
    if row is None or row["state"] == UrlState.DONE:
        return ""
    if row["state"] == UrlState.QUEUED:
        policy = catalog.policy(host_of(seed))
        return f"unreachable ({policy.why})" if policy and policy.why else "still queued"
    kind = "refused by" if row["state"] == UrlState.REFUSED else "failed with"
    return f"{kind} {row['reason']} ({row['detail']})"
