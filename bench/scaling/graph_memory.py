"""Measures the memory of `periplus rank` for its arrays, without that of the joins.

    python bench/scaling/graph_memory.py

builds graphs of several sizes from made links, each in a process of its own, and prints the bytes of a link and of a
node. The ranks of hosts are left out: with links to random pages, every link would connect another pair of hosts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa

from periplus.graph.build import Rules, _build_graph, write_addresses
from periplus.graph.kernel_choice import kernel_for
from periplus.graph.pagerank import PowerIteration, page_ranks
from periplus.graph.rank_writer import writing_ranks
from periplus.graph.sql_tables import Tables

NODES, LINKS = (500_000, 3_000_000), (4_000_000, 24_000_000)
_HOST_PAGES = 25
_AT_ONCE = 1 << 16  # rows of a batch


class MadeTables:
    """Streams the blocks that the graph is built from."""

    def __init__(self, nodes: int, links: int) -> None:
        self._nodes, self._links, self._random = nodes, links, np.random.default_rng(1)

    def size(self, name: str) -> int:
        del name
        return self._nodes

    def stream(self, block: str) -> Iterator[pa.RecordBatch]:
        rows = {"edges": self._links, "documents": 0}.get(block, self._nodes)
        for start in range(0, rows, _AT_ONCE):
            numbers = np.arange(start, min(start + _AT_ONCE, rows))
            yield pa.RecordBatch.from_pydict(
                {str(place): one for place, one in enumerate(self._columns(block, numbers))}
            )

    def _columns(self, block: str, numbers: Any) -> list[Any]:
        if block == "edges":
            targets = self._random.integers(0, self._nodes, len(numbers))
            return [(numbers * self._nodes // self._links).astype(np.int32), targets.astype(np.int32)]
        nodes = numbers.astype(np.int32)
        return {
            "crawled_nodes": [nodes],
            "node_hosts": [nodes, nodes // _HOST_PAGES],
            "node_urls": [nodes, pa.array(["https://made.test/"] * len(nodes))],
            "sorted_addresses": [pa.array([b"0" * 16] * len(nodes), pa.binary(16)), nodes],
        }[block]


class Peak:
    """The largest anonymous memory of this process above that at the start, in bytes, as long as the block runs."""

    def __enter__(self) -> Peak:
        self._over, self._first, self.bytes = threading.Event(), _anonymous(), 0
        self._sampler = threading.Thread(target=self._sample)
        self._sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._sampler.join()

    def _sample(self) -> None:
        while not self._over.wait(0.005):
            self.bytes = max(self.bytes, _anonymous() - self._first)


def _anonymous() -> int:
    """Bytes that are not those of mapped files."""
    return int(Path("/proc/self/status").read_text().partition("RssAnon:")[2].split()[0]) * 1024


def peak_of(nodes: int, links: int) -> int:
    """Bytes that a ranking of such a graph needs at its peak."""
    kernel_for(links)  # compiles
    tables, hosts = (
        cast("Tables", MadeTables(nodes, links)),
        [f"h{host}.test" for host in range(nodes // _HOST_PAGES + 1)],
    )
    with tempfile.TemporaryDirectory() as folder, writing_ranks(Path(folder)) as draft, Peak() as peak:
        graph = _build_graph(tables, Rules(), hosts, draft)
        write_addresses(tables, graph, draft)
        page_ranks(graph.links, PowerIteration(iterations=3))
        time.sleep(0.01)
    return peak.bytes


def main() -> None:
    """Fits bytes by link and by node to the peaks."""
    sizes = [(nodes, links) for nodes in NODES for links in LINKS]
    found = [_measured(*size) for size in sizes]
    matrix = np.array([[links, nodes, 1] for nodes, links in sizes], float)
    by_link, by_node, _ = np.linalg.lstsq(matrix, np.array(found, float), rcond=None)[0].round(1).tolist()
    peaks = [{"nodes": size[0], "links": size[1], "mb": peak // 10**6} for size, peak in zip(sizes, found, strict=True)]
    print(json.dumps({"bytes_per_link": by_link, "bytes_per_node": by_node, "peaks": peaks}))


def _measured(nodes: int, links: int) -> int:
    command = [sys.executable, __file__, str(nodes), str(links)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(peak_of(int(sys.argv[1]), int(sys.argv[2])))
    else:
        main()
