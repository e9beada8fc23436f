"""May this URL be fetched at all, and if not, which rule says so?"""

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
    """The gate of the frontier: every seed, link and redirect passes it once."""

    def __init__(self, scope: ScopeRules, caps: DomainCaps, traps: Traps | None = None) -> None:
        self.scope, self.traps = scope, traps or Traps(0)
        self._caps = caps
        self._seen = SeenFilter()
        self._forwarded = SeenFilter()
        self._last_piece = 0
        self._hosts = SeenFilter()  # of names
        self._urls_of: dict[str, int] = {}  # by registrable domain
        self._hosts_of: dict[str, int] = {}

    def catch_up(self, catalog: Catalog) -> None:
        """Know what other workers have let in since the last time, as far as it is on disk."""
        pieces = []
        for self._last_piece, keys in catalog.seen_keys(self._last_piece):  # noqa: B020  # from the last one on
            pieces.append(keys)
        self._seen.add_many(np.frombuffer(b"".join(pieces), "<u8"))
        for domain, size in catalog.domain_sizes().items():
            self._urls_of[domain] = max(size, self._urls_of.get(domain, 0))
        for host, domain in catalog.hosts():
            self._count_host(url_key(host), domain)

    def ignore(self, url: str) -> None:
        """Take a URL for known, so that no link to it is ever followed."""
        self._seen.add(url_key(url))

    def forward(self, url: str, host: str, depth: int, reason: Reason) -> Decision | bool:
        """For a URL that is another worker's to admit: the rule that refuses it, or whether it may be news there."""
        key = url_key(url)
        if key in self._seen or key in self._forwarded:
            return False
        return self._scope_refusal(url, host, depth, reason) or self._forwarded.add(key)

    def recheck(self, item: QueuedUrl) -> Decision | None:
        """Why a URL that was admitted before, perhaps by another run, is refused or deferred today."""
        refusal = self._scope_refusal(item.url, item.host, item.depth, item.reason)
        if refusal is not None or item.visits:  # what was a page before is looked at again
            return refusal
        deferred = is_deferred(item.priority)
        return self.traps.decide(item.url, item.host, item.via, item.reason, is_deferred=deferred)

    def admit(
        self, url: str, *, depth: int, reason: Reason, via: str, redirects: int = 0, priority: float | None = None
    ) -> QueuedUrl | Decision | None:
        """The queue entry of a URL first met, the decision that refuses it, or None when it is known already."""
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
    """The gate of a collection, with all it has let in so far."""
    scope = ScopeRules(settings, map(host_of, catalog.seeds()))
    admission = Admission(scope, DomainCaps(settings), traps)
    admission.catch_up(catalog)
    return admission
