"""Runs the steps of a ranking on Spark: the relational ones as SQL, PageRank in blocks of the link matrix.

The driver builds the graph and holds the arrays that it publishes: 9 bytes per link and 52 per known URL at the peak.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from periplus.graph.block_ranks import BlockFile, BlockIteration, write_blocks
from periplus.graph.pagerank import Problem, Ranking, Residuals, iterate, page_ranks
from periplus.graph.sql_tables import Tables, statements
from periplus.spark.parts import CachedParts
from periplus.spark.session import SparkSession
from periplus.spark.sql_tables import SparkTables
from periplus.spark.tasks import SparkRunner
from periplus.store.checksums import segment_file
from periplus.store.collection import Collection
from periplus.store.fleet_files.task_files import SegmentFiles, scratch_files
from periplus.store.manifest import SealedSegment

FEW_LINKS = 50_000_000  # up to here an iteration in the driver takes less time than the tasks of one on a cluster


class SparkEngine:
    """A Spark session."""

    def __init__(self, collection: Collection, session: SparkSession) -> None:
        self._collection, self._session = collection, session
        self._files = SegmentFiles(collection.storage)

    def check(self, segments: list[SealedSegment]) -> None:
        """Check the segments in the shared folder; those in the object store are checked when they are read."""
        files = [segment_file(self._collection.segments, segment) for segment in segments]
        SparkRunner(self._session).run(self._files.check, files)

    def tables(self, scratch: Path) -> Tables:  # noqa: ARG002  # the executors have folders of their own
        """Create tables that the executors cache."""
        return SparkTables(self._session, statements(), self._files)

    def page_ranks(self, problem: Problem, scratch: Path, on_iteration: Residuals) -> Ranking:
        """Compute the ranks with a block of links per task; those of a small graph in the driver."""
        links, method = problem.links, problem.method
        if len(links.sources) <= FEW_LINKS or not links.nodes:
            return page_ranks(links, method, problem.teleport, problem.start, on_iteration)
        tasks = self._session.sparkContext.defaultParallelism
        with scratch_files(self._collection, scratch) as files:
            names = write_blocks(problem, files, tasks)
            with closing(CachedParts(self._session, BlockFile.load, names)) as blocks:
                return iterate(BlockIteration(blocks, problem), method, on_iteration)
