"""May this URL be queued, and if not, which rule refuses it?"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from periplus.config import Scope
from periplus.frontier.caps import DomainCaps
from periplus.frontier.priority import is_deferred, plain
from periplus.frontier.scope import ScopeRules
from periplus.frontier.seen import SeenFilter
from periplus.frontier.traps import Traps
from periplus.model import Decision, QueuedUrl, Reason
from periplus.store.catalog.catalog import Catalog
from periplus.store.shares import SHARES, share_of
from periplus.url import host_of, registrable_domain, url_key

_FORWARDED_KEYS = 1 << 20  # 8 to 15 MB


class Admission:
    """Checks every seed, link and redirect once: known URLs, scope, traps and caps."""

    def __init__(self, scope: ScopeRules, caps: DomainCaps, traps: Traps | None = None) -> None:
        self.scope, self.traps = scope, traps or Traps(0)
        self._caps = caps
        self._seen = SeenFilter()
        self._forwarded = SeenFilter()
        self._has_old_keys = False  # of chunks without shares
        self._hosts = SeenFilter()  # keys of host names
        self._urls_of: dict[str, int] = {}  # by registrable domain
        self._hosts_of: dict[str, int] = {}

    def catch_up(self, catalog: Catalog, shares: Collection[int] | None = None) -> None:
        """Load the URLs, domain sizes and hosts of shares that this worker owns from now on; None: of all shares."""
        if shares is not None and not shares:
            return
        is_mine = np.zeros(SHARES, bool)
        is_mine[slice(None) if shares is None else list(shares)] = True
        self._load_keys(catalog, None if shares is None else is_mine)
        for domain, size in catalog.domain_sizes().items():
            if is_mine[share_of(domain)]:
                self._urls_of[domain] = max(size, self._urls_of.get(domain, 0))
        for host, domain in catalog.hosts():
            if is_mine[share_of(domain)]:
                self._count_host(url_key(host), domain)

    def _load_keys(self, catalog: Catalog, is_mine: NDArray[np.bool_] | None) -> None:
        """Load the seen keys of some shares; None: of all. Chunks without shares are loaded once, for any share."""
        wanted = []
        for chunk, shares in catalog.seen_keys():
            keys = np.frombuffer(chunk, "<u8")
            if shares is None:
                wanted += [] if self._has_old_keys else [keys]
            else:
                wanted.append(keys if is_mine is None else keys[is_mine[np.frombuffer(shares, "<u2")]])
        self._has_old_keys = True
        if wanted:
            self._seen.add_many(np.concatenate(wanted))

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


def open_admission(
    catalog: Catalog, settings: Scope, traps: Traps | None = None, shares: Collection[int] | None = None
) -> Admission:
    """Build the admission of a collection, with the URLs of some shares that the catalog knows; None: of all."""
    scope = ScopeRules(settings, map(host_of, catalog.seeds()), catalog.blocked_hosts(), catalog.block_list())
    admission = Admission(scope, DomainCaps(settings), traps)
    admission.catch_up(catalog, shares)
    return admission
