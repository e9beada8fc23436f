"""May this URL be queued, and if not, which rule refuses it?"""

from __future__ import annotations

from collections.abc import Collection

from periplus.config import Scope
from periplus.frontier.caps import DomainCaps
from periplus.frontier.known_urls import OwnedUrls
from periplus.frontier.priority import is_deferred, plain
from periplus.frontier.scope import ScopeRules
from periplus.frontier.seen import SeenFilter
from periplus.frontier.traps import Traps
from periplus.model import Decision, QueuedUrl, Reason
from periplus.store.catalog.catalog import Catalog
from periplus.url import host_of, registrable_domain, url_key

_FORWARDED_KEYS = 1 << 20  # 8 to 15 MB


class Admission:
    """Checks every seed, link and redirect once: known URLs, scope, traps and caps."""

    def __init__(self, scope: ScopeRules, caps: DomainCaps, traps: Traps | None = None) -> None:
        self.scope, self.traps = scope, traps or Traps(0)
        self._caps = caps
        self.owned = OwnedUrls()
        self._forwarded = SeenFilter()

    def load(self, catalog: Catalog, shares: Collection[int] | None = None) -> None:
        """Load the URLs, domain sizes and hosts of shares that this worker owns from now on; None: of all shares."""
        self.owned.load(catalog, shares)

    def drop(self, shares: Collection[int]) -> None:
        """Forget what belongs to shares that go to another worker."""
        self.owned.drop(shares)

    def mark_known(self, url: str) -> None:
        """Count a URL as known, so that links to it are never followed."""
        self.owned.everywhere.add(url_key(url))

    def forward(self, url: str, host: str, depth: int, reason: Reason) -> Decision | bool:
        """Check a URL that another worker has to admit.

        Returns the decision that refuses it, or whether it may be new to the other worker.
        """
        key = url_key(url)
        if key in self.owned.everywhere or key in self._forwarded:
            return False
        if len(self._forwarded) >= _FORWARDED_KEYS:
            self._forwarded = SeenFilter()  # its owner knows a URL that is forwarded twice
        return self._scope_refusal(url, host, depth, reason) or self._forwarded.add(key)

    def recheck(self, item: QueuedUrl) -> Decision | None:
        """Return why a queued URL is refused or deferred today, although an earlier check admitted it; else None."""
        refusal = self._scope_refusal(item.url, item.host, item.depth, item.reason)
        if refusal is not None or item.visits:  # the trap rules apply to new pages only
            return refusal
        deferred = is_deferred(item.priority)
        return self.traps.decide(item.url, item.host, item.via, item.reason, is_deferred=deferred)

    def admit(
        self, url: str, *, depth: int, reason: Reason, via: str, redirects: int = 0, priority: float | None = None
    ) -> QueuedUrl | Decision | None:
        """Return the queue entry of a new URL, the decision that refuses it, or None when it is known already."""
        key = url_key(url)
        known = self.owned.whole or self.owned.of(host_of(url))
        if key in known.keys or key in self.owned.everywhere:
            return None
        host = host_of(url)
        refusal = self._scope_refusal(url, host, depth, reason)
        if refusal is None:
            refusal = self.traps.refuse_link(url, host, via, reason)
        if refusal is not None:
            return refusal
        domain = registrable_domain(host)
        refusal = self._caps.refusal(domain, known.urls_of(domain), known.other_hosts_of(domain, host))
        if refusal is not None:
            return refusal
        known.keys.add(key)
        known.count_url(domain)
        known.count_host(host, domain)
        return QueuedUrl(url, host, depth, plain(depth) if priority is None else priority, reason, via, redirects)

    def _scope_refusal(self, url: str, host: str, depth: int, reason: Reason) -> Decision | None:
        if reason is Reason.SITEMAP:
            return self.scope.list_refusal(url, host)
        return self.scope.refusal(url, host, depth)


def open_admission(
    catalog: Catalog, settings: Scope, traps: Traps | None = None, shares: Collection[int] | None = None
) -> Admission:
    """Build the admission of a collection, with the URLs of some shares that the catalog knows; None: of all."""
    scope = ScopeRules(settings, map(host_of, catalog.seeds()), catalog.blocked_hosts(), catalog.block_list())
    admission = Admission(scope, DomainCaps(settings), traps)
    admission.load(catalog, shares)
    return admission
