"""Which share of the web does a host fall into?

All hosts of a registrable domain fall into one share, by hash. A crawl with several workers divides the shares among
them. Hosts, keys of known URLs, and URLs that are forwarded to their owner are stored with their shares.
"""

from __future__ import annotations

from functools import lru_cache

import xxhash

from periplus.url import registrable_domain

SHARES = 1024  # many more than workers, so that shares divide evenly
ALL_SHARES = range(SHARES)


@lru_cache(maxsize=65536)
def share_of(host: str) -> int:
    """The share that a host falls into."""
    return xxhash.xxh3_64_intdigest(registrable_domain(host).encode()) % SHARES
