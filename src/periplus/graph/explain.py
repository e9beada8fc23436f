"""Why does a page have this rank? Takes the rank of a page apart, and lists the highest pages and hosts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from periplus.store.ranks import Anchors, RankTable
from periplus.url import host_of, url_id

_NO_ANCHORS = Anchors((), (), 0)


@dataclass(frozen=True, slots=True)
class InLink:
    """One page that links to the explained page."""

    url: str
    mass: float  # the part of its rank that it passes on here
    rank: float
    links: int  # number of links among which it divides its rank


@dataclass(frozen=True, slots=True)
class Explanation:
    """The rank of a page, taken apart."""

    url: str  # of the node: differs from the requested URL if that was merged into it
    rank: float
    place: int  # 1 is the highest of all
    percentile: float  # per cent of the known pages with a lower rank
    crawled: bool
    from_links: float  # rank received from links; the rest is the share of random jumps
    in_links: int
    strongest: tuple[InLink, ...]
    anchors: Anchors
    host_rank: float


def explain(table: RankTable, identity: bytes, most: int = 10) -> Explanation | None:
    """Explain the rank of a page with its *most* strongest in-links; None when the page is unknown."""
    node = table.node_of(identity)
    if node is None:
        return None
    with table.naming_damage():
        return _explained(table, node, most)


def _explained(table: RankTable, node: int, most: int) -> Explanation:
    ranks, rank = table.ranks, table.ranks[node]
    url, sources = table.url(node), table.sources(node)
    with np.errstate(divide="raise"):  # every source has at least one link
        masses = table.figures.damping * ranks[sources].astype(np.float64) / table.degrees[sources]
    return Explanation(
        url,
        float(rank),
        place=int(np.count_nonzero(ranks > rank)) + 1,
        percentile=100 * float(np.count_nonzero(ranks < rank)) / len(ranks),
        crawled=bool(table.crawled[node]),
        from_links=float(masses.sum()),
        in_links=len(sources),
        strongest=tuple(_in_link(table, int(sources[i]), float(masses[i])) for i in highest(masses, most)),
        anchors=table.anchors(url_id(url)) or _NO_ANCHORS,
        host_rank=float(table.of_hosts([host_of(url)])[0]),
    )


def _in_link(table: RankTable, node: int, mass: float) -> InLink:
    return InLink(table.url(node), mass, float(table.ranks[node]), int(table.degrees[node]))


@dataclass(frozen=True, slots=True)
class TopPage:
    """One of the pages with the highest rank."""

    url: str
    rank: float
    in_links: int
    crawled: bool


@dataclass(frozen=True, slots=True)
class TopHost:
    """One of the hosts with the highest rank."""

    host: str
    rank: float
    pages: int  # crawled
    known: int  # including pages known from links only


def top_pages(table: RankTable, size: int) -> list[TopPage]:
    """The pages with the highest rank."""
    with table.naming_damage():
        return [
            TopPage(table.url(n), float(table.ranks[n]), len(table.sources(n)), bool(table.crawled[n]))
            for n in map(int, highest(table.ranks, size))
        ]


def top_hosts(table: RankTable, size: int) -> list[TopHost]:
    """The hosts with the highest rank."""
    with table.naming_damage():
        rows = table.hosts.take(highest(table.hosts["rank"].to_numpy(), size)).to_pylist()
    return [TopHost(row["host"], row["rank"], row["pages"], row["nodes"]) for row in rows]


def highest(values: NDArray[np.floating], most: int) -> NDArray[np.int64]:
    """Indices of the *most* highest values, highest first; equal values in their order."""
    if most < len(values):
        threshold = np.partition(values, len(values) - most)[len(values) - most]
        places = np.flatnonzero(values >= threshold)
    else:
        places = np.arange(len(values))
    return places[np.argsort(-values[places], kind="stable")][:most]
