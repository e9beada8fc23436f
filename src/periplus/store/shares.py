"""Which share of the web does a host fall into?

All hosts of a registrable domain fall into one share, by hash. A crawl with several workers divides the shares among
them. Hosts, keys of known URLs, and URLs that are forwarded to their owner are stored with their shares.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import xxhash
from numpy.typing import NDArray

from periplus.url import registrable_domain

SHARES = 1024  # many more than workers, so that shares divide evenly
ALL_SHARES = range(SHARES)

Keys = NDArray[np.uint64]  # of URLs
Shares = NDArray[np.uint16]


@lru_cache(maxsize=65536)
def share_of(host: str) -> int:
    """The share that a host falls into."""
    return xxhash.xxh3_64_intdigest(registrable_domain(host).encode()) % SHARES


def split_by_share(keys: Keys, shares: Shares) -> Iterator[tuple[int, Keys]]:
    """Yield each share with its keys; *shares* has the share of every key."""
    order = np.argsort(shares, kind="stable")
    found, starts = np.unique(shares[order], return_index=True)
    return zip(found.tolist(), np.split(keys[order], starts)[1:], strict=True)
