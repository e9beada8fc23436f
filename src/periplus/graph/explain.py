"""Why does a page rank where it does?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from periplus.store.ranks import Anchors, RankTable
from periplus.url import host_of, url_id

_NO_ANCHORS = Anchors((), (), 0)


@dataclass(frozen=True, slots=True)
class InLink:
    """One page that links here."""

    url: str
    mass: float  # the part of its rank that comes here
    rank: float
    links: int  # among how many it divides its rank


@dataclass(frozen=True, slots=True)
class Explanation:
    """The rank of a page, taken apart."""

    url: str  # of the node: another than asked for, when that one was folded into it
    rank: float
    place: int  # 1 is the highest of all
    percentile: float  # per cent of the known pages that rank lower
    crawled: bool
    from_links: float  # mass that came along links; the rest came from nowhere, as every page gets some
    in_links: int
    strongest: tuple[InLink, ...]
    anchors: Anchors
    host_rank: float


def explain(table: RankTable, identity: bytes, most: int = 10) -> Explanation | None:
    """The rank of a page with its *most* generous in-links, or None when no counted link leads to it."""
    node = table.node_of(identity)
    if node is None:
        return None
    with table.naming_damage():
        return _explained(table, node, most)


def _explained(table: RankTable, node: int, most: int) -> Explanation:
    ranks, rank = table.ranks, table.ranks[node]
    url, sources = table.url(node), table.sources(node)
    with np.errstate(divide="raise"):  # who links here has links
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
    """A page among the highest."""

    url: str
    rank: float
    in_links: int
    crawled: bool


@dataclass(frozen=True, slots=True)
class TopHost:
    """A host among the highest."""

    host: str
    rank: float
    pages: int  # crawled
    known: int  # those known from links included


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
    """Where the *most* highest values are, highest first; the first of equals first."""
    if most < len(values):
        threshold = np.partition(values, len(values) - most)[len(values) - most]
        places = np.flatnonzero(values >= threshold)
    else:
        places = np.arange(len(values))
    return places[np.argsort(-values[places], kind="stable")][:most]
