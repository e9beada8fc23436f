"""Imports the pages of WARC and ARC files into a collection.

Each page is written into the collection's own archive and acknowledged like a fetched page. So every command works on
imported pages, and the source files are no longer needed. Pages that the collection has are skipped: to continue an
interrupted import, run the same command again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from periplus.archives.page_writer import PageWriter
from periplus.archives.warc_reader import DATE_SOURCE, BrokenRecord, WarcRecord, read_records, response_of
from periplus.config import Settings
from periplus.errors import UsageError
from periplus.fetch.response_limits import SNIFFED, Purpose, ResponseLimits, looks_binary
from periplus.frontier.scope import page_rules
from periplus.model import Reason, Response
from periplus.store.collection import create_collection
from periplus.url import Canonicalizer, host_of

_PAGE_RECORDS = frozenset({"response", "resource", "conversion"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MAX_LISTED = 100  # broken records listed in the summary; more are only counted

OnProgress = Callable[[int, int], None]  # called with the bytes read and the bytes in total


@dataclass(slots=True)
class Imported:
    """What `import --json` prints."""

    files: int = 0
    pages: int = 0
    redirects: int = 0
    redated: int = 0  # pages and redirects with a fallback date, because their own date is invalid
    bytes: int = 0
    skipped: dict[str, int] = field(default_factory=dict)  # by reason
    broken: int = 0
    trouble: list[dict[str, Any]] = field(default_factory=list)  # the first broken records: file, position, why
    seconds: float = 0.0

    def skip(self, reason: str) -> None:
        """Count a skipped record."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1

    def add_broken(self, file: Path, position: int | None, why: str) -> None:
        """Count and list a record, or a file, that cannot be read."""
        self.broken += 1
        if len(self.trouble) < _MAX_LISTED:
            self.trouble.append({"file": str(file), "position": position, "why": why})


def import_archives(
    home: Path,
    settings: Settings,
    files: Sequence[Path],
    on_progress: OnProgress = lambda _done, _total: None,
    *,
    ignore_scope: bool = False,
) -> Imported:
    """Import the pages of WARC and ARC files into the collection.

    With *ignore_scope*, also pages outside the scope; they stay in the index.
    """
    if not files:
        raise UsageError("nothing to import", "no file given", "Usage: periplus import FILES (WARC or ARC)")
    started = time.monotonic()
    found = Imported()
    sizes = [file.stat().st_size if file.is_file() else 0 for file in files]
    collection = create_collection(home)
    with (
        collection.locked(alone=True) as require_held,
        closing(PageWriter(collection, settings, [str(file) for file in files], require_held)) as writer,
    ):
        record_importer = _RecordImporter(settings, writer, found, ignore_scope=ignore_scope)
        for number, file in enumerate(files):
            on_progress(sum(sizes[:number]), sum(sizes))
            _import_file(file, record_importer, found)
        writer.finish()
    found.seconds = round(time.monotonic() - started, 3)
    return found


def _import_file(file: Path, record_importer: _RecordImporter, found: Imported) -> None:
    before = found.broken, record_importer.seen
    try:
        for record in read_records(file):
            if isinstance(record, BrokenRecord):
                found.add_broken(file, record.position, record.why)
            else:
                record_importer.add(record, file)
    except OSError as error:
        found.add_broken(file, None, error.strerror or str(error))
        return
    if (found.broken, record_importer.seen) == before:
        found.add_broken(file, None, "no WARC or ARC records found")
    found.files += 1


class _RecordImporter:
    """Imports records one by one, or counts why they are skipped."""

    def __init__(self, settings: Settings, writer: PageWriter, found: Imported, *, ignore_scope: bool) -> None:
        self._writer, self._found = writer, found
        self._scope, self._ignore_scope = page_rules(settings.scope, writer.blocked), ignore_scope
        self._canonicalizer = Canonicalizer.of(settings.addresses)
        self._limits = ResponseLimits(settings.fetch)
        self._largest = max(settings.fetch.pdf_bytes, settings.fetch.html_bytes)
        self.seen = 0  # records of every kind

    def add(self, record: WarcRecord, file: Path) -> None:
        """Import a record, or count why it is skipped."""
        self.seen += 1
        if record.kind == "revisit":
            self._found.skip(record.kind)
        if record.kind not in _PAGE_RECORDS:
            return
        url = self._canonicalizer.canonical(record.url)
        if url is None:
            self._found.skip(Reason.NOT_WEB.value)
            return
        refusal = self._scope.refusal(url, host_of(url), depth=0)
        if refusal is not None and (not self._ignore_scope or refusal.reason is Reason.FORGOTTEN):
            self._found.skip(refusal.reason.value)
            return
        response = response_of(record, self._largest)
        if response is None:
            self._found.add_broken(file, record.position, "no HTTP response in the record")
            return
        reason = Reason.IMPORTED_IN_SCOPE if refusal is None else Reason.IMPORTED
        if self._write(replace(response, url=url), file, reason):
            self._found.redated += DATE_SOURCE.lower() in response.headers

    def _write(self, response: Response, file: Path, reason: Reason) -> bool:
        """Write a page or redirect, unless the crawl would reject it or the collection has it."""
        target = ""
        if response.status in _REDIRECTS:
            target = self._canonicalizer.join(response.url, response.headers.get("location", "")) or ""
        rejection = "" if target else self._rejection(response)
        if target and self._scope.blocks(target):
            rejection = Reason.FORGOTTEN.value
        if not rejection and self._writer.has(response.url, response.fetched_at):
            rejection = "known"
        if reason is Reason.IMPORTED and rejection in ("", "known"):
            self._writer.show_out_of_scope(response.url)
        if rejection:
            self._found.skip(rejection)
        elif target:
            self._writer.add_redirect(response, target, file, reason)
            self._found.redirects += 1
        else:
            self._writer.add_page(self._truncated(response), file, reason)
            self._found.pages += 1
            self._found.bytes += len(response.body)
        return not rejection

    def _rejection(self, response: Response) -> str:
        """The reason for which a crawl would also reject this response; "" if none."""
        if not 200 <= response.status < 300:
            return Reason.HTTP_ERROR.value
        limits = self._limits.of(Purpose.PAGE, response.status, response.mime, len(response.body))
        if limits.refused is not None:
            return limits.refused.value
        if limits.sniff and looks_binary(response.body[:SNIFFED]):
            return Reason.WRONG_TYPE.value
        return Reason.TOO_LARGE.value if len(response.body) > limits.limit and not limits.cut else ""

    def _truncated(self, response: Response) -> Response:
        limit = self._limits.of(Purpose.PAGE, response.status, response.mime, len(response.body)).limit
        if len(response.body) <= limit:
            return response
        return replace(response, body=response.body[:limit], truncated=True)
