"""May this URL be fetched at all, and if not, which rule says so?"""

from __future__ import annotations

import numpy as np

from periplus.config import Scope
from periplus.frontier.scope import ScopeRules
from periplus.frontier.seen import SeenFilter
from periplus.model import Decision, QueuedUrl, Reason, Verdict
from periplus.store.catalog import Catalog
from periplus.url import host_of, registrable_domain, url_key


class Admission:
    """The gate of the frontier: every seed, link and redirect passes it once."""

    def __init__(
        self, scope: ScopeRules, seen: SeenFilter, domain_sizes: dict[str, int], pages_per_domain: int
    ) -> None:
        self.scope = scope
        self._seen = seen
        self._sizes = domain_sizes
        self._cap = pages_per_domain

    def admit(
        self, url: str, *, depth: int, reason: Reason, via: str, redirects: int = 0
    ) -> QueuedUrl | Decision | None:
        """The queue entry of a URL first met, the decision that refuses it, or None when it is known already."""
        key = url_key(url)
        if key in self._seen:
            return None
        host = host_of(url)
        refusal = self.scope.refusal(url, host, depth)
        if refusal is not None:
            return refusal
        domain = registrable_domain(host)
        size = self._sizes.get(domain, 0)
        if size >= self._cap:
            detail = f"{domain} has {size} URLs, as many as scope.pages_per_domain allows"
            return Decision(Verdict.REFUSED, Reason.DOMAIN_CAP, detail)
        self._seen.add(key)
        self._sizes[domain] = size + 1
        return QueuedUrl(url, host, depth, float(depth), reason, via, redirects)


def open_admission(catalog: Catalog, settings: Scope) -> Admission:
    """The gate of a collection, with all it has let in so far."""
    seen = SeenFilter()
    seen.add_many(np.concatenate([np.empty(0, np.uint64), *catalog.seen_keys()]))
    scope = ScopeRules(settings, map(host_of, catalog.seeds()))
    return Admission(scope, seen, catalog.domain_sizes(), settings.pages_per_domain)
