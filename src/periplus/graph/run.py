"""Runs `periplus rank`: builds the link graph, computes the ranks and publishes them as a new generation."""

from __future__ import annotations

import hashlib
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from periplus.config import LinkAnalysis
from periplus.errors import DamagedFile, NewerFormat
from periplus.graph.anchors import AnchorCaps, write_anchors
from periplus.graph.build import Graph, Progress, Rules, Segments, build, ids_in, write_addresses
from periplus.graph.engine import Engine, LocalEngine
from periplus.graph.hosts import host_links, write_hosts
from periplus.graph.pagerank import PowerIteration, Problem, Ranking, weighted_ranks
from periplus.graph.rank_writer import RankWriter, writing_ranks
from periplus.graph.sql_tables import Tables
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.checksums import StoredFile, segment_file
from periplus.store.collection import Collection
from periplus.store.fleet_files.shared_generations import sharing_ranks
from periplus.store.manifest import SealedSegment
from periplus.store.ranks import Figures, RankTable, open_ranks
from periplus.url import parse


@dataclass(frozen=True, slots=True)
class RankSummary:
    """The result of a ranking, as `rank --json` prints it."""

    generation: int
    nodes: int
    edges: int
    hosts: int
    pages: int
    iterations: int
    delta: float
    trusted: int  # known hosts among `graph.trusted_hosts`
    seconds: float
    steps: dict[str, float]  # seconds by step

    def report(self) -> dict[str, Any]:
        """The object that `rank --json` prints."""
        return asdict(self)


def rank(
    collection: Collection,
    settings: LinkAnalysis,
    *,
    warm: bool = False,
    progress: Progress = lambda _: None,
    engine: Engine | None = None,
) -> RankSummary:
    """Rank every known page and host, and publish the result as a new generation.

    The *engine* runs the steps; None: this machine.
    """
    engine = engine or LocalEngine(collection, settings)
    catalog = open_catalog(collection)
    try:
        with (
            sharing_ranks(collection, settings.generations),
            collection.reading_segments(),
            writing_ranks(collection.ranks) as draft,
        ):
            return _Run(collection, catalog, settings, draft, progress, engine).run(warm=warm)
    finally:
        catalog.close()


class _Run:
    """One ranking, step by step."""

    def __init__(
        self,
        collection: Collection,
        catalog: Catalog,
        settings: LinkAnalysis,
        draft: RankWriter,
        progress: Progress,
        engine: Engine,
    ) -> None:
        self._collection, self._catalog, self._settings, self._draft = collection, catalog, settings, draft
        self._progress, self._engine = progress, engine
        self._live = catalog.segments()  # read once: a crawl may be adding segments
        self._begun = self._since = time.monotonic()
        self._steps: dict[str, float] = {}

    def run(self, *, warm: bool) -> RankSummary:
        graph, hosts, start = self._build(warm=warm)
        pages = self._rank_pages(graph, start)
        figures = self._figures(graph, pages, hosts)
        self._progress("writing ranks")
        generation = self._draft.publish(figures, self._settings.generations)
        self._done("publish")
        return RankSummary(
            generation,
            figures.nodes,
            figures.edges,
            figures.hosts,
            int(graph.crawled.sum()),
            figures.iterations,
            figures.delta,
            int(self._trusted(graph.hosts).sum()),
            round(time.monotonic() - self._begun, 3),
            self._steps,
        )

    def _build(self, *, warm: bool) -> tuple[Graph, Ranking, NDArray[np.float32] | None]:
        """Build the graph, the ranks of its hosts, and the start ranks of its pages."""
        settings, draft = self._settings, self._draft
        tables = self._engine.tables(draft.scratch)
        try:
            self._progress("checking segments")
            self._engine.check(self._live)
            self._done("check")
            rules = Rules(settings.nofollow, settings.links_per_host)
            graph = build(tables, self._segments(), rules, draft, self._progress)
            write_addresses(tables, graph, draft)
            self._done("graph")
            hosts = self._rank_hosts(graph)
            self._progress("collecting anchor texts")
            write_anchors(tables, graph, AnchorCaps(settings.anchors_per_page, settings.anchor_chars), draft)
            self._done("anchors")
            return graph, hosts, self._last_ranks(tables, graph) if warm else None
        finally:
            tables.close()

    def _last_ranks(self, tables: Tables, graph: Graph) -> NDArray[np.float32] | None:
        """The ranks of the nodes in the last generation, or None when there is none that can be read."""
        try:
            before = open_ranks(self._collection.ranks)
            if before is None:
                return None
            before.require_intact()
            return _known_ranks(tables, graph, before)
        except (DamagedFile, NewerFormat) as error:
            self._progress(f"ignoring the last ranks: {error.what}")
            return None

    def _segments(self) -> Segments:
        return Segments(self._files("pages"), self._files("links"), self._catalog.redirects())

    def _files(self, kind: str) -> list[StoredFile]:
        folder = self._collection.segments
        return [segment_file(folder, segment) for segment in self._live if segment.kind == kind]

    def _rank_pages(self, graph: Graph, start: NDArray[np.float32] | None) -> Ranking:
        settings = self._settings
        trusted = self._trusted(graph.hosts)
        teleport = _teleport(trusted[graph.host], settings.trusted_share) if trusted.any() else None
        problem = Problem(graph.links, self._power_iteration(), teleport, start)
        ranking = self._engine.page_ranks(problem, self._draft.scratch, self._show_iteration)
        self._draft.save("ranks", ranking.ranks)
        self._done("pages")
        return ranking

    def _rank_hosts(self, graph: Graph) -> Ranking:
        self._progress("ranking hosts")
        trusted = self._trusted(graph.hosts)
        votes = host_links(graph, self._settings.inside_domain)
        ranking = weighted_ranks(votes, self._power_iteration(), _teleport(trusted, self._settings.trusted_share))
        write_hosts(graph, ranking.ranks, self._draft)
        self._done("hosts")
        return ranking

    def _power_iteration(self) -> PowerIteration:
        settings = self._settings
        return PowerIteration(settings.damping, settings.tolerance, settings.iterations, settings.threads)

    def _trusted(self, hosts: list[str]) -> NDArray[np.bool_]:
        names = {parse(f"https://{name}/").host for name in self._settings.trusted_hosts}
        return np.array([host in names for host in hosts], np.bool_)

    def _show_iteration(self, number: int, delta: float) -> None:
        self._progress(f"PageRank {number}/{self._settings.iterations}, error {delta:.2g}")

    def _figures(self, graph: Graph, pages: Ranking, hosts: Ranking) -> Figures:
        return Figures(
            nodes=graph.links.nodes,
            edges=len(graph.links.sources),
            hosts=len(graph.hosts),
            iterations=pages.iterations,
            delta=pages.delta,
            damping=self._settings.damping,
            floor=pages.floor,
            host_floor=hosts.floor,
            inputs=_digest(self._live),
        )

    def _done(self, step: str) -> None:
        now = time.monotonic()
        self._steps[step], self._since = round(now - self._since, 3), now


def _teleport(trusted: NDArray[np.bool_], share: float) -> NDArray[np.float64]:
    """The distribution of random jumps: uniform, with *share* of them going to the trusted nodes."""
    chosen = int(trusted.sum())
    everywhere = np.full(len(trusted), 1 / max(len(trusted), 1))
    return everywhere if not chosen else (1 - share) * everywhere + share * trusted / chosen


def _known_ranks(tables: Tables, graph: Graph, before: RankTable) -> NDArray[np.float32]:
    """The ranks of the nodes of a graph in an earlier generation."""
    start = np.empty(graph.links.nodes, np.float32)
    for batch in tables.stream("node_ids"):
        nodes = batch.column(0).to_numpy()
        used = graph.used[nodes]
        start[graph.numbers[nodes[used]]] = before.of(ids_in(batch.column(1))[used])
    return start


def _digest(segments: list[SealedSegment]) -> str:
    return hashlib.sha256(b"".join(segment.digest for segment in segments)).hexdigest()
