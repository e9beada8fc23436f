"""Where do seeds, pages, redirects and sitemaps lead, and which of it is news?

What does a sitemap say about the pages of its site?

Where does a crawl begin again when nothing is left?
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from periplus.config import Settings
from periplus.crawl.ownership import Ownership, share_of
from periplus.crawl.page_errors import PageErrors
from periplus.frontier.admission import Admission
from periplus.frontier.priority import found, listed, plain
from periplus.frontier.queues import Queues
from periplus.frontier.schedule import Schedule
from periplus.frontier.traps import Traps
from periplus.model import Decision, Novelty, Page, QueuedUrl, Reason, Verdict
from periplus.parse.sitemap import Sitemap
from periplus.store.batch import ForwardedUrl, PendingBatch, Refusal
from periplus.store.run_summary import RunCounters
from periplus.url import Canonicalizer, host_of, registrable_domain


def pages_of(sitemap: Sitemap, item: QueuedUrl, now: float) -> Iterator[tuple[str, float, float | None]]:
    """The pages it lists, each with its priority in the queue and the time of its last change.

    What it tells about them counts only for pages of its own registrable domain: it cannot speak for others.
    """
    domain = registrable_domain(item.host)
    for entry in sitemap.urls:
        if registrable_domain(host_of(entry.loc)) == domain:
            yield entry.loc, listed(item.depth, entry.priority, entry.lastmod, now), entry.lastmod
        else:
            yield entry.loc, plain(item.depth), None


def reading(sitemap: Sitemap) -> Decision:
    """What is noted about a sitemap that was read."""
    found = f"{len(sitemap.urls)} pages and {len(sitemap.sitemaps)} sitemaps listed"
    return Decision(Verdict.READ, Reason.SITEMAP, " ".join((f"{found}.", *sitemap.problems[:3])))


_FOUND = frozenset({Reason.LINK, Reason.LISTED, Reason.SITEMAP})
_KEPT_BY_REDIRECTS = frozenset({Reason.SEED, Reason.SITEMAP})
_NOFOLLOW = Decision(Verdict.REFUSED, Reason.NOFOLLOW)
_VERDICTS_REMEMBERED = 20_000
_LISTED_AT_ONCE = 200  # pages of a sitemap: 10 ms


class LinkIntake:
    """Brings every address that is met to the gate of the frontier, or to the worker whose it is."""

    def __init__(
        self,
        settings: Settings,
        canonicalizer: Canonicalizer,
        admission: Admission,
        queues: Queues,
        tally: RunCounters,
        territory: Ownership,
        log: PendingBatch,
        *,
        hold: bool = False,
    ) -> None:
        """With *hold*, what is found waits for the next round."""
        self._canonicalizer, self._admission, self._queues = canonicalizer, admission, queues
        self._tally, self._territory, self._log = tally, territory, log
        self._hops, self._hold, self._schedule = settings.fetch.redirects, hold, Schedule(settings.recrawl)
        self.errors = PageErrors(tally)
        self.news = 0  # addresses that were new so far, as far as can be told here
        self._let_in: set[str] = set()  # addresses met of late: nothing more is to be done about these
        self._refused: dict[str, Decision] = {}

    # -- what people, robots.txt and other workers name ---------------------------------------------------------

    def seed(self, url: str) -> Decision | None:
        """Admit a seed; returns the rule that refuses it, if one does."""
        return self._begin_at(url, Reason.SEED)

    def sitemap(self, url: str) -> Decision | None:
        """Admit a sitemap that somebody names; the pages it lists count like seeds, as far as they are in scope."""
        return self._begin_at(url, Reason.SITEMAP)

    def entry(self, url: str) -> None:
        """Know an address that will be asked again and again; no link to it is followed."""
        self._admission.scope.add_seed_host(host_of(url))
        self._admission.mark_seen(url)
        if self.owns(url):
            self._log.batch.seeds.append(url)

    def owns(self, url: str) -> bool:
        """Whether an address is this worker's to ask."""
        return self._territory.owns(host_of(url))

    def sitemaps(self, urls: Iterable[str], via: str) -> None:
        """Admit what a robots.txt names as sitemaps; the pages they list count like those its home page links to."""
        for url in urls:
            if (target := self._canonicalizer.canonical(url)) is not None:
                self._admit(target, 1, Reason.SITEMAP, via=via)

    def receive(self, letter_id: int, letter: ForwardedUrl) -> None:
        """Admit what another worker found; an exception costs this URL only."""
        self._log.batch.received.append(letter_id)
        with self.errors.contained(letter.url):
            if letter.reason is Reason.SEED:
                self._admission.scope.add_seed_host(host_of(letter.url))
            self._admit(letter.url, letter.depth, letter.reason, letter.via, letter.redirects)

    def refuse_moved_robots(self, url: str, via: str) -> Decision | None:
        """Refuse to follow a robots.txt to a host that `scope.hosts` excludes."""
        host = host_of(url)
        if not self._admission.scope.excludes_host(host):
            return None
        refusal = self._admission.scope.host_refusal(host)
        assert refusal is not None
        self._refuse(url, refusal, via)
        return refusal

    def recheck(self, item: QueuedUrl) -> Decision | None:
        """Refuse a queued URL that the current scope no longer admits; refuse or defer one of a suspected trap."""
        return self._admission.recheck(item)

    @property
    def traps(self) -> Traps:
        """What was learned about patterns of URLs."""
        return self._admission.traps

    def learn(self, item: QueuedUrl, novelty: Novelty, *, is_repeat: bool, is_certain: bool) -> None:
        """Count a page for the patterns of its URL; what a pattern refused that is cleared is queued again."""
        cleared = self.traps.learn(item.url, item.host, novelty, is_repeat=is_repeat, is_certain=is_certain)
        if cleared:
            self._log.batch.harmless += [(item.host, pattern) for pattern in cleared]
            self._forget_verdicts()

    # -- what answers name --------------------------------------------------------------------------------------

    def follow(self, item: QueuedUrl, page: Page, quality: float = 1.0, novelty: Novelty = Novelty.NEW) -> None:
        """Admit what a page links to, sooner the better the page is."""
        queued, refused = len(self._log.batch.admitted), self.traps.saved
        self._follow_all(item, page, quality)
        if novelty is Novelty.ALIKE:
            links = [link.url for link in self._log.batch.admitted[queued:]]
            self.traps.count_growth(item.url, item.host, links, self.traps.saved - refused)

    def _follow_all(self, item: QueuedUrl, page: Page, quality: float) -> None:
        if len(self._let_in) + len(self._refused) > _VERDICTS_REMEMBERED:
            self._forget_verdicts()
        targets = [target for target, _, nofollow in page.links if not nofollow]
        if len(targets) < len(page.links):
            for link in page.links:
                if link.nofollow:
                    self._refuse(link.target, _NOFOLLOW, item.url)
        self._queues.count_links(targets)
        batch = self._log.batch
        known = len(targets) + len(batch.admitted) + len(batch.forwarded)
        known -= sum([self._follow(item, url, quality) for url in targets if url not in self._let_in])
        self._tally.known_links += known - len(batch.admitted) - len(batch.forwarded)

    def _follow(self, item: QueuedUrl, url: str, quality: float) -> bool:
        """Admit a link, unless a rule refuses it."""
        refusal = self._refused.get(url)
        if refusal is not None:
            self._refuse(url, refusal, "")
            return True
        depth = item.depth + 1
        refusal = self._admit(url, depth, Reason.LINK, via=item.url, priority=found(depth, quality))
        if refusal is None:
            self._let_in.add(url)
        elif refusal.reason is not Reason.TOO_DEEP:  # too deep from here may be near enough from elsewhere
            self._refused[url] = refusal
        return refusal is not None

    def _forget_verdicts(self) -> None:
        self._let_in.clear()
        self._refused.clear()

    def follow_redirect(self, item: QueuedUrl, target: str) -> None:
        """Admit the address that stands for another."""
        if self._is_too_far(item, target):
            return
        if item.reason is Reason.SEED:
            # Somebody who asks for example.org means the site, even if it lives at www.example.org.
            self._admission.scope.add_seed_host(host_of(target))
            self._log.batch.seeds.append(target)
            self._forget_verdicts()
        reason = item.reason if item.reason in _KEPT_BY_REDIRECTS else Reason.REDIRECT_TARGET
        self._admit(target, item.depth, reason, via=item.url, redirects=item.redirects + 1)

    def follow_list(self, item: QueuedUrl, sitemap: Sitemap, now: float) -> Iterator[None]:
        """Admit the pages and sitemaps that a sitemap lists; stops now and then, because others wait meanwhile."""
        for number, (url, priority, lastmod) in enumerate(pages_of(sitemap, item, now), 1):
            if number % _LISTED_AT_ONCE == 0:
                yield
            news = self.news
            self._admit(url, item.depth, Reason.LISTED, item.url, priority=priority)
            if lastmod is not None and self.news == news:
                self._log.batch.notices.append(self._schedule.notice(url, lastmod))
        for entry in sitemap.sitemaps:
            if not self._is_too_far(item, entry.loc):
                self._admit(entry.loc, item.depth, Reason.SITEMAP, item.url, item.redirects + 1)

    # -- the gate -----------------------------------------------------------------------------------------------

    def _begin_at(self, url: str, reason: Reason) -> Decision | None:
        """Admit an address that somebody names: its host belongs to the scope, and every worker knows that."""
        self._admission.scope.add_seed_host(host_of(url))
        if not self.owns(url):
            return None
        self._log.batch.seeds.append(url)
        return self._admit(url, 0, reason, via="")

    def _is_too_far(self, item: QueuedUrl, target: str) -> bool:
        """Whether a redirect, or a sitemap in a sitemap, is one too many on the way here; it is refused then."""
        if item.redirects < self._hops:
            return False
        detail = f"more than fetch.redirects = {self._hops} in a row"
        self._refuse(target, Decision(Verdict.REFUSED, Reason.TOO_MANY_REDIRECTS, detail), item.url)
        return True

    def _admit(
        self, url: str, depth: int, reason: Reason, via: str, redirects: int = 0, priority: float | None = None
    ) -> Decision | None:
        if not self._territory.is_alone and self._is_foreign(host := host_of(url)):
            return self._forward(ForwardedUrl(share_of(host), url, depth, reason, via, redirects), host)
        outcome = self._admission.admit(
            url, depth=depth, reason=reason, via=via, redirects=redirects, priority=priority
        )
        if isinstance(outcome, QueuedUrl):
            self.news += 1
            if self._hold and via and reason in _FOUND:
                self._log.batch.admitted.append(outcome._replace(due=math.inf))
                return None
            self._log.batch.admitted.append(outcome)
            self._queues.add(outcome)
        elif outcome is not None:
            self._refuse(url, outcome, via)
            return outcome
        return None

    def _is_foreign(self, host: str) -> bool:
        """Whether another worker decides about a host; what no worker would let in can be refused by any."""
        return self._admission.scope.covers_host(host) and not self._territory.owns(host)

    def _forward(self, letter: ForwardedUrl, host: str) -> Decision | None:
        outcome = self._admission.forward(letter.url, host, letter.depth, letter.reason)
        if isinstance(outcome, Decision):
            self._refuse(letter.url, outcome, letter.via)
            return outcome
        if outcome:
            self.news += 1
            self._log.batch.forwarded.append(letter)
        return None

    def _refuse(self, url: str, decision: Decision, via: str) -> None:
        self._tally.refuse(decision.reason)
        host = host_of(url)
        self._log.batch.refused[host, decision.reason] += 1
        if via:
            self._log.batch.samples.append(Refusal(host, url, decision, via))


_FRUITLESS = 20  # times in a row that asking again may bring nothing new before it is given up


class EntryUrls:
    """Addresses that lead elsewhere each time they are asked, such as that of a random page.

    They are no pages: they stand in no queue on disk, may be asked any number of times, and are never indexed.
    """

    def __init__(self, urls: Iterable[str], paths: LinkIntake, queues: Queues) -> None:
        self._urls, self._paths, self._queues = list(urls), paths, queues
        self._news = -1  # what was news the last time
        self._fruitless = 0

    def enter_again(self) -> None:
        """Nothing is left to fetch: queue every entry once more, unless that has been of no use for long."""
        self._fruitless = self._fruitless + 1 if self._paths.news == self._news else 0
        self._news = self._paths.news
        if self._fruitless < _FRUITLESS:
            for url in filter(self._paths.owns, self._urls):
                self._queues.add(QueuedUrl(url, host_of(url), 0, plain(0), Reason.ENTRY))
