"""May this URL be queued, and if not, which rule refuses it?"""

from __future__ import annotations

import numpy as np

from periplus.config import Scope
from periplus.frontier.caps import DomainCaps
from periplus.frontier.priority import is_deferred, plain
from periplus.frontier.scope import ScopeRules
from periplus.frontier.seen import SeenFilter
from periplus.frontier.traps import Traps
from periplus.model import Decision, QueuedUrl, Reason
from periplus.store.catalog import Catalog
from periplus.url import host_of, registrable_domain, url_key


class Admission:
    """Checks every seed, link and redirect once: known URLs, scope, traps and caps."""

    def __init__(self, scope: ScopeRules, caps: DomainCaps, traps: Traps | None = None) -> None:
        self.scope, self.traps = scope, traps or Traps(0)
        self._caps = caps
        self._seen = SeenFilter()
        self._forwarded = SeenFilter()
        self._last_batch = 0
        self._hosts = SeenFilter()  # keys of host names
        self._urls_of: dict[str, int] = {}  # by registrable domain
        self._hosts_of: dict[str, int] = {}

    def catch_up(self, catalog: Catalog) -> None:
        """Load the URLs, domain sizes and hosts that are in the catalog since the last call."""
        batches = []
        for self._last_batch, keys in catalog.seen_keys(self._last_batch):  # noqa: B020  # continues after the last batch
            batches.append(keys)
        self._seen.add_many(np.frombuffer(b"".join(batches), "<u8"))
        for domain, size in catalog.domain_sizes().items():
            self._urls_of[domain] = max(size, self._urls_of.get(domain, 0))
        for host, domain in catalog.hosts():
            self._count_host(url_key(host), domain)

    def mark_seen(self, url: str) -> None:
        """Count a URL as known, so that links to it are never followed."""
        self._seen.add(url_key(url))

    def forward(self, url: str, host: str, depth: int, reason: Reason) -> Decision | bool:
        """Check a URL that another worker has to admit.

        Returns the decision that refuses it, or whether it may be new to the other worker.
        """
        key = url_key(url)
        if key in self._seen or key in self._forwarded:
            return False
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
        if key in self._seen:
            return None
        host = host_of(url)
        refusal = self._scope_refusal(url, host, depth, reason)
        if refusal is None:
            refusal = self.traps.refuse_link(url, host, via, reason)
        if refusal is not None:
            return refusal
        domain, name = registrable_domain(host), url_key(host)
        urls = self._urls_of.get(domain, 0)
        refusal = self._caps.refusal(domain, urls, 0 if name in self._hosts else self._hosts_of.get(domain, 0))
        if refusal is not None:
            return refusal
        self._seen.add(key)
        self._urls_of[domain] = urls + 1
        self._count_host(name, domain)
        return QueuedUrl(url, host, depth, plain(depth) if priority is None else priority, reason, via, redirects)

    def _scope_refusal(self, url: str, host: str, depth: int, reason: Reason) -> Decision | None:
        if reason is Reason.SITEMAP:
            return self.scope.list_refusal(url, host)
        return self.scope.refusal(url, host, depth)

    def _count_host(self, name: int, domain: str) -> None:
        if self._hosts.add(name):
            self._hosts_of[domain] = self._hosts_of.get(domain, 0) + 1


def open_admission(catalog: Catalog, settings: Scope, traps: Traps | None = None) -> Admission:
    """Build the admission of a collection, with all URLs that the catalog knows."""
    scope = ScopeRules(settings, map(host_of, catalog.seeds()), catalog.blocked_hosts())
    admission = Admission(scope, DomainCaps(settings), traps)
    admission.catch_up(catalog)
    return admission
