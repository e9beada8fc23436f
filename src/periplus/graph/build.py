"""Builds the link graph from segments.

SQL finds the pages, merges duplicate URLs and numbers the nodes, out of core or on a cluster. Two node numbers per link
are streamed back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, compress
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from periplus.errors import PeriplusError
from periplus.graph import csr
from periplus.graph.duplicates import Redirect, merge_duplicates
from periplus.graph.pagerank import Links
from periplus.graph.rank_writer import RankWriter
from periplus.graph.sql_tables import Tables
from periplus.store.checksums import StoredFile
from periplus.store.ranks import Ids
from periplus.store.segments.schema import LINKS, PAGES

_PAGE_COLUMNS = ("url_id", "url", "host", "fetched_at", "content_id", "canonical")
_MOST_NODES = (1 << 31) - 1  # node numbers are signed 32-bit integers in SQL

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Segments:
    """The input of a graph."""

    pages: list[StoredFile]
    links: list[StoredFile]
    redirects: Iterable[Redirect] = ()


@dataclass(frozen=True, slots=True)
class Rules:
    """Which links count."""

    nofollow: bool = False  # count links marked nofollow too
    per_host: int = 20  # maximum links of one page to one other host


@dataclass(frozen=True, slots=True)
class Graph:
    """The link graph; nodes are numbered in the order of (reversed host, path)."""

    links: Links
    hosts: list[str]  # in the order of their nodes
    host: NDArray[np.uint32]  # of every node
    crawled: NDArray[np.bool_]
    used: NDArray[np.bool_]  # by row of the table `nodes`: whether the row is a node of the graph
    numbers: NDArray[np.uint32]  # by row of the table `nodes`: its node number in the graph


def build(tables: Tables, segments: Segments, rules: Rules, draft: RankWriter, progress: Progress) -> Graph:
    """Build the graph of the latest version of every page; its arrays are files of the draft."""
    tables.read("pages", segments.pages, pa.schema([PAGES.field(name) for name in _PAGE_COLUMNS]))
    tables.read("links", segments.links, LINKS)
    tables.view("followed", "all_followed" if rules.nofollow else "followed")
    progress("merging duplicate URLs")
    merge_duplicates(tables, segments.redirects)
    progress("numbering pages")
    hosts = _number_nodes(tables)
    progress("reading links")
    return _build_graph(tables, rules, hosts, draft)


def _number_nodes(tables: Tables) -> list[str]:
    """Create the tables `nodes`, `addresses` and `voters`; returns the hosts in the order of their nodes."""
    for name in ("crawled_ids", "linked_only", "known"):
        tables.make(name)
    pages = {host: count for batch in tables.stream("hosts") for host, count in zip(*_lists(batch), strict=True)}
    hosts = sorted(pages, key=reversed_host)
    *first, nodes = accumulate((pages[host] for host in hosts), initial=0)
    if nodes > _MOST_NODES:
        raise PeriplusError(
            "too many pages", f"a graph has at most {_MOST_NODES:,}", "Restrict the scope, or split the collection."
        )
    numbers = {"number": pa.array(range(len(hosts)), pa.int32()), "first": pa.array(first, pa.int32())}
    tables.take("host_numbers", pa.table({"host": pa.array(hosts, pa.string()), **numbers}))
    for name in ("nodes", "addresses", "voters"):
        tables.make(name)
    tables.drop("crawled_ids", "linked_only", "known", "merge_targets", "own", "copies", "merged", "voting")
    return hosts


def _lists(batch: pa.RecordBatch) -> list[list[Any]]:
    return [column.to_pylist() for column in batch.columns]


def reversed_host(host: str) -> tuple[str, ...]:
    """Sort key of a host: `www.example.org` sorts as org, example, www, so hosts of one domain are adjacent."""
    return tuple(reversed(host.split(".")))


def _build_graph(tables: Tables, rules: Rules, hosts: list[str], draft: RankWriter) -> Graph:
    nodes = tables.size("nodes")
    found = csr.in_links(tables.stream("edges"), nodes)
    crawled, host = np.zeros(nodes, np.bool_), np.zeros(nodes, np.uint32)
    for (node,) in _columns(tables, "crawled_nodes"):
        crawled[node] = True
    for node, number in _columns(tables, "node_hosts"):
        host[node] = number
    used = crawled | (np.diff(found.indptr) > 0)
    degrees = csr.apply_rules(found, host, rules.per_host, _copies(tables))
    numbers = csr.keep_nodes(found, used)
    links = _write_links(found, degrees[used], draft)
    del found  # free the memory: from here on the graph is mapped from files
    draft.save("crawled", crawled[used])
    present = np.bincount(host[used], minlength=len(hosts)) > 0
    places = (np.cumsum(present) - 1).astype(np.uint32)
    return Graph(links, list(compress(hosts, present)), places[host[used]], crawled[used], used, numbers)


def _write_links(found: csr.InLinks, degrees: NDArray[np.uint32], draft: RankWriter) -> Links:
    """Write the links into files of the draft, mapped into memory."""
    links = Links(
        draft.array("indptr", np.uint64, len(found.indptr)),
        draft.array("sources", np.uint32, len(found.sources)),
        degrees,
    )
    links.indptr[:], links.sources[:] = found.indptr, found.sources
    draft.save("degrees", degrees)
    return links


def _copies(tables: Tables) -> csr.DuplicateTable:
    batches = [[np.empty(0, np.uint32)] * 2, *_columns(tables, "documents")]
    nodes, documents = (np.concatenate(parts).astype(np.uint32) for parts in zip(*batches, strict=True))
    return csr.DuplicateTable(nodes, documents)


def _columns(tables: Tables, block: str) -> Iterator[list[NDArray[np.int32]]]:
    for batch in tables.stream(block):
        yield [column.to_numpy() for column in batch.columns]


def write_addresses(tables: Tables, graph: Graph, draft: RankWriter) -> None:
    """Write the URL of every node, and the URL ids of each node including those merged into it."""
    draft.urls(_used_urls(tables, graph.used))
    size = tables.size("addresses")
    ids, nodes = np.empty(size, "S16"), np.empty(size, np.uint32)
    end = 0
    for batch in tables.stream("sorted_addresses"):
        start, end = end, end + batch.num_rows
        ids[start:end] = ids_in(batch.column(0))
        nodes[start:end] = batch.column(1).to_numpy()
    used = graph.used[nodes]
    draft.save("ids", ids[used])
    draft.save("numbers", graph.numbers[nodes[used]])


def ids_in(column: pa.Array) -> Ids:
    """The URL ids of a column."""
    fixed = column.cast(pa.binary(16))
    return np.frombuffer(fixed.buffers()[1], "S16", len(fixed), fixed.offset * 16)


def _used_urls(tables: Tables, used: NDArray[np.bool_]) -> Iterator[pa.Array]:
    for batch in tables.stream("node_urls"):
        yield batch.column(1).filter(pa.array(used[batch.column(0).to_numpy()]))
