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
        self._last_piece = 0
        self._forwarded = SeenFilter()

    def catch_up(self, catalog: Catalog) -> None:
        """Know what other workers have let in since the last time, as far as it is on disk."""
        pieces = [np.empty(0, np.uint64)]
        for self._last_piece, keys in catalog.seen_keys(self._last_piece):  # noqa: B020  # from the last one on
            pieces.append(keys)
        self._seen.add_many(np.concatenate(pieces))
        for domain, size in catalog.domain_sizes().items():
            self._sizes[domain] = max(size, self._sizes.get(domain, 0))

    def forward(self, url: str, host: str, depth: int) -> Decision | bool:
        """For a URL that is another worker's to admit: the rule that refuses it, or whether it may be news there."""
        key = url_key(url)
        if key in self._seen or key in self._forwarded:
            return False
        return self.scope.refusal(url, host, depth) or self._forwarded.add(key)

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
    scope = ScopeRules(settings, map(host_of, catalog.seeds()))
    admission = Admission(scope, SeenFilter(), {}, settings.pages_per_domain)
    admission.catch_up(catalog)
    return admission
