"""What follows from a response: for its URL, for its links, for the archive?"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from periplus.config import Settings
from periplus.crawl.listing import pages_of, reading
from periplus.crawl.reading import PageReader
from periplus.crawl.tally import Tally
from periplus.crawl.territory import Territory, share_of
from periplus.frontier.admission import Admission
from periplus.frontier.queues import Queues
from periplus.model import ArchivePosition, Decision, Fetch, Page, QueuedUrl, Reason, Response, UrlState, Verdict
from periplus.parse.sitemap import read_sitemap
from periplus.store.archive import Archived
from periplus.store.ledger import Batch, Letter, Refusal, Settled
from periplus.store.segments import PageRow
from periplus.url import Canonicalizer, host_of

logger = logging.getLogger("periplus.crawl")

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TRY_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
_REFUSED_BY_GUARD = frozenset({Reason.PRIVATE_ADDRESS, Reason.NO_CONTACT})
_FINAL = frozenset(
    {Reason.WRONG_TYPE, Reason.TOO_LARGE, Reason.TLS, Reason.TLS_EXPIRED, Reason.TLS_NAME, Reason.TLS_ISSUER}
)
_KEPT_BY_REDIRECTS = frozenset({Reason.SEED, Reason.SITEMAP})
_NOFOLLOW = Decision(Verdict.REFUSED, Reason.NOFOLLOW)
_VERDICTS_REMEMBERED = 50_000
_FETCHED = Decision(Verdict.FETCHED, Reason.OK)


@dataclass(slots=True)
class Log:
    """What happened since the last commit."""

    batch: Batch
    rows: list[PageRow]

    @classmethod
    def new(cls) -> Log:
        """An empty one."""
        return cls(Batch(), [])


class Digester:
    """Turns responses into decisions, rows and new queue entries."""

    def __init__(
        self,
        settings: Settings,
        canonicalizer: Canonicalizer,
        reader: PageReader,
        admission: Admission,
        queues: Queues,
        tally: Tally,
        archive: Callable[[Response], Archived],
        territory: Territory,
    ) -> None:
        self._settings, self._canonicalizer, self._reader = settings, canonicalizer, reader
        self._admission, self._queues, self._tally, self._archive = admission, queues, tally, archive
        self._territory = territory
        self._verdicts: dict[str, Decision | None] = {}
        self.log = Log.new()
        self.cuts = 0

    def cut(self) -> Log:
        """Everything since the last cut."""
        self.cuts += 1
        log, self.log = self.log, Log.new()
        return log

    def seed(self, url: str) -> Decision | None:
        """Admit a seed; returns the rule that refuses it, if one does."""
        self._admission.scope.add_seed_host(host_of(url))
        if not self._territory.owns(host_of(url)):
            return None
        self.log.batch.seeds.append(url)
        return self._admit(url, 0, Reason.SEED, via="")

    def sitemap(self, url: str) -> Decision | None:
        """Admit a sitemap that somebody names; the pages it lists count like seeds, as far as they are in scope."""
        self._admission.scope.add_seed_host(host_of(url))
        if not self._territory.owns(host_of(url)):
            return None
        self.log.batch.seeds.append(url)
        return self._admit(url, 0, Reason.SITEMAP, via="")

    def receive(self, letter_id: int, letter: Letter) -> None:
        """Admit what another worker found."""
        self.log.batch.received.append(letter_id)
        if letter.reason is Reason.SEED:
            self._admission.scope.add_seed_host(host_of(letter.url))
        self._admit(letter.url, letter.depth, letter.reason, letter.via, letter.redirects)

    def sitemaps(self, urls: Iterable[str], via: str) -> None:
        """Admit what a robots.txt names as sitemaps; the pages they list count like those its home page links to."""
        for url in urls:
            if (target := self._canonicalizer.canonical(url)) is not None:
                self._admit(target, 1, Reason.SITEMAP, via=via)

    def second_thoughts(self, item: QueuedUrl) -> Decision | None:
        """Why a URL that waited is not to be fetched after all: the scope may be narrower than it was."""
        return self._admission.recheck(item)

    def refuse(self, item: QueuedUrl, decision: Decision) -> None:
        """A queued URL turns out to be forbidden: no request is made for it."""
        self._tally.refuse(decision.reason)
        logger.info("refused %s %s %s", decision.reason, item.url, decision.detail)
        self.log.batch.settled.append(Settled(item, UrlState.REFUSED, decision))

    def digest(self, item: QueuedUrl, response: Response, now: float) -> None:
        """Settle one URL by what its server answered."""
        if response.failure is not None:
            self._failed(item, response, now)
        elif response.status in _REDIRECTS and response.headers.get("location"):
            self._redirected(item, response)
        elif 200 <= response.status < 300 and item.reason is Reason.SITEMAP:
            self._listed(item, response)
        elif 200 <= response.status < 300:
            self._fetched(item, response)
        else:
            self._answered_no(item, response, now)

    # -- the five endings ---------------------------------------------------------------------------------------

    def _fetched(self, item: QueuedUrl, response: Response) -> None:
        archived = self._keep(response)
        began = time.perf_counter()
        decision = replace(_FETCHED, detail=response.detail) if response.detail else _FETCHED
        fetch = _attempt(response, decision, archived.position, archived.content_id)
        page = self._reader.parse(response)
        self._settle(item, UrlState.DONE, fetch)
        self.log.rows.append(self._reader.row(fetch, page))
        self._follow(item, page)
        self._tally.timing.parse += time.perf_counter() - began

    def _listed(self, item: QueuedUrl, response: Response) -> None:
        archived = self._keep(response)
        began = time.perf_counter()
        found = read_sitemap(response.body, item.url, self._canonicalizer, now=response.fetched_at)
        self._settle(item, UrlState.DONE, _attempt(response, reading(found), archived.position, archived.content_id))
        for url, priority in pages_of(found, item, response.fetched_at):
            self._admit(url, item.depth, Reason.LISTED, item.url, priority=priority)
        for entry in found.sitemaps:
            if not self._is_too_far(item, entry.loc):
                self._admit(entry.loc, item.depth, Reason.SITEMAP, item.url, item.redirects + 1)
        self._tally.timing.parse += time.perf_counter() - began

    def _redirected(self, item: QueuedUrl, response: Response) -> None:
        target = self._canonicalizer.join(item.url, response.headers["location"])
        position = self._keep(response).position
        if target is None:
            decision = Decision(Verdict.DROPPED, Reason.NOT_WEB, response.headers["location"][:200])
            self._settle(item, UrlState.FAILED, _attempt(response, decision, position))
            return
        decision = Decision(Verdict.MERGED, Reason.REDIRECTED, target)
        fetch = replace(_attempt(response, decision, position), redirect_to=target)
        self._settle(item, UrlState.DONE, fetch)
        self._follow_redirect(item, target)

    def _answered_no(self, item: QueuedUrl, response: Response, now: float) -> None:
        position = self._keep(response).position
        if response.status in _TRY_AGAIN and self._retry(item, response, now, position):
            return
        decision = Decision(Verdict.DROPPED, Reason.HTTP_ERROR, str(response.status))
        self._settle(item, UrlState.FAILED, _attempt(response, decision, position))

    def _failed(self, item: QueuedUrl, response: Response, now: float) -> None:
        reason = response.failure or Reason.BAD_HTTP
        if reason in _REFUSED_BY_GUARD:
            self.refuse(item, Decision(Verdict.REFUSED, reason, response.detail))
        elif reason in _FINAL or not self._retry(item, response, now):
            decision = Decision(Verdict.DROPPED, reason, response.detail)
            self._settle(item, UrlState.FAILED, _attempt(response, decision))

    def _retry(self, item: QueuedUrl, response: Response, now: float, position: ArchivePosition | None = None) -> bool:
        attempts = item.attempts + 1
        if attempts >= self._settings.fetch.attempts:
            return False
        due = now + self._settings.fetch.retry_seconds * 2.0**item.attempts
        again = item._replace(attempts=attempts, due=due)
        why = response.failure.value if response.failure is not None else f"answered {response.status}"
        decision = Decision(Verdict.DELAYED, Reason.RETRY, f"{why}; try {attempts + 1} follows")
        self._settle(again, UrlState.QUEUED, _attempt(response, decision, position))
        self._queues.put_back(again)
        return True

    # -- what pages lead to -------------------------------------------------------------------------------------

    def _follow(self, item: QueuedUrl, page: Page) -> None:
        verdicts = self._verdicts
        if len(verdicts) > _VERDICTS_REMEMBERED:
            verdicts.clear()
        self._queues.mention(link.target for link in page.links if not link.nofollow)
        depth, batch, refused = item.depth + 1, self.log.batch, 0
        new = -len(batch.admitted) - len(batch.letters)
        for link in page.links:
            url = link.target
            if link.nofollow:
                refusal: Decision | None = _NOFOLLOW
                self._refuse_link(url, _NOFOLLOW, item.url)
            elif url in verdicts:
                refusal = verdicts[url]
                if refusal is not None:
                    self._refuse_link(url, refusal, "")
            else:
                refusal = self._admit(url, depth, Reason.LINK, via=item.url)
                if refusal is None or refusal.reason is not Reason.TOO_DEEP:
                    verdicts[url] = refusal  # too deep from here may be near enough from elsewhere
            refused += refusal is not None
        new += len(batch.admitted) + len(batch.letters)
        self._tally.known_links += len(page.links) - refused - new

    def _follow_redirect(self, item: QueuedUrl, target: str) -> None:
        if self._is_too_far(item, target):
            return
        if item.reason is Reason.SEED:
            # Somebody who asks for example.org means the site, even if it lives at www.example.org.
            self._admission.scope.add_seed_host(host_of(target))
            self.log.batch.seeds.append(target)
            self._verdicts.clear()
        reason = item.reason if item.reason in _KEPT_BY_REDIRECTS else Reason.REDIRECT_TARGET
        self._admit(target, item.depth, reason, via=item.url, redirects=item.redirects + 1)

    def _is_too_far(self, item: QueuedUrl, target: str) -> bool:
        """Whether a redirect, or a sitemap in a sitemap, is one too many on the way here; it is refused then."""
        if item.redirects < self._settings.fetch.redirects:
            return False
        detail = f"more than fetch.redirects = {self._settings.fetch.redirects} in a row"
        self._refuse_link(target, Decision(Verdict.REFUSED, Reason.TOO_MANY_REDIRECTS, detail), item.url)
        return True

    def _admit(
        self, url: str, depth: int, reason: Reason, via: str, redirects: int = 0, priority: float | None = None
    ) -> Decision | None:
        if not self._territory.is_alone and not self._territory.owns(host := host_of(url)):
            return self._forward(Letter(share_of(host), url, depth, reason, via, redirects), host)
        outcome = self._admission.admit(
            url, depth=depth, reason=reason, via=via, redirects=redirects, priority=priority
        )
        if isinstance(outcome, QueuedUrl):
            self.log.batch.admitted.append(outcome)
            self._queues.add(outcome)
        elif outcome is not None:
            self._refuse_link(url, outcome, via)
            return outcome
        return None

    def _forward(self, letter: Letter, host: str) -> Decision | None:
        outcome = self._admission.forward(letter.url, host, letter.depth, letter.reason)
        if isinstance(outcome, Decision):
            self._refuse_link(letter.url, outcome, letter.via)
            return outcome
        if outcome:
            self.log.batch.letters.append(letter)
        return None

    def _refuse_link(self, url: str, decision: Decision, via: str) -> None:
        self._tally.refuse(decision.reason)
        host = host_of(url)
        self.log.batch.refused[host, decision.reason] += 1
        if via:
            self.log.batch.samples.append(Refusal(host, url, decision, via))

    def _keep(self, response: Response) -> Archived:
        began = time.perf_counter()
        archived = self._archive(response)
        self._tally.timing.archive += time.perf_counter() - began
        return archived

    def _settle(self, item: QueuedUrl, state: UrlState, fetch: Fetch) -> None:
        self._tally.count(fetch)
        decision = fetch.decision
        logger.info("%s %s %d %s %s", decision.verdict, decision.reason, fetch.status, fetch.url, decision.detail)
        self.log.batch.settled.append(Settled(item, state, fetch.decision, fetch))


def _attempt(
    response: Response, decision: Decision, position: ArchivePosition | None = None, content_id: bytes = b""
) -> Fetch:
    return Fetch(
        url=response.url,
        at=response.fetched_at,
        status=response.status,
        decision=decision,
        mime=response.mime,
        size=len(response.body),
        content_id=content_id,
        position=position,
        etag=response.headers.get("etag", ""),
        last_modified=response.headers.get("last-modified", ""),
        seconds=response.seconds,
    )
