"""Where the steps of a ranking run: the interface, and the version for this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from periplus.config import LinkAnalysis
from periplus.graph.duckdb_tables import DuckDbTables
from periplus.graph.pagerank import Problem, Ranking, Residuals, page_ranks
from periplus.graph.sql_tables import Tables
from periplus.store.checksums import require_intact, segment_file
from periplus.store.collection import Collection
from periplus.store.fleet_files.job_files import bring_segments
from periplus.store.manifest import SealedSegment


class Engine(Protocol):
    """Runs the steps of a ranking that take time; `graph.run` has their order, and publishes the result."""

    def check(self, segments: list[SealedSegment]) -> None:
        """Raise `DamagedFile` for a segment that is damaged."""
        ...

    def tables(self, scratch: Path) -> Tables:
        """An empty database for the relational steps; *scratch* is a folder for temporary files."""
        ...

    def page_ranks(self, problem: Problem, scratch: Path, on_iteration: Residuals) -> Ranking:
        """The rank of every node."""
        ...


class LocalEngine:
    """DuckDB and threads of this process."""

    def __init__(self, collection: Collection, settings: LinkAnalysis) -> None:
        self._collection, self._settings = collection, settings

    def check(self, segments: list[SealedSegment]) -> None:
        """Download the segments that are not in the folder, and check all."""
        bring_segments(self._collection, segments)
        require_intact(segment_file(self._collection.segments, segment) for segment in segments)

    def tables(self, scratch: Path) -> Tables:
        """Open a database of DuckDB."""
        return DuckDbTables(scratch, self._settings.memory_mb << 20, self._settings.threads)

    def page_ranks(
        self,
        problem: Problem,
        scratch: Path,  # noqa: ARG002  # the links are mapped from files of the draft
        on_iteration: Residuals,
    ) -> Ranking:
        """Compute the ranks with threads."""
        return page_ranks(problem.links, problem.method, problem.teleport, problem.start, on_iteration)
