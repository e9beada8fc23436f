"""How do ranks, links and anchor texts get from the link analysis to everybody who asks for them?

A generation is a folder, `ranks/gen-N`, written once and never changed; `ranks/CURRENT` names the live one. Arrays are
memory-mapped, so a look-up costs a few page faults whatever the size of the graph. Pages are *nodes*, numbered by
(reversed host, address); the identity of a URL that was folded into another leads to that one's node.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from periplus import __version__
from periplus.errors import DamagedFile, NewerFormat
from periplus.store.segments import file_digest

FORMAT = 1
URLS_AT_ONCE = 1 << 16  # rows of a batch of nodes.arrow: node n is row n % this of batch n // this
CURRENT = "CURRENT"
META = "meta.json"
_NAME = re.compile(r"gen-[0-9]+")
_REMEDY = "`periplus rank` makes new ranks."

Ids = NDArray[np.bytes_]  # dtype S16


@dataclass(frozen=True, slots=True)
class Figures:
    """What a generation says about itself; no clock in it, so that equal input gives equal bytes."""

    nodes: int
    edges: int
    hosts: int
    iterations: int
    delta: float  # L1 change of the last iteration
    damping: float
    floor: float  # the rank of a page that nothing links to
    host_floor: float
    inputs: str  # digest of the segments it was made from


@dataclass(frozen=True, slots=True)
class Anchors:
    """What others call a page."""

    texts: tuple[str, ...]  # strongest first
    weights: tuple[float, ...]
    in_links: int


def open_ranks(folder: Path) -> RankTable | None:
    """The live generation in *folder*, or None before the first."""
    try:
        name = (folder / CURRENT).read_text(encoding="ascii", errors="replace").strip()
    except FileNotFoundError:
        return None
    if not _NAME.fullmatch(name):
        raise DamagedFile(f"{folder / CURRENT} is damaged", "it does not name a generation", _REMEDY)
    return RankTable(folder / name)


class RankTable:
    """One generation, for reading."""

    def __init__(self, folder: Path) -> None:
        """Check that every file is there with its size; `damage` looks at every byte."""
        self.folder = folder
        stated = _stated(folder)
        self.figures = Figures(**stated["figures"])
        for problem in _wrong_sizes(folder, stated["files"]):
            raise DamagedFile(f"{folder} is damaged", problem, _REMEDY)

    @property
    def number(self) -> int:
        """Which generation this is."""
        return int(self.folder.name.removeprefix("gen-"))

    def of(self, ids: Ids) -> NDArray[np.float32]:
        """The rank of each URL identity; one that is not known has the rank of a page that nothing links to."""
        nodes = self.nodes_of(ids)
        if not self.figures.nodes:
            return np.full(len(ids), self.figures.floor, np.float32)
        return np.where(nodes >= 0, self.ranks[nodes], np.float32(self.figures.floor))

    def of_hosts(self, hosts: Sequence[str]) -> NDArray[np.float32]:
        """The rank of each host; one that is not known has the rank of a host that nothing links to."""
        known, ranks = self._host_numbers, self.hosts["rank"].to_numpy()
        floor = self.figures.host_floor
        return np.array([ranks[known[host]] if host in known else floor for host in hosts], np.float32)

    def nodes_of(self, ids: Ids) -> NDArray[np.int64]:
        """The node of each URL identity, -1 where there is none."""
        if not len(self._ids):
            return np.full(len(ids), -1)
        places = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return np.where(self._ids[places] == ids, self._numbers[places].astype(np.int64), -1)

    def node_of(self, url_id: bytes) -> int | None:
        """The node of one URL identity."""
        node = int(self.nodes_of(np.frombuffer(url_id, "S16"))[0])
        return node if node >= 0 else None

    def url(self, node: int) -> str:
        """The address of a node."""
        batch = self._urls.get_batch(node // URLS_AT_ONCE)
        return str(batch.column(0)[node % URLS_AT_ONCE])

    def sources(self, node: int) -> NDArray[np.uint32]:
        """The nodes that link to a node, each once."""
        return self.all_sources[int(self.indptr[node]) : int(self.indptr[node + 1])]

    def anchors(self, url_id: bytes) -> Anchors | None:
        """What others call a page; *url_id* is that of its node."""
        table = parquet.read_table(self.anchors_file, filters=[("target_id", "==", url_id)])
        if not table.num_rows:
            return None
        row = table.to_pylist()[0]
        return Anchors(tuple(row["anchors"]), tuple(row["weights"]), row["in_links"])

    @property
    def anchors_file(self) -> Path:
        """Parquet, ordered by target_id: target_id, anchors and their weights (strongest first), weight, in_links."""
        return self.folder / "anchors.parquet"

    @cached_property
    def hosts(self) -> pa.Table:
        """host, domain, rank, nodes, pages: in the order of the nodes."""
        return parquet.read_table(self.folder / "hosts.parquet")

    @cached_property
    def ranks(self) -> NDArray[np.float32]:
        """The rank of every node."""
        return self._array("ranks")

    @cached_property
    def degrees(self) -> NDArray[np.uint32]:
        """How many links of every node are counted."""
        return self._array("degrees")

    @cached_property
    def crawled(self) -> NDArray[np.bool_]:
        """Whether a node was fetched, or is only known from links."""
        return self._array("crawled")

    @cached_property
    def indptr(self) -> NDArray[np.uint64]:
        """Where the sources of every node begin."""
        return self._array("indptr")

    @cached_property
    def all_sources(self) -> NDArray[np.uint32]:
        """The sources of all nodes, one after the other."""
        return self._array("sources")

    @cached_property
    def _ids(self) -> Ids:
        return self._array("ids")

    @cached_property
    def _numbers(self) -> NDArray[np.uint32]:
        return self._array("numbers")

    @cached_property
    def _urls(self) -> Any:
        return pa.ipc.open_file(pa.memory_map(str(self.folder / "nodes.arrow")))

    @cached_property
    def _host_numbers(self) -> dict[str, int]:
        return {host: number for number, host in enumerate(self.hosts["host"].to_pylist())}

    def _array(self, name: str) -> NDArray[Any]:
        return np.asarray(np.load(self.folder / f"{name}.npy", mmap_mode="r"))


def _stated(folder: Path) -> dict[str, Any]:
    try:
        stated: dict[str, Any] = json.loads((folder / META).read_bytes())
        version = stated["format"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedFile(f"{folder} is damaged", str(error), _REMEDY) from error
    if version > FORMAT:
        why = f"this release ({__version__}) knows formats up to {FORMAT}"
        raise NewerFormat(f"{folder} has format {version}", why, "Use a later release, or run `periplus rank` again.")
    return stated


def _wrong_sizes(folder: Path, files: Mapping[str, Any]) -> Iterator[str]:
    for name, file in files.items():
        path = folder / name
        size = path.stat().st_size if path.exists() else None
        if size != file["bytes"]:
            yield f"{name} is missing" if size is None else f"{name} has {size} bytes instead of {file['bytes']}"


def damage(folder: Path) -> Iterator[tuple[str, str]]:
    """What is wrong with the live generation: file (relative to *folder*) and finding, byte by byte."""
    try:
        table = open_ranks(folder)
    except (DamagedFile, NewerFormat) as error:
        yield CURRENT, f"{error.what}: {error.why}"
        return
    if table is not None:
        for name, file in _stated(table.folder)["files"].items():
            if file_digest(table.folder / name).hex() != file["sha256"]:
                yield f"{table.folder.name}/{name}", "its content is not what was written"
