"""How are sealed segments turned into a new generation of the index?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from tantivy import Index

from periplus.config import Indexing
from periplus.errors import DamagedFile, NoIndex
from periplus.index.generations import Generations, number_of
from periplus.index.pagestore import PageStore
from periplus.index.writer import IndexWriter
from periplus.store.catalog import Catalog
from periplus.store.collection import Collection
from periplus.store.ranks import open_ranks
from periplus.store.statements import read_statements

_ROWS_AT_ONCE = 512
_NO_ANCHORS = pa.table({"target_id": pa.array([], pa.binary(16)), "anchors": pa.array([], pa.list_(pa.string()))})


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """What `index --json` prints."""

    documents: int
    duplicates: int
    generation: int
    seconds: float
    bytes: int


def build_index(
    collection: Collection, settings: Indexing, progress: Callable[[int, int], None] = lambda _done, _total: None
) -> IndexSummary:
    """Build, verify and publish a generation from the live segments; the last one serves until then."""
    started = time.monotonic()
    generations = Generations(collection.index)
    building = generations.begin()
    with _Documents(collection, settings, building) as documents:
        writer = IndexWriter(building, settings.prior_strength)
        for done, row in enumerate(documents.rows(), 1):
            writer.add(row)
            if done % _ROWS_AT_ONCE == 0:
                progress(done, documents.total)
        written = writer.close()
        facts = {
            "documents": written,
            "duplicates": documents.duplicates,
            "ranks": documents.rank_generation,
            "prior_strength": settings.prior_strength,
        }
    _require_sound(building, written)
    generation = generations.publish(building, facts)
    size = sum(path.stat().st_size for path in generation.rglob("*") if path.is_file())
    seconds = round(time.monotonic() - started, 3)
    return IndexSummary(written, documents.duplicates, number_of(generation), seconds, size)


class _Documents:
    """The documents of the new generation, joined from pages, ranks and anchors."""

    def __init__(self, collection: Collection, settings: Indexing, folder: Path) -> None:
        self._sql = read_statements("periplus.index", "build.sql")
        catalog = Catalog(collection.catalog)
        try:
            segments = [str(collection.segments / segment.name) for segment in catalog.segments("pages")]
        finally:
            catalog.close()
        if not segments:
            raise NoIndex("there is nothing to index", "no page has been crawled", "`periplus crawl URL` fetches some.")
        self._ranks = open_ranks(collection.ranks)
        self._database = duckdb.connect(
            config={
                "memory_limit": f"{settings.memory_mb}MB",
                "threads": settings.threads,
                "temp_directory": str(folder / "spill"),
            }
        )
        self._prepare(segments)

    def __enter__(self) -> _Documents:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    @property
    def rank_generation(self) -> int:
        """The generation of ranks that was used; 0 when there is none."""
        return self._ranks.number if self._ranks is not None else 0

    def rows(self) -> Iterator[dict[str, Any]]:
        """Every document, in the order of its number."""
        reader = self._database.sql(self._sql["rows"]).to_arrow_reader(_ROWS_AT_ONCE)
        for batch in reader:
            yield from batch.to_pylist()

    def _prepare(self, segments: list[str]) -> None:
        self._database.read_parquet(segments).create_view("pages")
        for name in ("versions", "candidates"):
            self._database.execute(self._sql[name])
        self._database.register("ranks", self._ranks_of_candidates())
        self._prepare_anchors()
        for name in ("documents", "copies"):
            self._database.execute(self._sql[name])
        self.total = self._count("documents")
        self.duplicates = self._count("candidates") - self.total

    def _count(self, table: str) -> int:
        ((count,),) = self._database.execute(f"SELECT count(*) FROM {table}").fetchall()
        return int(count)

    def _ranks_of_candidates(self) -> pa.Table:
        """PageRank over its floor, so that an unremarkable page has 1; without ranks every page is one."""
        ids = self._database.sql("SELECT url_id FROM candidates").to_arrow_table()["url_id"].combine_chunks()
        if self._ranks is None:
            relative = np.ones(len(ids))
        else:
            keys = np.frombuffer(ids.buffers()[1], "S16", len(ids), ids.offset * 16)
            relative = np.maximum(self._ranks.of(keys) / self._ranks.figures.floor, 1.0)
        return pa.table({"url_id": ids, "rank": pa.array(relative, pa.float64())})

    def _prepare_anchors(self) -> None:
        if self._ranks is None:
            self._database.register("anchor_lists", _NO_ANCHORS)
        else:
            self._database.read_parquet(str(self._ranks.anchors_file)).create_view("anchor_lists")
        self._database.execute(self._sql["anchors"])


def _require_sound(building: Path, written: int) -> None:
    """A generation that does not read back whole is never published."""
    index = Index.open(str(building / "tantivy"))
    with PageStore(building) as pages:
        found = (index.searcher().num_docs, len(pages))
    if found != (written, written):
        raise DamagedFile(f"{building} is damaged", f"{written} documents were written, {found} read back")
