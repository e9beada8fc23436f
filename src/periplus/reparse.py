"""How are archived pages read again, closely and with today's parser?

A crawl skims: of an HTML page it reads what it needs to go on. Main text, language, quality and the rest are read from
the archive afterwards, when an index is to be built. Each segment is replaced by one with the same rows in the same
order, in one transaction; whatever interrupts this, the next run goes on with the segments that are left.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from pyarrow import ArrowException, RecordBatch

from periplus.config import Settings
from periplus.crawl.assembly import canonicalizer_of
from periplus.crawl.reading import PageReader
from periplus.errors import DamagedFile
from periplus.model import ArchivePosition, Decision, Fetch, Reason, Verdict
from periplus.parse.page import PageParser
from periplus.store.archive import read_response
from periplus.store.catalog import Catalog
from periplus.store.collection import Collection, open_collection
from periplus.store.durable import reporting_full_disk
from periplus.store.schema import is_skimmed, read_pages
from periplus.store.segments import UNFINISHED_AGAIN, SealedSegment, SegmentWriter, place_of, segment_name

_COLUMNS = ["url", "fetched_at", "status", "mime", "content_id", "last_modified", "archive", "offset", "length"]
_ROWS_AT_ONCE = 256
_WORTH_A_PROCESS = 500  # pages: starting one takes as long as reading so many

Tell = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Reparsed:
    """What `reparse --json` prints."""

    segments: int
    pages: int
    seconds: float


def reparse(
    collection: Collection, settings: Settings, *, everything: bool, tell: Tell = lambda _done, _total: None
) -> Reparsed:
    """Read again the pages that were only skimmed, or *everything*; *tell* hears how many pages are done."""
    started = time.monotonic()
    with collection.locked("reparse"), closing(Catalog(collection.catalog)) as catalog:
        _sweep(collection, catalog)
        todo = [s for s in catalog.segments("pages") if everything or is_skimmed(collection.segments / s.name)]
        total, done = sum(segment.rows for segment in todo), 0
        with _readers(total, len(todo)) as pool:
            for old, new in _read_all(pool, collection, settings, todo):
                _replace(catalog, old, new)
                done += old.rows
                tell(done, total)
    return Reparsed(len(todo), done, round(time.monotonic() - started, 3))


def _replace(catalog: Catalog, pages: SealedSegment, new: list[SealedSegment]) -> None:
    stale = {"pages": pages.name, "links": pages.name.replace("pages", "links", 1)}
    catalog.replace_segments([(stale[segment.kind], segment) for segment in new])


def _sweep(collection: Collection, catalog: Catalog) -> None:
    """Remove what earlier runs left: half-written files, and those replaced, which somebody may have been reading."""
    for leftover in collection.segments.glob(f"*{UNFINISHED_AGAIN}"):
        leftover.unlink()
    for segment in catalog.segments():
        worker, number, revision = place_of(segment.name)
        for older in range(revision):
            (collection.segments / segment_name(segment.kind, worker, number, older)).unlink(missing_ok=True)


def _read_all(
    pool: Executor | None, collection: Collection, settings: Settings, todo: Sequence[SealedSegment]
) -> Iterator[tuple[SealedSegment, list[SealedSegment]]]:
    if pool is None:
        yield from ((segment, _read_again(collection.home, settings, segment.name)) for segment in todo)
        return
    jobs: dict[Future[list[SealedSegment]], SealedSegment] = {
        pool.submit(_read_again, collection.home, settings, segment.name): segment for segment in todo
    }
    for job in as_completed(jobs):
        yield jobs[job], job.result()


@contextmanager
def _readers(pages: int, segments: int) -> Iterator[Executor | None]:
    """As many processes as are worth their start; None: read in this one."""
    processes = min(os.cpu_count() or 1, segments, pages // _WORTH_A_PROCESS)
    if processes < 2:
        yield None
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _read_again(home: Path, settings: Settings, name: str) -> list[SealedSegment]:
    """Write the successor of one segment of pages and of the links beside it."""
    collection = open_collection(home)
    worker, number, revision = place_of(name)
    parser = PageParser(
        canonicalizer_of(settings), links_per_page=settings.scope.links_per_page, settings=settings.parse
    )
    reader = PageReader(parser)
    writer = SegmentWriter(collection.segments, worker, number, revision + 1)
    try:
        with closing(parser), reporting_full_disk(home):
            for fetch in _fetches(collection.segments / name):
                assert fetch.position is not None
                page = parser.parse(read_response(collection.archive, fetch.position))
                writer.add(reader.row(fetch, page))
            return writer.seal()
    except BaseException:
        writer.discard()
        raise


def _fetches(path: Path) -> Iterator[Fetch]:
    for batch in _batches(path):
        for row in batch.to_pylist():
            yield Fetch(
                url=row["url"],
                at=row["fetched_at"],
                status=row["status"],
                decision=Decision(Verdict.FETCHED, Reason.OK),
                mime=row["mime"],
                content_id=row["content_id"],
                position=ArchivePosition(row["archive"], row["offset"], row["length"]),
                last_modified=row["last_modified"],
            )


def _batches(path: Path) -> Iterator[RecordBatch]:
    try:
        yield from read_pages(path, _COLUMNS, _ROWS_AT_ONCE)
    except (ArrowException, OSError) as error:
        raise DamagedFile(f"{path} is damaged", str(error), "`periplus verify` tells what else is.") from error
