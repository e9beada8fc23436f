"""Reads ranks, links and anchor texts of the live generation.

Arrays are memory-mapped, so a look-up costs a few page faults whatever the size of the graph. Pages are *nodes*,
numbered by (reversed host, path); a URL that was merged into another has the node of that other URL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import DTypeLike, NDArray
from pyarrow import parquet

from periplus.errors import DamagedFile
from periplus.store.arrays import map_array
from periplus.store.generations import RANK_KIND, Generation, Generations

URLS_AT_ONCE = 1 << 16  # rows per batch of nodes.arrow: node n is row n % URLS_AT_ONCE of batch n // URLS_AT_ONCE

HOST_COLUMNS = ["host", "domain", "rank", "nodes", "pages"]
Ids = NDArray[np.bytes_]  # dtype S16


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of a generation, without times, so that equal input gives equal bytes."""

    nodes: int
    edges: int
    hosts: int
    iterations: int
    delta: float  # L1 change of the last iteration
    damping: float
    floor: float  # the rank of a page that nothing links to
    host_floor: float
    inputs: str  # digest of the segments that it was computed from


@dataclass(frozen=True, slots=True)
class Anchors:
    """The anchor texts of a page."""

    texts: tuple[str, ...]  # strongest first
    weights: tuple[float, ...]
    in_links: int


def open_ranks(folder: Path) -> RankTable | None:
    """Open the live generation in *folder*; None before the first."""
    generation = Generations(folder, RANK_KIND).open_live()
    return None if generation is None else RankTable(generation)


class RankTable:
    """Reads one generation of ranks."""

    def __init__(self, generation: Generation) -> None:
        self._generation = generation  # keeps the generation from being removed
        generation.require_sizes()
        self.folder, self.number = generation.folder, generation.number
        self.figures = Figures(**generation.meta["figures"])

    def require_intact(self) -> None:
        """Check every byte of the files that `of` and `anchors_file` read."""
        self._generation.require_intact(("ids.npy", "numbers.npy", "ranks.npy", self.anchors_file.name))

    @contextmanager
    def naming_damage(self) -> Iterator[None]:
        """Raise `DamagedFile` for errors caused by damaged data; `Generations.damage` finds the file."""
        try:
            yield
        except (ArithmeticError, LookupError, MemoryError, ValueError, OSError, pa.ArrowException) as error:
            raise DamagedFile(f"{self.folder} is damaged", str(error)[:200]) from error

    def of(self, ids: Ids) -> NDArray[np.float32]:
        """The rank of each URL id; an unknown URL has the rank of a page without links to it."""
        nodes = self.nodes_of(ids)
        if not self.figures.nodes:
            return np.full(len(ids), self.figures.floor, np.float32)
        with self.naming_damage():
            return np.where(nodes >= 0, self.ranks[nodes], np.float32(self.figures.floor))

    def of_hosts(self, hosts: Sequence[str]) -> NDArray[np.float32]:
        """The rank of each host; an unknown host has the rank of a host without links to it."""
        known, ranks = self._host_numbers, self.hosts["rank"].to_numpy()
        floor = self.figures.host_floor
        return np.array([ranks[known[host]] if host in known else floor for host in hosts], np.float32)

    def nodes_of(self, ids: Ids) -> NDArray[np.int64]:
        """The node of each URL id, -1 for an unknown URL."""
        if not len(self._ids):
            return np.full(len(ids), -1)
        places = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return np.where(self._ids[places] == ids, self._numbers[places].astype(np.int64), -1)

    def node_of(self, url_id: bytes) -> int | None:
        """The node of one URL id, or None."""
        node = int(self.nodes_of(np.frombuffer(url_id, "S16"))[0])
        return node if node >= 0 else None

    def url(self, node: int) -> str:
        """The URL of a node."""
        with self.naming_damage():
            batch = self._urls.get_batch(node // URLS_AT_ONCE)
            batch.validate(full=True)  # offsets of a damaged batch could point anywhere in memory
            return str(batch.column(0)[node % URLS_AT_ONCE])

    def sources(self, node: int) -> NDArray[np.uint32]:
        """The nodes that link to a node, each once."""
        return self.all_sources[int(self.indptr[node]) : int(self.indptr[node + 1])]

    def anchors(self, url_id: bytes) -> Anchors | None:
        """The anchor texts of a page; *url_id* is that of its node, or of the page that was fetched in its place."""
        with self.naming_damage():
            rows = parquet.read_table(self.anchors_file, filters=[("target_id", "==", url_id)]).to_pylist()
        if not rows:
            return None
        row = rows[0]
        return Anchors(tuple(row["anchors"]), tuple(row["weights"]), row["in_links"])

    @property
    def anchors_file(self) -> Path:
        """Parquet, ordered by target_id: target_id, anchors and their weights (strongest first), weight, in_links."""
        return self.folder / "anchors.parquet"

    @cached_property
    def hosts(self) -> pa.Table:
        """HOST_COLUMNS of every host, in the order of the nodes."""
        with self.naming_damage():
            return parquet.read_table(self.folder / "hosts.parquet").select(HOST_COLUMNS)

    @cached_property
    def ranks(self) -> NDArray[np.float32]:
        """The rank of every node."""
        return self._array("ranks", np.float32, self.figures.nodes)

    @cached_property
    def degrees(self) -> NDArray[np.uint32]:
        """The number of counted links out of every node."""
        return self._array("degrees", np.uint32, self.figures.nodes)

    @cached_property
    def crawled(self) -> NDArray[np.bool_]:
        """Whether each node was fetched; the others are only known from links."""
        return self._array("crawled", np.bool_, self.figures.nodes)

    @cached_property
    def indptr(self) -> NDArray[np.uint64]:
        """The offset of the sources of every node in `all_sources`."""
        return self._array("indptr", np.uint64, self.figures.nodes + 1)

    @cached_property
    def all_sources(self) -> NDArray[np.uint32]:
        """The sources of all nodes, concatenated."""
        return self._array("sources", np.uint32, self.figures.edges)

    @cached_property
    def _ids(self) -> Ids:
        return self._array("ids", "S16", None)

    @cached_property
    def _numbers(self) -> NDArray[np.uint32]:
        return self._array("numbers", np.uint32, len(self._ids))

    @cached_property
    def _urls(self) -> Any:
        return pa.ipc.open_file(pa.memory_map(str(self.folder / "nodes.arrow")))

    @cached_property
    def _host_numbers(self) -> dict[str, int]:
        return {host: number for number, host in enumerate(self.hosts["host"].to_pylist())}

    def _array(self, name: str, kind: DTypeLike, length: int | None) -> NDArray[Any]:
        return map_array(self.folder / f"{name}.npy", kind, length)
