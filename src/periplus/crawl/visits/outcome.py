"""Records the outcome of a response: the decision for its URL, the next visit, the archived bytes, the parsed page."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import replace

from periplus.crawl.assignment import WorkerContext
from periplus.crawl.visits.link_intake import LinkIntake, reading
from periplus.crawl.visits.novelty import Assessment, PageAssessor
from periplus.crawl.visits.page_errors import STOPS_THE_CRAWL
from periplus.errors import DamagedFile, ObjectMissing, StorageError
from periplus.frontier.priority import deferred
from periplus.frontier.schedule import Schedule
from periplus.model import (
    NOTHING_NEW,
    ArchivePosition,
    Decision,
    Fetch,
    Page,
    QueuedUrl,
    Reason,
    Response,
    UrlState,
    Verdict,
)
from periplus.parse.formats.sitemap import Sitemap, is_sitemap
from periplus.parse.reader import PageReader
from periplus.store.archive.warc_files import Archived
from periplus.store.catalog.batch import Settled
from periplus.store.manifest import PageRow
from periplus.url import Canonicalizer

logger = logging.getLogger("periplus.crawl.urls")  # a line for every URL
crawl_logger = logging.getLogger("periplus.crawl")

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NOT_MODIFIED = 304
_GONE = frozenset({404, 410})
_TRY_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
_REFUSED_BY_GUARD = frozenset({Reason.PRIVATE_ADDRESS, Reason.NO_CONTACT})
_FINAL = frozenset(
    {Reason.WRONG_TYPE, Reason.TOO_LARGE, Reason.TLS, Reason.TLS_EXPIRED, Reason.TLS_NAME, Reason.TLS_ISSUER}
)
_UNREADABLE_SECONDS = 60.0  # for which an object store that has failed is not asked for earlier versions
_LONGEST_DETAIL = 300  # characters of the message of an exception
_FETCHED = Decision(Verdict.FETCHED, Reason.OK)
_ADDS_NOTHING = Decision(Verdict.FETCHED, Reason.OK, NOTHING_NEW)
_SAME_CONTENT = Decision(Verdict.FETCHED, Reason.SAME_CONTENT)
_TO_FORGOTTEN = Decision(Verdict.REFUSED, Reason.FORGOTTEN, "it redirects to a forgotten URL")
_NOT_CHANGED = Decision(Verdict.UNCHANGED, Reason.NOT_MODIFIED)
_ENTERED = Decision(Verdict.READ, Reason.ENTRY)
_UNREADABLE = Decision(Verdict.READ, Reason.PARSE_CRASH, "it crashed two workers")


class OutcomeRecorder:
    """Turns responses into decisions, rows and archived bytes; passes their links to the intake."""

    def __init__(
        self,
        context: WorkerContext,
        *,
        canonicalizer: Canonicalizer,
        reader: PageReader,
        intake: LinkIntake,
        assessor: PageAssessor,
        archive: Callable[[Response, Fetch | None], Archived],
        read_archived: Callable[[ArchivePosition], Response],
    ) -> None:
        self._settings, self._canonicalizer, self._reader, self._intake = (
            context.settings,
            canonicalizer,
            reader,
            intake,
        )
        self._queues, self._counters, self._pending = context.queues, context.counters, context.pending
        self._archive, self._read_archived, self._schedule = archive, read_archived, Schedule(self._settings.recrawl)
        self._assessor, self._errors = assessor, intake.errors
        self._unreadable_until = 0.0  # monotonic seconds; the object store of the fleet did not answer before
        self._archived: Archived | None = None  # archive record of the current response, once there is one

    def refuse(self, item: QueuedUrl, decision: Decision, now: float) -> None:
        """Settle a queued URL that a rule refuses, without a request."""
        self._counters.refuse(decision.reason)
        logger.info("refused %s %s %s", decision.reason, item.url, decision.detail)
        self._add(Settled(self._schedule.refused(item, decision, now), UrlState.REFUSED, decision))

    def defer(self, item: QueuedUrl, decision: Decision) -> QueuedUrl:
        """Lower the priority of a URL, so that the other URLs of its host come first."""
        logger.info("deferred %s %s %s", decision.reason, item.url, decision.detail)
        item = item._replace(priority=deferred(item.priority))
        self._add(Settled(item, UrlState.QUEUED, decision))
        return item

    def fail(self, item: QueuedUrl, error: Exception, now: float) -> None:
        """Settle a URL for which Periplus raised an exception before it made a request."""
        self._counters.errors[Reason.INTERNAL_ERROR.value] += 1
        planned = self._schedule.visited(item, now, changed=False)
        self._add(Settled(planned, UrlState.FAILED, self._internal_error(item, error)))

    async def parse_ahead(self, item: QueuedUrl, response: Response) -> Page | Sitemap | Exception | None:
        """Do what takes long while other visits go on: parse a page in the sandbox, or a sitemap and admit its URLs.

        An exception is returned, so that `record` can settle the URL.
        """
        if not 200 <= response.status < 300:
            return None
        try:
            if _is_sitemap(item, response):
                return await self._parse_sitemap(item, response)
            return await self._reader.parse_in_sandbox(response)
        except STOPS_THE_CRAWL:
            raise
        except Exception as error:
            return error

    def record(
        self,
        item: QueuedUrl,
        response: Response,
        now: float,
        earlier: Fetch | None = None,
        ahead: Page | Sitemap | Exception | None = None,
    ) -> None:
        """Settle one URL by its response; an exception of ours costs that page only.

        *earlier* is the last version of the page, if there is one; *ahead* is what `parse_ahead` returned.
        """
        self._archived = None
        try:
            self._record(item, response, now, earlier, ahead)
        except STOPS_THE_CRAWL:
            raise
        except Exception as error:
            self._record_internal_error(item, response, error)

    def _record(
        self,
        item: QueuedUrl,
        response: Response,
        now: float,
        earlier: Fetch | None,
        ahead: Page | Sitemap | Exception | None,
    ) -> None:
        if isinstance(ahead, Exception):
            self._archive_response(response)
            raise ahead
        page = ahead if isinstance(ahead, Page) else None
        if response.failure is not None:
            self._failed(item, response, now)
        elif response.status in _REDIRECTS and response.headers.get("location"):
            self._redirected(item, response)
        elif 200 <= response.status < 300 and _is_sitemap(item, response):
            self._sitemap_read(item, response, earlier, None if isinstance(ahead, Page) else ahead)
        elif 200 <= response.status < 300 and item.reason is Reason.ENTRY:
            self._entered(item, response, page)
        elif 200 <= response.status < 300:
            self._fetched(item, response, earlier, page)
        elif response.status == _NOT_MODIFIED and earlier is not None:
            self._unchanged(item, response, earlier)
        else:
            self._rejected(item, response, now)

    def _record_internal_error(self, item: QueuedUrl, response: Response, error: Exception) -> None:
        """Settle a URL whose response raised an exception of ours; links admitted before it stay admitted."""
        batch = self._pending.batch
        batch.copies = [copy for copy in batch.copies if copy.url != item.url]
        position = self._archived.position if self._archived is not None else None
        self._settle_missing(item, Fetch.of(response, self._internal_error(item, error), position))

    def _internal_error(self, item: QueuedUrl, error: Exception) -> Decision:
        detail = f"{self._errors.record(item.url, error)}: {error}"
        return Decision(Verdict.DROPPED, Reason.INTERNAL_ERROR, detail[:_LONGEST_DETAIL])

    # -- the seven outcomes -------------------------------------------------------------------------------------
    # Each method settles its URL last, so that after an exception the URL can still be settled.

    def _fetched(self, item: QueuedUrl, response: Response, earlier: Fetch | None, page: Page | None) -> None:
        archived = self._archive_response(response, earlier)
        began = time.perf_counter()
        changed = not archived.is_revisit
        if page is None:
            page = self._reader.parse(response)
            changed = changed and not (earlier and self._has_same_text(page, earlier))
        assessment = None if archived.is_revisit else self._assessor.assess(item, page, len(response.body))
        decision = _decision_for(response, page, archived, assessment)
        row = PageRow(Fetch.of(response, decision, archived.position, archived.content_id), page)
        if page.problem is not Reason.OTHER_LANGUAGE:
            if assessment is None:
                self._intake.follow(item, page)
            else:
                self._intake.follow(item, page, assessment.quality, assessment.novelty)
        self._settle_page(item, row.fetch, changed=changed)
        if not archived.is_revisit:
            self._pending.rows.append(row)
        self._counters.count_reading(page)
        self._counters.timing.parse += time.perf_counter() - began

    def _has_same_text(self, page: Page, earlier: Fetch) -> bool:
        """Whether title and text equal those of the last version: many pages differ only in a form token."""
        if earlier.position is None or time.monotonic() < self._unreadable_until:
            return False
        try:
            archived = self._read_archived(earlier.position)
        except (DamagedFile, ObjectMissing):
            return False  # `periplus verify` reports the damage
        except StorageError as error:  # the page counts as changed; the next ones do not wait for the object store
            self._unreadable_until = time.monotonic() + _UNREADABLE_SECONDS
            crawl_logger.warning("earlier versions cannot be compared: %s", error.sentence)
            return False
        if self._reader.needs_sandbox(archived):
            return False
        before = self._reader.parse(archived)
        return (before.title, before.text) == (page.title, page.text)

    async def _parse_sitemap(self, item: QueuedUrl, response: Response) -> Sitemap | None:
        """Admit what a sitemap lists before the sitemap is settled: after a kill the sitemap is read again."""
        began = time.perf_counter()
        found = self._reader.parse_sitemap(response, self._canonicalizer)
        if found is not None:
            depth = item.depth + (item.reason is not Reason.SITEMAP)  # like the links of a page
            for _ in self._intake.follow_list(item._replace(depth=depth), found, response.fetched_at):
                self._counters.timing.parse += time.perf_counter() - began
                await asyncio.sleep(0)
                began = time.perf_counter()
        self._counters.timing.parse += time.perf_counter() - began
        return found

    def _sitemap_read(self, item: QueuedUrl, response: Response, earlier: Fetch | None, found: Sitemap | None) -> None:
        archived = self._archive_response(response, earlier)
        decision = _UNREADABLE if found is None else reading(found)
        decision = replace(decision, reason=Reason.SAME_CONTENT) if archived.is_revisit else decision
        fetch = Fetch.of(response, decision, archived.position, archived.content_id)
        self._settle_page(item, fetch, changed=not archived.is_revisit)

    def _unchanged(self, item: QueuedUrl, response: Response, earlier: Fetch) -> None:
        archived = self._archive_response(response, earlier)
        fetch = Fetch.of(response, _NOT_CHANGED, archived.position, archived.content_id)
        self._settle_page(item, fetch, changed=False)

    def _entered(self, item: QueuedUrl, response: Response, page: Page | None) -> None:
        archived = self._archive_response(response)
        began = time.perf_counter()
        page = page or self._reader.parse(response)
        self._intake.follow(item, page)
        self._settle(item, UrlState.DONE, Fetch.of(response, _ENTERED, archived.position, archived.content_id))
        self._counters.timing.parse += time.perf_counter() - began

    def _redirected(self, item: QueuedUrl, response: Response) -> None:
        target = self._canonicalizer.join(item.url, response.headers["location"])
        if target is not None and self._intake.blocks(target):
            self.refuse(item, _TO_FORGOTTEN, response.fetched_at)  # not archived: it names the blocked URL
            return
        position = self._archive_response(response).position
        if target is None:
            decision = Decision(Verdict.DROPPED, Reason.NOT_WEB, response.headers["location"][:200])
            self._settle_missing(item, Fetch.of(response, decision, position))
            return
        decision = Decision(Verdict.MERGED, Reason.REDIRECTED, target)
        fetch = Fetch.of(response, decision, position)._replace(redirect_to=target)
        self._intake.follow_redirect(item, target)
        self._settle(self._schedule.visited(item, fetch.at, changed=False), UrlState.DONE, fetch)

    def _rejected(self, item: QueuedUrl, response: Response, now: float) -> None:
        position = self._archive_response(response).position
        if response.status in _TRY_AGAIN and self._retry(item, response, now, position):
            return
        decision = Decision(Verdict.DROPPED, Reason.HTTP_ERROR, str(response.status))
        self._settle_missing(item, Fetch.of(response, decision, position))

    def _failed(self, item: QueuedUrl, response: Response, now: float) -> None:
        reason = response.failure or Reason.BAD_HTTP
        if reason in _REFUSED_BY_GUARD:
            self.refuse(item, Decision(Verdict.REFUSED, reason, response.detail), now)
        elif reason in _FINAL or not self._retry(item, response, now):
            decision = Decision(Verdict.DROPPED, reason, response.detail)
            self._settle_missing(item, Fetch.of(response, decision))

    def _retry(self, item: QueuedUrl, response: Response, now: float, position: ArchivePosition | None = None) -> bool:
        attempts = item.attempts + 1
        if attempts >= self._settings.fetch.attempts or item.reason is Reason.ENTRY:
            return False
        due = now + self._settings.fetch.retry_seconds * 2.0**item.attempts
        again = item._replace(attempts=attempts, due=due)
        why = response.failure.value if response.failure is not None else f"HTTP {response.status}"
        decision = Decision(Verdict.DELAYED, Reason.RETRY, f"{why}; attempt {attempts + 1} follows")
        self._settle(again, UrlState.QUEUED, Fetch.of(response, decision, position))
        self._queues.put_back(again)
        return True

    def _archive_response(self, response: Response, earlier: Fetch | None = None) -> Archived:
        began = time.perf_counter()
        archived = self._archive(response, earlier)
        self._archived = archived
        self._counters.timing.archive += time.perf_counter() - began
        return archived

    def _settle_page(self, item: QueuedUrl, fetch: Fetch, *, changed: bool) -> None:
        planned = self._schedule.visited(
            item, fetch.at, changed=changed, last_modified=fetch.last_modified, counts=True
        )
        self._settle(planned, UrlState.DONE, fetch)

    def _settle_missing(self, item: QueuedUrl, fetch: Fetch) -> None:
        gone = fetch.status in _GONE
        planned = self._schedule.gone(item, fetch.at) if gone else self._schedule.visited(item, fetch.at, changed=False)
        self._settle(planned, UrlState.FAILED, fetch)

    def _settle(self, item: QueuedUrl, state: UrlState, fetch: Fetch) -> None:
        self._counters.count(fetch)
        decision = fetch.decision
        logger.info("%s %s %d %s %s", decision.verdict, decision.reason, fetch.status, fetch.url, decision.detail)
        self._add(Settled(item, state, fetch.decision, fetch))

    def _add(self, settled: Settled) -> None:
        batch = self._pending.batch
        (batch.entered if settled.item.reason is Reason.ENTRY else batch.settled).append(settled)


def _is_sitemap(item: QueuedUrl, response: Response) -> bool:
    return item.reason is Reason.SITEMAP or is_sitemap(response.mime, response.body)


def _decision_for(response: Response, page: Page, archived: Archived, assessment: Assessment | None) -> Decision:
    """The decision that is recorded for a fetched page."""
    if page.problem is not None and not archived.is_revisit:
        return Decision(Verdict.FETCHED, page.problem, page.problem_detail)
    decision = _SAME_CONTENT if archived.is_revisit else _FETCHED
    if assessment is not None and assessment.is_dull:
        decision = _ADDS_NOTHING
    if response.detail or page.failed_extractors:
        failed_extractors = (
            f"could not be extracted: {', '.join(page.failed_extractors)}" if page.failed_extractors else ""
        )
        return replace(decision, detail="; ".join(filter(None, (response.detail, failed_extractors))))
    return decision
