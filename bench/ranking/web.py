"""Generates a synthetic link graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

SEED = 20240229
_CRAWLED = 0.8  # share of the pages; the others are only known
_LINKS_AN_EDGE = 1.18  # the others are repeated, nofollow, or beyond the limit for one host
_AT_ONCE = 1 << 22  # links: in one piece, the temporaries would take gigabytes


@dataclass(frozen=True)
class Web:
    """Links from page to page, and the host of every page; pages are numbered host by host."""

    source: Numbers  # in order
    target: Numbers
    host: Numbers


def web_like(pages: int, edges: int) -> Web:
    """Hosts of very different size; most links stay near, some go to popular pages. About *edges* links count."""
    random = np.random.default_rng(SEED)
    sizes = random.lognormal(4.5, 1.2, max(pages // 200, 1))
    firsts = np.append(0, np.floor(np.cumsum(sizes) / sizes.sum() * pages)).astype(np.int64)
    firsts[-1] = pages
    host = np.repeat(np.arange(len(sizes)), np.diff(firsts))
    degrees = random.lognormal(0, 0.7, pages) * (random.random(pages) < _CRAWLED)
    source = np.repeat(np.arange(pages), np.round(degrees / degrees.sum() * edges * _LINKS_AN_EDGE).astype(np.int64))
    famous = np.lexsort((random.random(pages), np.arange(pages) - firsts[host]))  # home pages, then the second ones
    target = np.empty_like(source)
    for start in range(0, len(source), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        of = host[source[part]]
        target[part] = _targets(random, source[part], firsts[of], firsts[of + 1], famous)
    return Web(source, target, host)


def _targets(random: np.random.Generator, source: Numbers, first: Numbers, last: Numbers, famous: Numbers) -> Numbers:
    """Two fifths go to a neighbour, a third to a page of the host, rather an early one, the rest anywhere."""
    count, kind = len(source), random.random(len(source))
    inside = first + ((last - first) * random.random(count) ** 1.5).astype(np.int64)
    near = source + np.rint(random.laplace(0, 100, count)).astype(np.int64)
    near = np.where((near >= first) & (near < last), near, inside)
    away = famous[(len(famous) * random.random(count) ** 4).astype(np.int64)]
    return np.where(kind < 0.4, near, np.where(kind < 0.75, inside, away))
