"""Checks that nothing of what was forgotten is left in a collection, and that it is blocked; `verify --forgotten`.

Reads every record of the archive, and the URLs in all segments and in all generations, live or not; on a fleet those of
the folder and of the object store.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from periplus.errors import PeriplusError
from periplus.forget.archives import damaged_copies
from periplus.forget.caches import forget_judgements
from periplus.forget.objects import archives_and_segments, generations
from periplus.forget.receipt import Receipt, unfinished
from periplus.forget.segments import SegmentEraser
from periplus.index.build import NEAR_COPIES
from periplus.index.storage.pagestore import PageStore
from periplus.index.storage.parts import DOCUMENTS
from periplus.inspector.verify import Findings, Problem, catalog_name
from periplus.store.archive.archive_scan import Intact, scan
from periplus.store.archive.warc_files import SUFFIX
from periplus.store.block_list import BlockList
from periplus.store.catalog.forget_catalog import ForgetCatalog
from periplus.store.catalog.open_catalog import block_list_of, open_catalog
from periplus.store.cleanup import KEPT
from periplus.store.collection import Collection
from periplus.store.fleet_files.uploads import ARCHIVE, SEGMENTS
from periplus.store.generations import INDEX_KIND, RANK_KIND, Generations

_ID_BYTES = 16


def check(collection: Collection, receipt: Receipt | None = None) -> Findings:
    """Look for what one receipt is about, or for everything on the block list; no crawl may be running."""
    blocked = block_list_of(collection)
    findings = Findings()
    if receipt is not None:
        if receipt.key != blocked.key.hex() or receipt.entry not in blocked.entries:
            findings.problems.append(Problem("forgotten", "it is not blocked any more, and may come back"))
        blocked = receipt.blocked
    findings.problems += [
        Problem(f"forgotten/{path.name}", "the command was interrupted") for path in unfinished(collection)
    ]
    _Check(collection, blocked, findings).run()
    return findings


class _Check:
    """One check, file by file."""

    def __init__(self, collection: Collection, blocked: BlockList, findings: Findings) -> None:
        self._collection, self._blocked, self._findings = collection, blocked, findings

    def run(self) -> None:
        with closing(open_catalog(self._collection, partial(ForgetCatalog, blocked=self._blocked))) as catalog:
            where = catalog_name(self._collection, catalog)
            for column, number in catalog.mentions().items():
                self._found(where, f"{column} names it {number} times")
            kept = {(position.name, position.offset) for position in catalog.kept_positions()}
        for path in sorted(self._collection.archive.glob(f"*{SUFFIX}")):
            self._check("archive_files", path, lambda path: self._records(path, kept))
        for path in sorted((self._collection.home / KEPT).glob(f"*{SUFFIX}")):
            self._check("archive_files", path, lambda path: self._records(path, set()))
        for path in damaged_copies(self._collection):
            self._found(f"{KEPT}/{path.name}", "a copy of damaged bytes, which cannot be searched")
        for path in sorted(self._collection.segments.glob("*.parquet")):
            self._check("segments", path, self._segment)
        for path in Generations(self._collection.ranks, RANK_KIND).complete():
            self._check("generations", path, self._rank_generation)
        for path in Generations(self._collection.index, INDEX_KIND).complete():
            self._check("generations", path, self._index_generation)
        self._objects(kept)
        self._check("caches", self._collection.result_cache, self._database_text)
        self._check("caches", self._collection.query_log, self._database_text)
        self._check("standing_queries", self._collection.standing_queries, self._database_text)
        for path in sorted(self._collection.home.glob(f"{self._collection.log.name}*")):
            self._check("logs", path, self._text)
        if number := forget_judgements(self._collection, self._blocked, dry_run=True):
            self._found("judgements/qrels.txt", f"{number} judgements name it")

    def _objects(self, kept: set[tuple[str, int]]) -> None:
        """Check the objects of a fleet; each one is downloaded for its check."""
        for where, path in archives_and_segments(self._collection, ARCHIVE):
            self._check("archive_files", path, lambda path: self._records(path, kept), where)
        for where, path in archives_and_segments(self._collection, SEGMENTS):
            self._check("segments", path, self._segment, where)
        for where, path in generations(self._collection, "ranks"):
            self._check("generations", path, self._rank_generation, where)
        for where, path in generations(self._collection, "index"):
            self._check("generations", path, self._index_generation, where)

    def _found(self, where: str, what: str) -> None:
        self._findings.problems.append(Problem(where, what))

    def _check(self, kind: str, path: Path, places: Callable[[Path], Iterator[str]], where: str = "") -> None:
        """Report the places in a file or folder that name something forgotten, each once."""
        if not path.exists():
            return
        where = where or str(path.relative_to(self._collection.home))
        try:
            for place in dict.fromkeys(places(path)):
                self._found(where, f"{place} names it")
        except (OSError, ValueError, pa.ArrowException, PeriplusError) as error:
            self._found(where, f"cannot be read: {error}")
        self._findings.checked[kind] += 1

    # -- files ------------------------------------------------------------------------------------------------------

    def _records(self, path: Path, kept: set[tuple[str, int]]) -> Iterator[str]:
        requests: list[Intact] = []  # of records that are kept, too
        for part in scan(path):
            if isinstance(part, Intact) and part.target and self._blocked.blocks(part.target):
                if part.is_request:
                    requests.append(part)
                elif (path.name, part.start) not in kept:
                    yield f"the record at {part.start}"
                else:
                    requests = [one for one in requests if one.end != part.start]
        yield from (f"the request at {part.start}" for part in requests)

    def _segment(self, path: Path) -> Iterator[str]:
        for kind, number in SegmentEraser(self._blocked).count(path.parent, path.name).items():
            yield f"{number} {kind}"

    def _rank_generation(self, path: Path) -> Iterator[str]:
        with pa.memory_map(str(path / "nodes.arrow")) as file, pa.ipc.open_file(file) as nodes:
            for number in range(nodes.num_record_batches):
                yield from self._urls("nodes.arrow", nodes.get_batch(number).column(0).to_pylist())
        for identity in np.load(path / "ids.npy", mmap_mode="r").astype(f"S{_ID_BYTES}"):
            if self._blocked.blocks_id(bytes(identity).ljust(_ID_BYTES, b"\0")):
                yield "ids.npy"
        hosts = parquet.read_table(path / "hosts.parquet", columns=["host"])["host"].to_pylist()
        if any(map(self._blocked.blocks_host, hosts)):
            yield "hosts.parquet"

    def _index_generation(self, path: Path) -> Iterator[str]:
        ids = parquet.read_table(path / DOCUMENTS, columns=["url_id"])["url_id"].to_pylist()
        if any(map(self._blocked.blocks_id, ids)):
            yield DOCUMENTS
        if (path / NEAR_COPIES).exists():
            near = parquet.read_table(path / NEAR_COPIES)
            yield from self._urls(NEAR_COPIES, [*near["url"].to_pylist(), *near["original"].to_pylist()])
        with PageStore(path) as pages:
            for number in range(len(pages)):
                yield from self._urls("the page store", _urls_of(pages, number))

    def _urls(self, place: str, urls: Iterable[str]) -> Iterator[str]:
        if any(map(self._blocked.blocks, urls)):
            yield place

    def _text(self, path: Path) -> Iterator[str]:
        """The lines of a text file that name something forgotten."""
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if self._names(line):
                yield f"line {number}"

    def _database_text(self, path: Path) -> Iterator[str]:
        """The columns of a database that name something forgotten."""
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for row in database.execute(f"SELECT * FROM {table}"):
                    if any(self._names(value) for value in row):
                        yield f"the table {table}"

    def _names(self, value: Any) -> bool:
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
        return self._blocked.scrubbed(text) != text


def _urls_of(pages: PageStore, number: int) -> list[str]:
    """The URLs that the page store has for one document."""
    head, details = pages.head(number), pages.details(number)
    images, videos = (image.url for image in details.images), (video.url for video in details.videos)
    return [head.url, *head.same_content, *details.links, *images, *videos]
