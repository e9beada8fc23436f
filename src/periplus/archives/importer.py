"""How do the pages of other archives become pages of this collection?

Each page is written into an archive of our own and acknowledged like one that was fetched: everything that works on a
crawl works on what was imported, and the files it came from are not needed any more. Nothing is taken twice, so an
import that was interrupted is continued by the same command.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from periplus.archives.page_writer import PageWriter
from periplus.archives.warc_reader import BrokenRecord, WarcRecord, read_records, response_of
from periplus.config import Settings
from periplus.errors import UsageError
from periplus.fetch.response_limits import SNIFFED, Purpose, ResponseLimits, looks_binary
from periplus.frontier.scope import page_rules
from periplus.model import Reason, Response
from periplus.store.collection import create_collection
from periplus.url import Canonicalizer, host_of

_HELD = frozenset({"response", "resource", "conversion"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SHOWN = 100  # broken records that are named one by one

Tell = Callable[[int, int], None]


@dataclass(slots=True)
class Imported:
    """What `import --json` prints."""

    files: int = 0
    pages: int = 0
    redirects: int = 0
    redated: int = 0  # pages and redirects whose date is not in the calendar: they have that of their file
    bytes: int = 0
    skipped: dict[str, int] = field(default_factory=dict)  # by reason
    broken: int = 0
    trouble: list[dict[str, Any]] = field(default_factory=list)  # the first broken records: file, position, why
    seconds: float = 0.0

    def skip(self, reason: str) -> None:
        """A record is not wanted."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1

    def lament(self, file: Path, position: int | None, why: str) -> None:
        """Something of a file cannot be read."""
        self.broken += 1
        if len(self.trouble) < _SHOWN:
            self.trouble.append({"file": str(file), "position": position, "why": why})


def import_archives(
    home: Path,
    settings: Settings,
    files: Sequence[Path],
    tell: Tell = lambda _done, _total: None,
    *,
    ignore_scope: bool = False,
) -> Imported:
    """Take the pages of WARC and ARC files into the collection; *tell* hears how many bytes of them are read.

    With *ignore_scope*, also pages that the settings of the scope refuse; they stay in the index.
    """
    if not files:
        raise UsageError("nothing to import", "no file was named", "Name WARC or ARC files: periplus import FILES")
    started = time.monotonic()
    found = Imported()
    sizes = [file.stat().st_size if file.is_file() else 0 for file in files]
    collection = create_collection(home)
    with collection.locked(), closing(PageWriter(collection, settings, [str(file) for file in files])) as landing:
        customs = _Customs(settings, landing, found, ignore_scope=ignore_scope)
        for number, file in enumerate(files):
            tell(sum(sizes[:number]), sum(sizes))
            _take_file(file, customs, found)
        landing.finish()
    found.seconds = round(time.monotonic() - started, 3)
    return found


def _take_file(file: Path, customs: _Customs, found: Imported) -> None:
    before = found.broken, customs.seen
    try:
        for record in read_records(file):
            if isinstance(record, BrokenRecord):
                found.lament(file, record.position, record.why)
            else:
                customs.examine(record, file)
    except OSError as error:
        found.lament(file, None, error.strerror or str(error))
        return
    if (found.broken, customs.seen) == before:
        found.lament(file, None, "it holds no record of an archive")
    found.files += 1


class _Customs:
    """Decides which records may land."""

    def __init__(self, settings: Settings, landing: PageWriter, found: Imported, *, ignore_scope: bool) -> None:
        self._landing, self._found = landing, found
        self._scope, self._ignore_scope = page_rules(settings.scope), ignore_scope
        self._canonicalizer = Canonicalizer.of(settings.addresses)
        self._allowances = ResponseLimits(settings.fetch)
        self._largest = max(settings.fetch.pdf_bytes, settings.fetch.html_bytes)
        self.seen = 0  # records of every kind

    def examine(self, record: WarcRecord, file: Path) -> None:
        """Let a record land, or count why not."""
        self.seen += 1
        if record.kind == "revisit":
            self._found.skip(record.kind)
        if record.kind not in _HELD:
            return
        url = self._canonicalizer.canonical(record.url)
        if url is None:
            self._found.skip(Reason.NOT_WEB.value)
            return
        refusal = self._scope.refusal(url, host_of(url), depth=0)
        if refusal is not None and not self._ignore_scope:
            self._found.skip(refusal.reason.value)
            return
        response = response_of(record, self._largest)
        if response is None:
            self._found.lament(file, record.position, "it holds no answer of a server")
            return
        reason = Reason.IMPORTED_IN_SCOPE if refusal is None else Reason.IMPORTED
        if self._admit(replace(response, url=url), file, reason):
            self._found.redated += record.redated

    def _admit(self, response: Response, file: Path, reason: Reason) -> bool:
        """Let an answer land, unless there is an obstacle."""
        target = ""
        if response.status in _REDIRECTS:
            target = self._canonicalizer.join(response.url, response.headers.get("location", "")) or ""
        obstacle = "" if target else self._obstacle(response)
        if not obstacle and self._landing.has(response.url, response.fetched_at):
            obstacle = "known"
        if reason is Reason.IMPORTED and obstacle in ("", "known"):
            self._landing.show_out_of_scope(response.url)
        if obstacle:
            self._found.skip(obstacle)
        elif target:
            self._landing.add_redirect(response, target, file, reason)
            self._found.redirects += 1
        else:
            self._landing.add_page(self._cut(response), file, reason)
            self._found.pages += 1
            self._found.bytes += len(response.body)
        return not obstacle

    def _obstacle(self, response: Response) -> str:
        """Why a crawl would not keep this answer either."""
        if not 200 <= response.status < 300:
            return Reason.HTTP_ERROR.value
        allowance = self._allowances.of(Purpose.PAGE, response.status, response.mime, len(response.body))
        if allowance.refused is not None:
            return allowance.refused.value
        if allowance.sniff and looks_binary(response.body[:SNIFFED]):
            return Reason.WRONG_TYPE.value
        return Reason.TOO_LARGE.value if len(response.body) > allowance.limit and not allowance.cut else ""

    def _cut(self, response: Response) -> Response:
        limit = self._allowances.of(Purpose.PAGE, response.status, response.mime, len(response.body)).limit
        if len(response.body) <= limit:
            return response
        return replace(response, body=response.body[:limit], truncated=True)
