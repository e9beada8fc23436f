"""Simulates a month of a crawl by the hour: which pages do capacity and politeness leave out?

Host sizes follow a power law; hosts of nearly the same size are one class, so that billions of hosts are some hundreds
of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

HOURS = 720  # of a month
_EXPONENT = 0.8  # the n-th largest host has ~ n^-0.8 pages, as in `growing.web`
_CLASSES = 2_000
Amounts = NDArray[np.float64]


@dataclass(frozen=True)
class Month:
    """What was fetched in a month."""

    fetched_share: float  # of the pages of the web
    too_large_hosts: float  # hosts that politeness keeps from being finished, whatever the capacity
    largest_host: float  # pages
    polite_hours: int  # hours in which politeness, not capacity, was the limit


def host_classes(pages: float, hosts: float) -> tuple[Amounts, Amounts]:
    """Number and size of the hosts of each class, the largest first."""
    edges = np.unique(np.geomspace(1, hosts + 1, _CLASSES).round())
    middles = np.sqrt(edges[:-1] * (edges[1:] - 1))
    counts, shape = np.diff(edges), middles**-_EXPONENT
    return counts, shape * pages / (counts * shape).sum()


def simulate_month(pages: float, hosts: float, pages_per_second: float, pace: float) -> Month:
    """*pace*: seconds from one request to a host to the next."""
    counts, sizes = host_classes(pages, hosts)
    left, hourly, capacity = sizes.copy(), 3600 / pace, 3600 * pages_per_second
    polite = 0
    for _ in range(HOURS):
        offered = np.minimum(left, hourly)
        total = float((offered * counts).sum())
        part = min(1.0, capacity / total) if total else 0.0
        left -= offered * part
        polite += 0 < total < capacity
    return Month(
        round(1 - float((left * counts).sum()) / pages, 4),
        round(float(counts[sizes > hourly * HOURS].sum())),
        round(float(sizes[0])),
        polite,
    )
