"""Adds archived responses that the catalog does not list, as if each had just been fetched.

The decision for a URL follows from its response. Links, redirects and sitemaps fill the queues, so a lost frontier is
built again. Responses are added in the order of their fetch times: a URL that no earlier response leads to is taken for
a seed.
"""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from periplus.config import Settings
from periplus.crawl.visits.link_intake import pages_of, reading
from periplus.frontier.admission import open_admission
from periplus.frontier.priority import plain
from periplus.frontier.schedule import Schedule
from periplus.model import ArchivePosition, Decision, Fetch, Page, QueuedUrl, Reason, UrlState, Verdict
from periplus.parse.formats.sitemap import is_sitemap
from periplus.parse.reader import PageReader
from periplus.store.archive.warc_files import IMPORTS, Record, parse_archive_name, read_at
from periplus.store.catalog.batch import Batch, Settled, Written
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.run_summary import RunCounters
from periplus.url import Canonicalizer, host_of

_AT_ONCE = 500  # responses per commit
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NOT_MODIFIED = 304
_GONE = frozenset({404, 410})
_TRY_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
_SAME_CONTENT = Decision(Verdict.FETCHED, Reason.SAME_CONTENT)
_TO_FORGOTTEN = Decision(Verdict.REFUSED, Reason.FORGOTTEN, "it redirects to a forgotten URL")
_NOT_CHANGED = Decision(Verdict.UNCHANGED, Reason.NOT_MODIFIED)


class Unlisted(NamedTuple):
    """An intact archive record that the catalog does not list."""

    at: float  # when it was fetched
    position: ArchivePosition


class Replay:
    """Adds archived responses to a catalog."""

    def __init__(self, folder: Path, catalog: Catalog, settings: Settings, reader: PageReader) -> None:
        self._folder, self._catalog, self._reader = folder, catalog, reader
        self._canonicalizer, self._schedule = Canonicalizer.of(settings.addresses), Schedule(settings.recrawl)
        self._admission = open_admission(catalog, settings.scope)
        self._counters = RunCounters(catalog.begin_run({"repair": True}), time.time())
        self._items: dict[str, QueuedUrl] = {}  # URLs of the current commit
        self._batches: dict[str, Batch] = defaultdict(Batch)  # by archive file
        self._admitted: list[QueuedUrl] = []

    def add(self, unlisted: Iterable[Unlisted]) -> None:
        """Add records, the earliest first; the sizes of their archive files must be in the catalog."""
        records = iter(sorted(unlisted))
        sizes = {file.name: file.committed for file in self._catalog.archives()}
        while some := list(islice(records, _AT_ONCE)):
            for _, position in some:
                self._add(read_at(self._folder, position))
            self._commit(sizes)
        self._catalog.end_run(self._counters.run_id, "done", self._counters.summary(time.time()))

    def _add(self, record: Record) -> None:
        response, name = record.response, record.position.name
        item = self._item(response.url, name)
        outcome = self._outcome(record, item)
        if outcome.page is not None:
            self._follow_links(item, outcome.page)
        self._counters.count(outcome.fetch)
        planned = self._planned(item, outcome)
        self._items[item.url] = planned
        self._batches[name].settled.append(Settled(planned, outcome.state, outcome.fetch.decision, outcome.fetch))

    def _item(self, url: str, name: str) -> QueuedUrl:
        """The queue entry of a URL; a new one if no earlier response led to it."""
        if (item := self._items.get(url)) is not None:
            return item
        host = host_of(url)
        if (row := self._catalog.url(url)) is not None:
            fields = (row["redirects"], 0, row["due"], row["visits"], row["interval"], row["evidence"], row["visited"])
            return QueuedUrl(url, host, row["depth"], row["priority"], Reason(row["admitted"]), row["via"], *fields)
        if parse_archive_name(name)[0] == IMPORTS:
            refused = self._admission.scope.refusal(url, host, 0) is not None
            reason = Reason.IMPORTED if refused else Reason.IMPORTED_IN_SCOPE
        else:
            reason = Reason.SEED
            self._admission.scope.add_seed_host(host)
            self._batches[name].seeds.append(url)
        item = QueuedUrl(url, host, 0, plain(0), reason)
        self._admission.mark_known(url)
        self._admitted.append(item)
        return item

    def _planned(self, item: QueuedUrl, outcome: _Outcome) -> QueuedUrl:
        """The queue entry after the visit, with its next visit planned."""
        fetch = outcome.fetch
        if outcome.state is UrlState.QUEUED:
            return item._replace(due=0.0)
        if fetch.status in _GONE:
            return self._schedule.gone(item, fetch.at)
        is_visit = fetch.decision.verdict in (Verdict.FETCHED, Verdict.UNCHANGED, Verdict.READ)
        changed = is_visit and fetch.decision.reason not in (Reason.SAME_CONTENT, Reason.NOT_MODIFIED)
        return self._schedule.visited(
            item, fetch.at, changed=changed, last_modified=fetch.last_modified, counts=is_visit
        )

    # -- outcomes -----------------------------------------------------------------------------------------------

    def _outcome(self, record: Record, item: QueuedUrl) -> _Outcome:
        response = record.response
        is_success = 200 <= response.status < 300
        if record.revisits:
            decision = _NOT_CHANGED if response.status == _NOT_MODIFIED else _SAME_CONTENT
            return _Outcome(UrlState.DONE, Fetch.of(response, decision, record.position, record.revisits))
        if response.status in _REDIRECTS and response.headers.get("location"):
            return self._redirected(record, item)
        if is_success and (item.reason is Reason.SITEMAP or is_sitemap(response.mime, response.body)):
            return self._sitemap(record, item)
        if is_success:
            page = self._reader.parse(response, sandboxed=self._reader.needs_sandbox(response))
            decision = Decision(Verdict.FETCHED, page.problem or Reason.OK, page.problem_detail)
            return _Outcome(UrlState.DONE, _fetch(record, decision), page)
        return self._rejected(record)

    def _redirected(self, record: Record, item: QueuedUrl) -> _Outcome:
        location = record.response.headers["location"]
        target = self._canonicalizer.join(item.url, location)
        if target is None:
            decision = Decision(Verdict.DROPPED, Reason.NOT_WEB, location[:200])
            return _Outcome(UrlState.FAILED, Fetch.of(record.response, decision, record.position))
        if self._admission.scope.blocks(target):
            return _Outcome(UrlState.REFUSED, Fetch.of(record.response, _TO_FORGOTTEN, record.position))
        decision = Decision(Verdict.MERGED, Reason.REDIRECTED, target)
        if item.reason is Reason.SEED:
            self._admission.scope.add_seed_host(host_of(target))
        self._admit(target, item.depth, Reason.REDIRECT_TARGET, item.url)
        return _Outcome(
            UrlState.DONE, Fetch.of(record.response, decision, record.position)._replace(redirect_to=target)
        )

    def _sitemap(self, record: Record, item: QueuedUrl) -> _Outcome:
        response = record.response
        found = self._reader.parse_sitemap(response, self._canonicalizer)
        assert found is not None  # without a crash monitor every sitemap is parsed
        depth = item.depth + (item.reason is not Reason.SITEMAP)
        for url, priority, _ in pages_of(found, item._replace(depth=depth), response.fetched_at):
            self._admit(url, depth, Reason.LISTED, item.url, priority)
        for entry in found.sitemaps:
            self._admit(entry.loc, depth, Reason.SITEMAP, item.url)
        return _Outcome(UrlState.DONE, _fetch(record, reading(found)))

    def _rejected(self, record: Record) -> _Outcome:
        response = record.response
        if response.status in _TRY_AGAIN:
            decision = Decision(Verdict.DELAYED, Reason.RETRY, f"HTTP {response.status}")
            return _Outcome(UrlState.QUEUED, Fetch.of(response, decision, record.position))
        decision = Decision(Verdict.DROPPED, Reason.HTTP_ERROR, str(response.status))
        return _Outcome(UrlState.FAILED, Fetch.of(response, decision, record.position))

    # -- new URLs -----------------------------------------------------------------------------------------------

    def _follow_links(self, item: QueuedUrl, page: Page) -> None:
        for link in page.links:
            if not link.nofollow:
                self._admit(link.target, item.depth + 1, Reason.LINK, item.url)

    def _admit(self, url: str, depth: int, reason: Reason, via: str, priority: float | None = None) -> None:
        found = self._admission.admit(url, depth=depth, reason=reason, via=via, priority=priority)
        if isinstance(found, QueuedUrl):
            self._admitted.append(found)
            self._items[url] = found

    def _commit(self, sizes: dict[str, int]) -> None:
        """Commit one batch per archive file; the first one has all new URLs, because it must precede their outcomes."""
        first = next(iter(self._batches.values()))
        first.admitted += self._admitted
        for name, batch in self._batches.items():
            written = Written(parse_archive_name(name)[0], name, sizes[name])
            self._catalog.commit(batch, written, self._counters.run_id, self._counters.summary(time.time()))
        self._batches.clear()
        self._items.clear()
        self._admitted = []


class _Outcome(NamedTuple):
    """What a response means for its URL."""

    state: UrlState
    fetch: Fetch
    page: Page | None = None


def _fetch(record: Record, decision: Decision) -> Fetch:
    return Fetch.of(record.response, decision, record.position, hashlib.sha256(record.response.body).digest())
