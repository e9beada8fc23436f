"""Which URLs does a worker know, and how many has each domain?

A worker holds the known URLs of its own shares only: those of a share are loaded with it, and dropped when the share
goes to another worker.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from periplus.frontier.seen import Keys, SeenFilter
from periplus.store.catalog.catalog import Catalog
from periplus.store.shares import ALL_SHARES, SHARES, share_of
from periplus.url import url_key

Shares = NDArray[np.uint16]

_NO_KEYS: Keys = np.zeros(0, np.uint64)
_NO_SHARES: Shares = np.zeros(0, np.uint16)


class KnownUrls:
    """The known URLs and the sizes of the domains of one share, or of all shares."""

    __slots__ = ("_hosts", "_hosts_of", "_urls_of", "keys")

    def __init__(self) -> None:
        self.keys = SeenFilter()
        self._hosts = SeenFilter()  # keys of host names
        self._urls_of: dict[str, int] = {}  # by registrable domain
        self._hosts_of: dict[str, int] = {}

    def urls_of(self, domain: str) -> int:
        """How many URLs of a domain were admitted."""
        return self._urls_of.get(domain, 0)

    def other_hosts_of(self, domain: str, host: str) -> int:
        """How many hosts of a domain have URLs; 0 if *host* is one of them."""
        return 0 if url_key(host) in self._hosts else self._hosts_of.get(domain, 0)

    def count_url(self, domain: str) -> None:
        """Count an admitted URL of a domain."""
        self._urls_of[domain] = self.urls_of(domain) + 1

    def count_host(self, host: str, domain: str) -> None:
        """Count a host with admitted URLs, once."""
        if self._hosts.add(url_key(host)):
            self._hosts_of[domain] = self._hosts_of.get(domain, 0) + 1

    def set_size(self, domain: str, urls: int) -> None:
        """Set how many URLs of a domain were admitted, unless more are known."""
        self._urls_of[domain] = max(urls, self.urls_of(domain))


class OwnedUrls:
    """The known URLs of the shares that this worker owns."""

    def __init__(self) -> None:
        self.whole: KnownUrls | None = KnownUrls()  # of all shares; None once some shares are loaded
        self.everywhere = SeenFilter()  # keys that count for every share
        self._has_old_keys = False  # of an earlier release, without shares
        self._by_share: dict[int, KnownUrls] = {}
        self._nothing = KnownUrls()

    def of(self, host: str) -> KnownUrls:
        """What is known about the share of a host: nothing, if another worker owns it."""
        return self.whole or self._by_share.get(share_of(host), self._nothing)

    def load(self, catalog: Catalog, shares: Collection[int] | None) -> None:
        """Load the URLs of shares that this worker owns from now on; None: of all shares, for a sole worker."""
        if shares is None:
            self.whole = KnownUrls()
            self.whole.keys.add_many(np.concatenate([_NO_KEYS, *(np.asarray(keys) for keys, _ in catalog.seen_keys())]))
        else:
            self.whole = None
            self._by_share |= {share: KnownUrls() for share in shares}
            self._load_keys(catalog, frozenset(shares))
        if shares is None or shares:
            self._load_hosts(catalog, frozenset(ALL_SHARES if shares is None else shares))

    def drop(self, shares: Collection[int]) -> None:
        """Forget the URLs of shares that go to another worker."""
        for share in shares:
            self._by_share.pop(share, None)

    def _load_keys(self, catalog: Catalog, wanted: frozenset[int]) -> None:
        if not wanted:
            return
        is_wanted = np.zeros(SHARES, bool)
        is_wanted[list(wanted)] = True
        found, old = [(_NO_KEYS, _NO_SHARES)], [_NO_KEYS]
        for keys, shares in catalog.seen_keys(wanted):
            if shares is None:
                old += [] if self._has_old_keys else [np.asarray(keys)]
            else:
                mine = is_wanted[np.asarray(shares)]
                found.append((np.asarray(keys)[mine], np.asarray(shares)[mine]))
        if not self._has_old_keys:
            self._has_old_keys = True
            self.everywhere.add_many(np.concatenate(old))
        all_keys, all_shares = map(np.concatenate, zip(*found, strict=True))
        for share, keys_of_share in _split_by_share(all_keys, all_shares):
            self._by_share[share].keys.add_many(keys_of_share)

    def _load_hosts(self, catalog: Catalog, wanted: frozenset[int]) -> None:
        """Load domains and hosts; the catalog also returns those of earlier releases, of any share."""
        for domain, size in catalog.domain_sizes(wanted).items():
            if share_of(domain) in wanted:
                self.of(domain).set_size(domain, size)
        for host, domain in catalog.hosts(wanted):
            if share_of(domain) in wanted:
                self.of(domain).count_host(host, domain)


def _split_by_share(keys: Keys, shares: Shares) -> Iterator[tuple[int, Keys]]:
    """Yield each share with its keys; *shares* has the share of every key."""
    order = np.argsort(shares, kind="stable")
    found, starts = np.unique(shares[order], return_index=True)
    return zip(found.tolist(), np.split(keys[order], starts)[1:], strict=True)
