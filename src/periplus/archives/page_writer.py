"""Writes imported pages to the archive, the catalog and the segments.

An imported page is stored like a fetched one: written to the archive and fsynced, acknowledged in a catalog
transaction, then added to a segment. A new or queued URL becomes done; a URL fetched before gets one more version.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from periplus.archives.warc_reader import DATE_SOURCE
from periplus.config import Settings
from periplus.frontier.schedule import Schedule
from periplus.model import Decision, Fetch, QueuedUrl, Reason, Response, UrlState, Verdict
from periplus.parse.page import PageParser
from periplus.parse.reader import PageReader
from periplus.store.archive.import_worker import import_worker
from periplus.store.archive.warc_files import ArchiveWriter
from periplus.store.catalog.batch import Batch, Settled, Written
from periplus.store.catalog.open_catalog import open_catalog, require_sound
from periplus.store.catalog.run_summary import RunCounters
from periplus.store.cleanup import remove_unacknowledged
from periplus.store.collection import Collection
from periplus.store.durable import reporting_full_disk
from periplus.store.fleet_files.upload_rows import uploading
from periplus.store.manifest import PageRow
from periplus.store.segments.recovery import recover
from periplus.store.segments.segment_writer import SegmentStream
from periplus.url import Canonicalizer, host_of

_PAGES_AT_ONCE = 256
_BYTES_AT_ONCE = 32 << 20
_MARKS_AT_ONCE = 10_000  # URLs


class PageWriter:
    """Writes imported pages in batches."""

    def __init__(
        self, collection: Collection, settings: Settings, names: list[str], require_held: Callable[[], None]
    ) -> None:
        """*names*: of the imported files. *require_held* raises an error when the lock of the collection was lost."""
        self._collection, self._settings = collection, settings
        parser = PageParser(
            Canonicalizer.of(settings.addresses), links_per_page=settings.scope.links_per_page, settings=settings.parse
        )
        self._reader, self._schedule = PageReader(parser), Schedule(settings.recrawl)
        require_sound(collection)
        self._catalog = open_catalog(collection, create=True)
        self._catalog.guard(require_held)
        self.blocked = self._catalog.block_list()
        remove_unacknowledged(collection, self._catalog)
        worker = self._worker = import_worker(collection)
        recover(collection, self._catalog, settings.store, self._reader, worker)
        self._counters = RunCounters(self._catalog.begin_run({"import": names}), time.time())
        uploads = collection.uploads_files
        self._file_bytes = min(settings.store.archive_bytes, settings.fleet.upload_bytes if uploads else math.inf)
        stream = SegmentStream(self._catalog, collection.segments, settings.store, worker, is_stored=not uploads)
        self._segments, begin = stream, ArchiveWriter.begin if uploads else ArchiveWriter.resume
        self._writer = begin(collection.archive, worker, self._catalog.archives(worker))
        self._uploader = uploading(collection, worker, lambda: self._writer.name) if uploads else None
        self._begin_batch()

    def has(self, url: str, at: float) -> bool:
        """Whether the collection has the version of this URL that was fetched at this time."""
        times = self._known_versions.get(url)
        if times is None:
            times = self._known_versions[url] = {fetch.at for fetch in self._catalog.fetches_of(url)}
        return at in times

    def show_out_of_scope(self, url: str) -> None:
        """Keep a URL in the index although it is out of scope."""
        self._batch.imported.append(url)
        if len(self._batch.imported) >= _MARKS_AT_ONCE:
            self._commit()

    def add_page(self, response: Response, file: Path, reason: Reason) -> None:
        """Write a page, admitted for *reason*."""
        page = self._reader.parse(response)
        self._counters.count_reading(page)
        decision = Decision(Verdict.FETCHED, page.problem or Reason.OK, _detail(page.problem_detail, response))
        fetch = self._archived(response, decision)
        self._rows.append(PageRow(fetch, page))
        self._add(fetch, file, reason)

    def add_redirect(self, response: Response, target: str, file: Path, reason: Reason) -> None:
        """Write a redirect."""
        fetch = self._archived(response, Decision(Verdict.MERGED, Reason.REDIRECTED, _detail(target, response)))
        self._add(fetch._replace(redirect_to=target, content_id=b""), file, reason)

    def finish(self) -> None:
        """Commit the last batch, seal the segments and end the run."""
        self._commit()
        with reporting_full_disk(self._collection.home):
            self._segments.seal()
        self._catalog.end_run(self._counters.run_id, "done", self._summary())
        if self._uploader is not None:
            self._uploader.finish()
            self._uploader = None

    def close(self) -> None:
        """Close all files; pages that are not committed are imported again by the next import."""
        if self._uploader is not None:
            self._uploader.close()
        self._writer.close()
        self._segments.discard()
        self._reader.close()
        self._catalog.close()

    def _archived(self, response: Response, decision: Decision) -> Fetch:
        archived = self._writer.append(response)
        return Fetch.of(response, decision, archived.position, archived.content_id)

    def _add(self, fetch: Fetch, file: Path, reason: Reason) -> None:
        self._counters.count(fetch)
        self._known_versions[fetch.url].add(fetch.at)
        self._batch_bytes += fetch.size
        item = QueuedUrl(fetch.url, host_of(fetch.url), 0, 0.0, reason, file.name, visits=1)
        item = self._schedule.visited(item, fetch.at, changed=True, last_modified=fetch.last_modified)
        row = None if fetch.url in self._settled else self._catalog.url(fetch.url)
        if fetch.url in self._settled or (row is not None and row["state"] != UrlState.QUEUED):
            self._batch.versions.append(fetch)
        else:
            self._batch.admitted += [item._replace(due=0.0)] if row is None else []
            self._batch.settled.append(Settled(item, UrlState.DONE, fetch.decision, fetch))
            self._settled.add(fetch.url)
        if len(self._rows) >= _PAGES_AT_ONCE or self._batch_bytes >= _BYTES_AT_ONCE:
            self._commit()

    def _commit(self) -> None:
        if not self._batch:
            return
        pending = self._writer.cut()
        with reporting_full_disk(self._collection.home):
            self._writer.sync(pending)
            written = Written(self._worker, self._writer.name, pending.size, self._collection.uploads_files)
            archive_id = self._catalog.commit(self._batch, written, self._counters.run_id, self._summary())
            self._segments.add(self._rows, archive_id, pending.size)
        if pending.size >= self._file_bytes:
            self._writer.close()
            self._writer = self._writer.next_file()
        self._begin_batch()

    def _begin_batch(self) -> None:
        self._batch, self._batch_bytes = Batch(), 0
        self._rows: list[PageRow] = []
        self._settled: set[str] = set()  # URLs
        self._known_versions: dict[str, set[float]] = {}  # the fetch times of known versions, by URL

    def _summary(self) -> dict[str, Any]:
        counters = self._catalog.counters()
        return self._counters.summary(time.time(), counters["known"], counters["queued"])


def _detail(text: str, response: Response) -> str:
    """The detail of a decision; it names the source of a fallback date."""
    source = response.headers.get(DATE_SOURCE.lower())
    return "; ".join(filter(None, (text, f"fallback date: {source}"))) if source else text
