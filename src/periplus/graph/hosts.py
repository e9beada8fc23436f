"""Builds the graph of hosts, and writes their ranks.

Each page that links to another host is one vote of its host, however many links it has. Votes within one registrable
domain count less; the difference is spread over all hosts, so that related sites cannot raise each other's rank.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from periplus.graph import csr
from periplus.graph.build import Graph
from periplus.graph.kernel_choice import kernel_for
from periplus.graph.pagerank import WeightedLinks
from periplus.graph.rank_writer import RankWriter
from periplus.url import registrable_domain


def domain_numbers(hosts: list[str]) -> NDArray[np.int64]:
    """Equal numbers for hosts of one registrable domain."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(registrable_domain(host), len(numbers)) for host in hosts], np.int64)


def host_links(graph: Graph, inside_domain: float) -> WeightedLinks:
    """The votes between hosts, as shares of the rank of each voting host."""
    links = graph.links
    kernel = kernel_for(len(links.sources))
    source, target, votes = kernel.host_votes(links.indptr, links.sources, graph.host, len(graph.hosts))
    total = np.bincount(source, votes, len(graph.hosts))
    domains = domain_numbers(graph.hosts)
    shares = np.where(domains[source] == domains[target], inside_domain, 1.0) * votes / total[source]
    return WeightedLinks(csr.offsets(np.bincount(target, minlength=len(graph.hosts))), source, shares)


def write_hosts(graph: Graph, ranks: NDArray[np.float32], draft: RankWriter) -> None:
    """Write rank and size of every host."""
    count = len(graph.hosts)
    columns = {
        "host": pa.array(graph.hosts, pa.string()),
        "domain": pa.array([registrable_domain(host) for host in graph.hosts], pa.string()),
        "rank": pa.array(ranks, pa.float32()),
        "nodes": pa.array(np.bincount(graph.host, minlength=count)),
        "pages": pa.array(np.bincount(graph.host[graph.crawled], minlength=count)),
    }
    parquet.write_table(pa.table(columns), draft.path / "hosts.parquet", compression="zstd")
