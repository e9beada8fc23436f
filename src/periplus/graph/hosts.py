"""Which hosts vouch for which?

A host votes with its pages: each page that links to another host is one vote, however many links it has. Votes inside
one registrable domain count less: what they lose is spread over all hosts, so a family of sites cannot lift itself.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from periplus.graph import csr, kernel
from periplus.graph.build import Graph
from periplus.graph.draft import Draft
from periplus.graph.pagerank import WeightedLinks
from periplus.url import registrable_domain

U32 = NDArray[np.uint32]


def domain_numbers(hosts: list[str]) -> NDArray[np.int64]:
    """Equal numbers for hosts of one registrable domain."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(registrable_domain(host), len(numbers)) for host in hosts], np.int64)


def host_links(graph: Graph, rows: csr.Rows, inside_domain: float) -> WeightedLinks:
    """The votes between hosts, as shares of what each host has to give."""
    source, target, votes = _votes(graph, rows)
    total = np.bincount(source, votes, len(graph.hosts))
    domains = domain_numbers(graph.hosts)
    shares = np.where(domains[source] == domains[target], inside_domain, 1.0) * votes / total[source]
    indptr = csr.offsets(np.bincount(target, minlength=len(graph.hosts)))
    order = np.empty(len(source), np.uint32)
    kernel.place(target, np.arange(len(source), dtype=np.uint32), indptr[:-1].copy(), order)
    return WeightedLinks(indptr, source[order], shares[order])


def _votes(graph: Graph, rows: csr.Rows) -> tuple[U32, U32, U32]:
    """Pairs of hosts in the order of the first, and how many pages of it link to the second."""
    count = len(graph.hosts)
    scratch = np.zeros(count, np.uint32), np.empty(count, np.uint32)
    found = kernel.host_votes(rows.indptr, rows.targets, graph.host, *scratch, np.empty((3, 0), np.uint32))
    pairs = np.empty((3, found), np.uint32)
    if found:
        kernel.host_votes(rows.indptr, rows.targets, graph.host, *scratch, pairs)
    return pairs[0], pairs[1], pairs[2]


def write_hosts(graph: Graph, ranks: NDArray[np.float32], draft: Draft) -> None:
    """Note rank and size of every host."""
    count = len(graph.hosts)
    columns = {
        "host": pa.array(graph.hosts, pa.string()),
        "domain": pa.array([registrable_domain(host) for host in graph.hosts], pa.string()),
        "rank": pa.array(ranks, pa.float32()),
        "nodes": pa.array(np.bincount(graph.host, minlength=count)),
        "pages": pa.array(np.bincount(graph.host[graph.crawled], minlength=count)),
    }
    parquet.write_table(pa.table(columns), draft.path / "hosts.parquet", compression="zstd")
